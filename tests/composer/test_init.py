"""`fvmkit init` on projects of other shapes than the example's, and its manners as a command."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from lxml import etree

from composer.chips.chip import load_chip
from composer.cli import fvmkit, run_command
from composer.description.model import Place
from composer.description.parse import parse
from composer.init.first import first_description
from composer.init.project import read_project
from tests.composer.init_projects import CUBE_MAIN, DEVICE, cube_project, low_layer_project, write

CHIP = "STM32F405RG"


@pytest.fixture(scope="module")
def chip_place() -> Place:
    return Place("test")


def described(folder: Path, *projects: Path) -> etree._Element:
    """The description of projects, as a tree."""
    first = first_description(projects, CHIP, None, folder / "system.xml")
    assert first.problem is None, first.problem
    return etree.fromstring(first.text.encode())


def attributes(tree: etree._Element, tag: str) -> list[dict[str, str]]:
    """Of every element of a name."""
    return [dict(element.attrib) for element in tree.iter(tag)]  # type: ignore[arg-type]


def test_a_cubemx_project(tmp_path: Path) -> None:
    tree = described(tmp_path, cube_project(tmp_path / "data logger"))
    (vm,) = attributes(tree, "vm")
    assert vm["name"] == "data-logger"
    assert (vm["fpu"], vm["tick"], vm["watchdog"]) == ("yes", "500Hz", "2s")
    assert vm["heap"] == "1536"  # _Min_Heap_Size, since malloc() is called
    assert vm["usr-stack"] == "3K"  # _Min_Stack_Size; PendSV_Handler is empty: no tasks
    assert attributes(tree, "project")[0]["path"] == "data logger"
    assert [e.text for e in tree.iter("source")] == [
        "Core/Src/main.c", "Core/Src/stm32f4xx_it.c"
    ]  # fmt: skip
    assert [e.text for e in tree.iter("startup")] == ["startup_stm32f405xx.s"]
    assert attributes(tree, "device") == [{"name": "USART1"}]  # USART2 is only compared
    assert attributes(tree, "clock") == [{"name": "USART1"}]
    assert attributes(tree, "irq") == [
        {"name": "USART1", "handler": "USART1_IRQHandler", "mask": "maskable"}
    ]
    (clocks,) = attributes(tree, "clocks")
    assert clocks == {
        "source": "HSE", "hse": "12MHz", "m": "6", "n": "168", "p": "2", "q": "7",
        "ahb": "1", "apb1": "4", "apb2": "2", "latency": "5",
    }  # fmt: skip
    pins = attributes(tree.find("vm"), "pin")
    assert pins == [
        {"port": "A", "pin": "5", "mode": "output", "runtime": "yes"},
        *(
            {"port": "A", "pin": n, "mode": "alternate", "af": "7", "pull": "up",
             "speed": "very-high"}
            for n in ("9", "10")
        ),
    ]  # fmt: skip


def test_a_low_layer_project_with_compile_commands(tmp_path: Path) -> None:
    tree = described(tmp_path, low_layer_project(tmp_path / "ll"))
    assert attributes(tree, "irq") == [
        {"name": "TIM2", "handler": "TIM2_IRQHandler", "mask": "transparent"},
        {"name": "USART1", "handler": "USART1_IRQHandler", "mask": "maskable"},
    ]
    assert {d["name"] for d in attributes(tree, "device")} == {"TIM2", "USART1"}
    assert {c["name"] for c in attributes(tree, "clock")} == {"TIM2", "USART1"}
    assert attributes(tree.find("vm"), "pin") == [
        {"port": "B", "pin": "6", "mode": "alternate", "af": "7"}
    ]
    assert attributes(tree, "clocks") == [  # as after a reset: no PLL is made up
        {"source": "HSI", "ahb": "1", "apb1": "1", "apb2": "1", "latency": "0"}
    ]
    assert tree.find(".//tick") is None  # only a weak default
    assert attributes(tree, "project")[0]["standard"] == "gnu99"
    assert [e.text for e in tree.iter("source")] == ["src/main.c"]
    assert [e.text for e in tree.iter("startup")] == ["src/vectors.c"]


def test_a_project_of_stm32cubeide_after_its_first_build(tmp_path: Path) -> None:
    project = cube_project(tmp_path / "ide")
    (project / "Makefile").unlink()
    rule = "main.o: ../Core/Src/main.c\n\tarm-none-eabi-gcc -c $< -mcpu=cortex-m4 -mthumb"
    write(project, {"Debug/makefile": f"all: main.o\n{rule} -fshort-enums -I../Core/Inc -o $@\n"})
    tree = described(tmp_path, project)
    assert [e.text for e in tree.iter("source")] == ["Core/Src/main.c"]
    assert attributes(tree, "project")[0]["cflags"] == "-O0 -fshort-enums"


def test_sources_beside_the_project(tmp_path: Path) -> None:
    project = low_layer_project(tmp_path / "repository" / "app")
    (project / "src").rename(project.parent / "src")
    commands = project / "build/compile_commands.json"
    commands.write_text(commands.read_text().replace("../src", "../../src"))
    tree = described(tmp_path, project)
    assert attributes(tree, "project")[0]["path"] == "repository"
    assert [e.text for e in tree.iter("source")] == ["src/main.c"]


def test_places_are_the_lines_that_chose(tmp_path: Path, chip_place: Place) -> None:
    facts = read_project(cube_project(tmp_path / "p"), load_chip(CHIP, chip_place))

    def line(text: str) -> str:
        before = CUBE_MAIN[: CUBE_MAIN.index(text)]
        return f"Core/Src/main.c:{before.count(chr(10)) + 1}"

    pins = {pin.name: pin.places for pin in facts.pins}
    assert pins["PA9"] == (line("HAL_GPIO_Init(GPIOA, &init);\n        NVIC"),)
    assert pins["PA5"] == (line("HAL_GPIO_Init(GPIOA, &init);\n}\n\nint main"),)
    assert facts.lines[0].places == (line("NVIC_EnableIRQ(USART1_IRQn)"),)
    assert facts.watchdog_places == (line("HAL_IWDG_Init(&hiwdg)"),)
    assert facts.tick_places == (line("SysTick->LOAD"),)


def test_the_projects_optimisation_and_meaning_are_kept(tmp_path: Path) -> None:
    project = cube_project(tmp_path / "p")
    makefile = project / "Makefile"
    options = "-O0 -fwrapv -fno-common -funsigned-char"
    makefile.write_text(makefile.read_text().replace("-Og", options))
    tree = described(tmp_path, project)
    assert attributes(tree, "project")[0]["cflags"] == options
    text = makefile.read_text() + "$(BUILD_DIR)/main.o: CFLAGS += -O3\n"
    makefile.write_text(text)
    text = first_description([project], CHIP, None, tmp_path / "system.xml").text
    assert "1 files are compiled with -O3, the others with -O0" in " ".join(text.split())


@pytest.mark.parametrize(
    "start",
    [
        "SysTick->CTRL = 3;",
        "SysTick->CTRL |= 3;",
        "SysTick->CTRL = 7; SysTick->CTRL &= ~4UL;",
        "SysTick->CTRL = 3; SysTick->CTRL = 0;",
    ],
)
def test_a_tick_without_clksource_counts_an_eighth(
    tmp_path: Path, chip_place: Place, start: str
) -> None:
    slow = CUBE_MAIN.replace("SystemCoreClock / 500U", "SystemCoreClock / 8U / 500U")
    main = slow.replace("SysTick->CTRL = 7;", start)
    facts = read_project(cube_project(tmp_path / "p", main), load_chip(CHIP, chip_place))
    assert facts.tick_hz == 500


def test_the_kernels_tick_is_a_multiple_that_a_slice_has_room_for(tmp_path: Path) -> None:
    main = CUBE_MAIN.replace("SystemCoreClock / 500U", "SystemCoreClock / 64U")
    tree = described(tmp_path, cube_project(tmp_path / "p", main))
    (kernel,) = attributes(tree, "kernel")
    assert int(kernel["tick"].removesuffix("Hz")) in (1024, 8000)


def test_a_crystal_that_the_pll_cannot_have_is_not_taken(tmp_path: Path) -> None:
    """The header's default of 25 MHz, where the factors are for another one."""
    main = CUBE_MAIN.replace("12000000U", "25000000U")
    project = cube_project(tmp_path / "p", main)
    first = first_description([project], CHIP, None, tmp_path / "system.xml")
    assert "HSE_VALUE says 25000000 Hz, and the PLL" in " ".join(first.text.split())
    assert attributes(described(tmp_path, project), "clocks")[0]["hse"] == "8MHz"


def test_the_built_elf_gives_the_sizes(tmp_path: Path, chip_place: Place) -> None:
    project = cube_project(tmp_path / "p")
    subprocess.run(["make", "-C", str(project)], check=True, capture_output=True)
    facts = read_project(project, load_chip(CHIP, chip_place))
    assert facts.memory.elf == "build/logger.elf"
    assert facts.memory.allocates
    (vm,) = attributes(described(tmp_path, project), "vm")
    flash, ram = facts.memory.flash, facts.memory.ram
    assert flash is not None and ram is not None
    assert flash < int(vm["flash"].removesuffix("K")) * 1024 < 3 * flash + 8192
    assert ram + 1536 + 3072 < int(vm["ram"].removesuffix("K")) * 1024 < 16384


def test_the_vector_table_of_the_elf_counts_where_no_source_has_one(tmp_path: Path) -> None:
    project = cube_project(tmp_path / "p")
    subprocess.run(["make", "-C", str(project)], check=True, capture_output=True)
    makefile = (project / "Makefile").read_text()  # the start-up comes from elsewhere
    (project / "Makefile").write_text(makefile.replace("ASM_SOURCES =", "ELSEWHERE ="))
    tree = described(tmp_path, project)
    assert [i["handler"] for i in attributes(tree, "irq")] == ["USART1_IRQHandler"]
    assert [t["handler"] for t in attributes(tree, "tick")] == ["SysTick_Handler"]
    assert attributes(tree, "startup") == []


def test_lines_have_their_handlers_by_name_where_no_table_is_found(tmp_path: Path) -> None:
    project = cube_project(tmp_path / "p")
    (project / "startup_stm32f405xx.s").write_text("    .syntax unified\n")
    tree = described(tmp_path, project)
    assert attributes(tree, "irq") == [
        {"name": "USART1", "handler": "USART1_IRQHandler", "mask": "maskable"}
    ]


def test_what_a_library_without_sources_sets_up_is_asked(tmp_path: Path) -> None:
    library = "void gpio_setup(unsigned port, unsigned pins);\nint main(void) {\n"
    main = CUBE_MAIN.replace("int main(void) {\n", f"{library}    gpio_setup(0x40020400, 3);\n")
    first = first_description(
        [cube_project(tmp_path / "p", main)], CHIP, None, tmp_path / "system.xml"
    )
    assert "what gpio_setup set up isn't known" in " ".join(first.text.split())


def test_what_the_old_chip_had_and_this_one_has_not_is_asked(tmp_path: Path) -> None:
    """PD8, UART7 and its line, as on an STM32F429 in a larger package."""
    extra = """
    GPIO_InitTypeDef far = { 1U << 8, 2U, 0U, 2U, 7U };
    HAL_GPIO_Init((GPIO_TypeDef *) (PERIPH + 0x20C00UL), &far);
    GPIO_InitTypeDef none = { 1U << 13, 2U, 0U, 2U, 5U };
    HAL_GPIO_Init((GPIO_TypeDef *) (PERIPH + 0x20800UL), &none);
    ((USART_TypeDef *) (PERIPH + 0x7800UL))->CR1 = 0x200C;
    NVIC_EnableIRQ((IRQn_Type) 82);
"""
    main = CUBE_MAIN.replace("    MX_GPIO_Init();\n", f"    MX_GPIO_Init();{extra}")
    assert main != CUBE_MAIN
    line = main[: main.index("PERIPH + 0x7800UL")].count("\n") + 1
    first = first_description(
        [cube_project(tmp_path / "p", main)], CHIP, None, tmp_path / "system.xml"
    )
    texts = [str(decision) for _, decision in first.draft.all_decisions()]
    assert any(text.startswith(f"PD8: {CHIP} has no such pin") for text in texts), texts
    (block,) = [text for text in texts if f"no block of {CHIP} is known at 0x40007800" in text]
    assert f"main.c:{line})" in block
    assert any("line 82 is enabled, which the chip doesn't have" in text for text in texts), texts
    assert any(text.startswith(f"PC13: {CHIP} has no alternate function 5") for text in texts), (
        texts
    )
    assert 'port="D"' not in first.text and 'port="C" pin="13"' not in first.text


def test_conflicts_are_named_with_both_places(tmp_path: Path) -> None:
    other = CUBE_MAIN.replace("osc.PLLN = 168", "osc.PLLN = 336").replace("PLLM = 6", "PLLM = 12")
    projects = [cube_project(tmp_path / "one"), cube_project(tmp_path / "two", other)]
    first = first_description(projects, CHIP, None, tmp_path / "system.xml")
    assert first.problem is None
    tree = etree.fromstring(first.text.encode())
    owners = {vm.get("name"): [d.get("name") for d in vm.iter("device")] for vm in tree.iter("vm")}
    assert owners == {"one": ["USART1"], "two": []}
    texts = [str(decision) for _, decision in first.draft.all_decisions()]
    for wanted in (
        "USART1 is used here",
        "pin PA5 is used here",
        "two sets up HSE 12 MHz m=12 n=336",
    ):
        (text,) = [text for text in texts if wanted in text]
        assert text.count("Core/Src/main.c:") >= 2, text
    assert first.text.count("DECIDE") >= len(texts)


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"MDK/p.uvprojx": "<Project/>"}, "a Keil project"),
        ({"p.ewp": "<project/>"}, "an IAR project"),
        ({"platformio.ini": "[env]"}, "pio run -t compiledb"),
        ({"CMakeLists.txt": "project(p)"}, "CMAKE_EXPORT_COMPILE_COMMANDS"),
        ({"main.c": '#include "nowhere.h"\nint main(void) { return 0; }\n'}, "nowhere.h"),
        ({}, "without C sources"),
    ],
)
def test_a_project_that_cant_be_read_gets_an_answer(
    tmp_path: Path, files: dict[str, str], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = write(tmp_path / "p", files)
    folder.mkdir(exist_ok=True)
    assert run_command(lambda: _call("init", str(folder), "--chip", CHIP, "-o", "-")) == 1
    assert words in capfd.readouterr().err


def test_a_project_without_build_files_is_guessed_and_said_so(tmp_path: Path) -> None:
    main = '#include "device.h"\nint main(void) { USART1->CR1 = 1; RCC->APB2ENR |= 16; }\n'
    files = {"MDK/p.uvprojx": "<Project/>", "inc/device.h": DEVICE, "src/main.c": main}
    first = first_description([write(tmp_path / "p", files)], CHIP, None, tmp_path / "system.xml")
    assert first.problem is None
    assert '<device name="USART1"/>' in first.text
    assert "DECIDE: a Keil project, which tells too little" in first.text


def test_a_file_that_exists_is_kept(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    project = str(cube_project(tmp_path / "p"))
    file = tmp_path / "new" / "system.xml"
    words = ("init", project, "--chip", "stm32f405", "-o", str(file))
    assert run_command(lambda: _call(*words)) == 0
    assert parse(file).chip == CHIP
    file.write_text("mine")
    assert run_command(lambda: _call(*words)) == 1
    assert "--force" in capfd.readouterr().err
    assert file.read_text() == "mine"
    assert run_command(lambda: _call(*words, "--force", "--json")) == 0
    data = json.loads(capfd.readouterr().out)
    assert data["machines"][0]["pins"][0]["places"]
    assert parse(file).vms[0].name == "p"


def test_an_unknown_chip_lists_the_known(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = run_command(lambda: _call("init", str(tmp_path), "--chip", "STM32H7", "-o", "-"))
    assert code == 2
    said = capfd.readouterr().err
    assert "unknown chip 'STM32H7'; known: " in said and CHIP in said


def test_a_chip_whose_set_up_code_nobody_reads_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = run_command(lambda: _call("init", str(tmp_path), "--chip", "MPS2-AN385", "-o", "-"))
    assert code == 2
    assert "stm32f4 chips only, MPS2-AN385 is mps2" in capfd.readouterr().err


def test_a_missing_project_is_a_wrong_command_line(tmp_path: Path) -> None:
    assert run_command(lambda: _call("init", str(tmp_path / "no"), "--chip", CHIP, "-o", "-")) == 2


@pytest.mark.parametrize("kind", ["a folder", "no regular file"])
def test_nothing_but_a_file_is_written_over(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], kind: str
) -> None:
    project, target = cube_project(tmp_path / "p"), tmp_path / "there"
    if kind == "a folder":
        target.mkdir()
    else:
        os.mkfifo(target)
    before = target.stat()
    words = ["init", str(project), "--chip", CHIP, "-o", str(target), "--force"]
    assert run_command(lambda: _call(*words)) == 2
    assert f"there: is {kind}; choose another -o" in capfd.readouterr().err
    assert (target.stat().st_ino, target.stat().st_mode) == (before.st_ino, before.st_mode)


def test_help_says_what_it_runs() -> None:
    assert "make --dry-run" in CliRunner().invoke(fvmkit, ["init", "--help"]).output


def _call(*words: str) -> object:
    return fvmkit.main(list(words), standalone_mode=False)


def test_files_of_cplusplus_are_named_with_their_options(tmp_path: Path) -> None:
    compile_one = "\tarm-none-eabi-{} -mcpu=cortex-m4 -mthumb -c {}\n"
    c = compile_one.format("gcc -std=gnu99", "main.c")
    cplusplus = compile_one.format("g++ -std=c++14 -fno-exceptions -fno-rtti", "led.cpp")
    files = {"Makefile": f"all:\n{cplusplus}{c}", "main.c": "int main(void) { for (;;); }\n"}
    files["led.cpp"] = "struct Led { Led(); };\nstatic Led led;\n"
    first = first_description([write(tmp_path / "led", files)], CHIP, None, tmp_path / "system.xml")
    tree = etree.fromstring(first.text.encode())
    assert sorted(str(e.text) for e in tree.iter("source")) == ["led.cpp", "main.c"]
    (project,) = attributes(tree, "project")
    assert (project["standard"], project["cxx-standard"]) == ("gnu99", "c++14")
    assert project["cxxflags"] == "-O0 -fno-exceptions -fno-rtti"
    assert "1 files are C++, which init doesn't follow" in first.text.replace("\n       ", "")


@pytest.mark.parametrize(("language", "told"), [("-x assembler-with-cpp ", "yes"), ("", None)])
def test_assembler_that_a_build_preprocesses_is_preprocessed(
    tmp_path: Path, language: str, told: str | None
) -> None:
    compile_one = "\tarm-none-eabi-gcc {}-mcpu=cortex-m4 -mthumb -c {}\n"
    made = compile_one.format("", "main.c") + compile_one.format(language, "lock.s")
    files = {"Makefile": f"all:\n{made}", "main.c": "int main(void) { for (;;); }\n"}
    files["lock.s"] = ".global lock\nlock: bx lr\n"
    first = first_description([write(tmp_path / "p", files)], CHIP, None, tmp_path / "system.xml")
    (project,) = attributes(etree.fromstring(first.text.encode()), "project")
    assert project.get("preprocess") == told


SCRIPT = """MEMORY {{
FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 64K
RAM (xrw) : ORIGIN = 0x20000000, LENGTH = {}
}}
SECTIONS {{ .text : {{ *(.isr_vector) *(.text*) *(.rodata*) }} > FLASH }}
"""
TABLE = """
int main(void) {{ for (;;) {{ }} }}
void Reset_Handler(void) {{ main(); }}
void Default_Handler(void) {{ {} }}
__attribute__((section(".isr_vector"))) void (*const vectors[])(void) = {{
    (void (*)(void)) 0x20005000, Reset_Handler, Default_Handler, Default_Handler, 0, 0, 0, 0, 0, 0,
    0, Default_Handler, 0, 0, Default_Handler, Default_Handler,
}};
"""


def one_of_several(folder: Path, body: str = "for (;;) { }") -> Path:
    """A makefile that builds one of two programs."""
    compiler = "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb"
    makefile = (
        f"all: b/main.elf\nb/main.elf: b/main.o\n\t{compiler} $^ -Tb/linker.ld -o $@\n"
        f"b/main.o: b/main.c\n\t{compiler} -c $< -o $@\n"
    )
    return write(folder, {
        "Makefile": makefile, "a/main.c": TABLE.format(body), "b/main.c": TABLE.format(body),
        "a/linker.ld": SCRIPT.format("64K"), "b/linker.ld": SCRIPT.format("16K"),
    })  # fmt: skip


def link(source: Path, *words: str) -> None:
    subprocess.run(
        ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-Wl,-emain", *words,
         source, "-o", source.with_suffix(".elf")],
        check=True,
    )  # fmt: skip


def test_what_make_links_says_which_script_and_which_program(
    tmp_path: Path, chip_place: Place
) -> None:
    project, chip = one_of_several(tmp_path / "p"), load_chip(CHIP, chip_place)
    for other in ("a", "c"):
        write(project, {f"{other}/main.c": TABLE.format("")})
        link(project / other / "main.c")
    facts = read_project(project, chip)
    assert [region.length for region in facts.memory.regions if region.name == "RAM"] == [16 << 10]
    assert not [d for d in facts.decisions if "linker script" in d.text]
    assert facts.memory.elf is None, "neither of the others is this program"
    link(project / "b/main.c", f"-T{project / 'b/linker.ld'}")
    assert read_project(project, chip).memory.elf == "b/main.elf"


@pytest.mark.parametrize(("body", "told"), [("for (;;) { }", 0), ("main();", 1)])
def test_a_default_handler_is_no_switch_and_no_tick(
    tmp_path: Path, chip_place: Place, body: str, told: int
) -> None:
    facts = read_project(one_of_several(tmp_path / "p", body), load_chip(CHIP, chip_place))
    assert (facts.switch, facts.tick, facts.svc) == (None, None, None)
    assert len([d for d in facts.decisions if "taken for the default handler" in d.text]) == told


def test_why_make_says_too_little_is_told(tmp_path: Path, chip_place: Place) -> None:
    make = "all: main.o lost.a\nmain.o: main.c\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -c $< -o $@\n"
    write(tmp_path, {"main.c": "int main(void) { for (;;) { } }\n", "Makefile": make})
    facts = read_project(tmp_path, load_chip(CHIP, chip_place))
    (told,) = (it.text for it in facts.decisions if "make stopped" in it.text)
    assert "(No rule to make target 'lost.a', needed by 'all')" in told


def begins_in(project: Path, text: str) -> None:
    """The start-up file's last call is entry(), which the project has."""
    start = project / "startup_stm32f405xx.s"
    old = start.read_text()
    assert "bl main" in old
    start.write_text(old.replace("bl main", "bl entry"))
    main = project / "Core/Src/main.c"
    main.write_text(f"{main.read_text()}\n{text}\n")


def test_a_program_that_begins_elsewhere(tmp_path: Path) -> None:
    project = cube_project(tmp_path / "logger")
    begins_in(project, "void spawn(int (*)(void)); void entry(void) { spawn(main); for (;;) { } }")
    (found,) = attributes(described(tmp_path, project), "project")
    assert found["entry"] == "entry"


def test_one_whose_first_function_calls_main_begins_in_main(tmp_path: Path) -> None:
    project = cube_project(tmp_path / "logger")
    begins_in(project, "static void go(void) { main(); } void entry(void) { go(); }")
    (found,) = attributes(described(tmp_path, project), "project")
    assert "entry" not in found
