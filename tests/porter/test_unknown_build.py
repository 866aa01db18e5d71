"""A makefile that fails says nothing about the files that it didn't reach; without one,
somebody has to say for which core a context switch is compiled."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from porter.project.build import read_build

SOURCE = 'void cpu_wait(void) { __asm volatile("cpsid i"); }\n'


def sites(project: Path, *options: str) -> list[dict[str, str]]:
    command = [sys.executable, "-m", "composer.cli", "port", str(project), "--json", *options]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    found: list[dict[str, str]] = json.loads(answer.stdout)["sites"]
    return found


def project_with(folder: Path, rule: str) -> Path:
    for name in ("reached.c", "missed.c"):
        (folder / name).write_text(SOURCE)
    (folder / "Makefile").write_text(
        f"all: reached.o {rule}\n%.o: %.c\n\tarm-none-eabi-gcc -mthumb -c $< -o $@\n"
    )
    return folder


def status(project: Path, *options: str) -> dict[str, str]:
    return {site["file"]: site["status"] for site in sites(project, *options)}


def test_every_file_is_looked_at_when_make_fails(tmp_path: Path) -> None:
    project = project_with(tmp_path, "lost/lib.a")
    assert status(project) == {"reached.c": "rewritten", "missed.c": "rewritten"}


def test_why_make_stops_is_told(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "composer.cli", "port"]
    for rule, is_told in (("lost/lib.a", True), ("", False)):
        folder = tmp_path / (rule.partition("/")[0] or "whole")
        folder.mkdir()
        project = str(project_with(folder, rule))
        told = subprocess.run([*command, project], capture_output=True, text=True, check=False)
        assert ("stops: No rule to make target 'lost/lib.a'" in told.stderr) == is_told
        assert ("none was left for that" in told.stderr) == is_told


def test_a_makefile_that_says_nothing_is_told(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(SOURCE)
    (tmp_path / "Makefile").write_text("include lost.mk\nall: main.o\n")
    command = [sys.executable, "-m", "composer.cli", "port", str(tmp_path), "--cpu", "-mthumb"]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert "stops: No rule to make target 'lost.mk'\n" in told


def test_a_file_that_make_leaves_out_is_not_looked_at(tmp_path: Path) -> None:
    assert status(project_with(tmp_path, "")) == {"reached.c": "rewritten"}


def test_what_the_description_builds_is_ported_whatever_make_builds(tmp_path: Path) -> None:
    project = tmp_path / "legacy"
    project.mkdir()
    domain = tmp_path / "d.domain.json"
    record = {"schema": 1, "name": "d", "chip": "STM32F405RG", "clock_hz": 168_000_000}
    record |= {"kernel_tick_hz": 1000, "fpu": False, "vectors": [], "sources": ["missed.c"]}
    domain.write_text(json.dumps(record))
    found = status(project_with(project, ""), "--domain", str(domain))
    assert found == {"reached.c": "rewritten", "missed.c": "rewritten"}


FPU_SWITCH = """\
void *task, *next;
void PendSV_Handler(void) __attribute__((naked));
void PendSV_Handler(void)
{
    __asm volatile("mrs r0, psp\\n tst lr, #0x10\\n it eq\\n vstmdbeq r0!, {s16-s31}\\n"
                   "stmdb r0!, {r4-r11, lr}\\n ldr r1, =task\\n ldr r1, [r1]\\n str r0, [r1]\\n"
                   "ldr r1, =next\\n ldr r1, [r1]\\n ldr r0, [r1]\\n ldmia r0!, {r4-r11, lr}\\n"
                   "tst lr, #0x10\\n it eq\\n vldmiaeq r0!, {s16-s31}\\n msr psp, r0\\n bx lr");
}
"""
M4F = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")


def port(project: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "composer.cli", "port", str(project), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_guessed_core_is_said_and_can_be_refused(tmp_path: Path) -> None:
    (tmp_path / "switch.c").write_text(FPU_SWITCH)
    guessed = port(tmp_path)
    assert "taken for those of '-mcpu=cortex-m4 -mthumb', a guess" in guessed.stderr
    assert "selected FPU does not support" in guessed.stderr, "the guess has none"
    refused = port(tmp_path, "--no-guess")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "say it by --cpu or --domain" in refused.stderr


@pytest.mark.parametrize("by", ["--cpu", "--domain"])
def test_who_names_the_core_is_believed(tmp_path: Path, by: str) -> None:
    project = tmp_path / "legacy"
    project.mkdir()
    (project / "switch.c").write_text(FPU_SWITCH)
    domain = tmp_path / "d.domain.json"
    record = {"schema": 1, "name": "d", "chip": "STM32F405RG", "clock_hz": 168_000_000}
    record |= {"kernel_tick_hz": 1000, "fpu": True, "vectors": [], "cpu_flags": list(M4F)}
    domain.write_text(json.dumps(record))
    said = port(project, "--no-guess", by, " ".join(M4F) if by == "--cpu" else str(domain))
    assert said.returncode == 0, said.stderr
    assert "USR_VSTMDB(" in said.stdout


def test_only_options_that_select_a_core_are_passed_on(tmp_path: Path) -> None:
    assert "--cpu: '-fplugin=x.so'" in port(tmp_path, "--cpu", "-fplugin=x.so").stderr


def test_the_machine_is_guessed_by_its_instructions(tmp_path: Path) -> None:
    """A Cortex-M4's compiler would not even read them."""
    (tmp_path / "mask.S").write_text(
        ".text\n.global mask\n.type mask, @function\nmask:\n    csrci mstatus, 8\n    ret\n"
    )
    (tmp_path / "mask.h").write_text("void mask(void);\n")
    guessed = port(tmp_path)
    assert "taken for those of '-march=rv32imac_zicsr -mabi=ilp32" in guessed.stderr
    assert "virt_int_mask(VIRT_PRIMASK);" in guessed.stdout


TABLE = """\
extern unsigned stack;
void Reset_Handler(void), SysTick_Handler(void), spare(void);
void SysTick_Handler(void) {}
void (*const vectors[])(void) = {
    (void (*)(void))&stack, Reset_Handler, spare, spare,
#if defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__)
    spare, spare, spare,
#else
    0, 0, 0,
#endif
    0, 0, 0, 0, spare,
#if defined(__ARM_ARCH_7M__)
    spare,
#else
    0,
#endif
    0, spare, SysTick_Handler,
};
"""


def test_of_alternatives_in_a_vector_table_one_counts(tmp_path: Path) -> None:
    project = tmp_path / "legacy"
    project.mkdir()
    (project / "vectors.c").write_text(TABLE)
    domain = tmp_path / "d.domain.json"
    record = {"schema": 1, "name": "d", "chip": "STM32F405RG", "clock_hz": 168_000_000}
    record |= {"kernel_tick_hz": 1000, "fpu": False, "vectors": [], "sources": ["vectors.c"]}
    domain.write_text(json.dumps(record))
    told = [site["what"] for site in sites(project, "--domain", str(domain))]
    assert told == ["SysTick_Handler (exception 15)"]


def test_names_that_both_machines_have_tell_nothing_of_the_core(tmp_path: Path) -> None:
    """A CH32V speaks of NVIC, SysTick and __disable_irq() as a Cortex-M does."""
    (tmp_path / "irq.c").write_text(
        "void off(void) { NVIC_DisableIRQ(3); __disable_irq(); SysTick->CTLR = 0; }\n"
    )
    (tmp_path / "sleep.c").write_text("void deep(void) { PFIC->SCTLR |= 4; NVIC_EnableIRQ(3); }\n")
    guessed = port(tmp_path)
    assert "taken for those of '-march=rv32imac_zicsr -mabi=ilp32" in guessed.stderr
    assert port(tmp_path, "--no-guess").returncode == 2


@pytest.mark.parametrize(
    ("text", "options", "machine"),
    [
        ("void deep(void) { PFIC->SCTLR |= 4; }\n", (), "-march=rv32imac_zicsr"),
        ("void deep(void) { SCB->SCR |= 4; }\n", (), None),
        ("void deep(void) { PFIC->SCTLR |= 4; }\n", ("--cpu", "-mcpu=cortex-m3"), None),
    ],
)
def test_a_build_that_names_no_core_leaves_it_to_the_code(
    tmp_path: Path, text: str, options: tuple[str, ...], machine: str | None
) -> None:
    """As the project file of an IDE does for a chip that nobody here knows."""
    (tmp_path / "deep.c").write_text(text)
    entry = {"directory": str(tmp_path), "arguments": ["arm-none-eabi-gcc", "-c", "deep.c"]}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    told = port(tmp_path, *options).stderr
    assert (f"taken for those of '{machine}" in told) if machine else ("a guess" not in told)


def test_a_build_that_takes_none_of_it_is_told(tmp_path: Path) -> None:
    """Demos that a makefile of another name builds."""
    (tmp_path / "test.c").write_text("int test(void) { return 1; }\n")
    (tmp_path / "demo.c").write_text(SOURCE)
    (tmp_path / "demo.mak").write_text("all: demo.o\n")
    (tmp_path / "Makefile").write_text("all: test.o\ntest.o:\n\tarm-none-eabi-gcc -c test.c\n")
    command = [sys.executable, "-m", "composer.cli", "port", str(tmp_path)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 1
    assert "1 of 1 places are in files that the build which was read (make)" in answer.stderr
    assert "Makefile, demo.mak" in answer.stderr


MAKES = """\
VERSION := $(shell mkdir -p build && echo 1 > build/version && cat build/version)
include ../shared/flags.mk
-include config.mk
config.mk:
\techo "X = 1" > config.mk
all: main.o
main.o: main.c
\tarm-none-eabi-gcc -mthumb $(FLAGS) -DVERSION=$(VERSION) -I$(CURDIR)/include -c main.c -o main.o
"""


def test_what_a_dry_run_of_make_writes_is_not_the_projects(tmp_path: Path) -> None:
    """make remakes what it includes, and runs $(shell), whatever it is told."""
    files = {
        "shared/flags.mk": "FLAGS = -mcpu=cortex-m4 -I../shared\n",
        "shared/config.h": "#define MASK 1\n",
        "project/Makefile": MAKES,
        "project/include/own.h": "#define OWN 1\n",
        "project/main.c": '#include "config.h"\n#include "own.h"\n'
        "#if MASK && OWN && VERSION\n" + SOURCE + "#endif\n#if !MASK\nfail\n#endif\n",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    command = [sys.executable, "-m", "composer.cli", "port", str(tmp_path / "project")]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert "1 found, 1 rewritten" in answer.stderr
    left = {str(it.relative_to(tmp_path)) for it in tmp_path.rglob("*") if it.is_file()}
    assert left == set(files)


def test_the_one_program_of_a_makefile_is_built_where_its_first_target_is_none(
    tmp_path: Path,
) -> None:
    """Such as a folder for objects, named before the rest: people type `make kernel.elf`."""
    makefile = (
        "obj:\n\tmkdir obj\nkernel.elf: obj a.o\n\tarm-none-eabi-gcc a.o -o kernel.elf\n"
        "a.o: a.c\n\tarm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -DHERE -c a.c -o a.o\n"
    )
    (tmp_path / "Makefile").write_text(makefile)
    (tmp_path / "a.c").write_text(SOURCE)
    (tmp_path / "b.c").write_text(SOURCE)
    build = read_build(tmp_path, [])
    assert list(build.units) == [tmp_path / "a.c"] and build.options.defines == ("HERE",)
    two = makefile + "test.elf: b.o\nb.o: b.c\n\tarm-none-eabi-gcc -mthumb -c b.c -o b.o\n"
    (tmp_path / "Makefile").write_text(two)
    assert not read_build(tmp_path, []).units, "nobody says which"
