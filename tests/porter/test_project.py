"""What is known of a project before its code is judged: build, reachability, vector tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.output.port_report import assumptions
from porter.port import port_project
from porter.project.build import read_build
from porter.project.compiler_command import parse_command
from porter.project.domain import Vector
from porter.project.source_tree import find_sources
from porter.project.vectors import PENDSV, SVC, Vectors, tables_in_asm, tables_in_c
from porter.source.c_tree import SyntaxTree
from porter.source.c_types import TypeTable
from porter.source.evaluate import Evaluator
from porter.source.macros import MacroTable
from porter.source.source_file import SourceFile
from scanner.report.errors import MissingError
from tests.porter.helpers import DOMAIN, escalations, port_files

MAKEFILE = b"""\
CC = arm-none-eabi-gcc
all: main.o lib/util.o tool
\t@echo done
main.o lib/util.o: %.o: %.c
\t$(CC) -c -mcpu=cortex-m4 -DCHIP=405 -Iinc -isystem "my inc" \\
\t    $< -o $@
tool: tool.c
\tgcc -O2 tool.c -o tool
"""


def write(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_a_makefile_is_asked_and_host_tools_are_no_firmware(tmp_path: Path) -> None:
    root = write(
        tmp_path / "with space",
        {"Makefile": MAKEFILE, "main.c": b"", "lib/util.c": b"", "tool.c": b"", "other.c": b""},
    )
    build = read_build(root, find_sources(root))
    assert build.source == "make"
    assert sorted(path.name for path in build.units) == ["main.c", "util.c"]
    assert build.options.defines == ("CHIP=405",)
    assert build.options.include_dirs == (root / "inc", root / "my inc")
    assert build.options.cpu_flags == ("-mcpu=cortex-m4",)
    assert list(root.glob("**/*.o")) == []


def test_compile_commands_come_first(tmp_path: Path) -> None:
    root = write(tmp_path, {"Makefile": MAKEFILE, "src/a.c": b"", "main.c": b""})
    entry = {
        "directory": str(root / "src"),
        "command": "/opt/bin/arm-none-eabi-gcc -mthumb -D'NAME=\"a b\"' -I../inc -c a.c",
        "file": "a.c",
    }
    (root / "compile_commands.json").write_text(json.dumps([entry, "nonsense", {}]))
    build = read_build(root, find_sources(root))
    assert list(build.units) == [root / "src" / "a.c"]
    assert build.options.include_dirs == (root / "inc",)
    assert build.options.defines == ('NAME="a b"',)


def test_options_that_choose_headers_are_kept(tmp_path: Path) -> None:
    words = ["arm-none-eabi-gcc", "-ffreestanding", "-nostdinc", "-O2", "-c", "a.c"]
    (tmp_path / "a.c").touch()
    entry = {"directory": str(tmp_path), "arguments": words}
    (tmp_path / "compile_commands.json").write_text(json.dumps([entry]))
    build = read_build(tmp_path, [])
    assert build.options.cpu_flags == ("-ffreestanding", "-nostdinc")


@pytest.mark.parametrize("makefile", [b"all:\n\t@false\n", b"$(error no)\n", b"x: ; exit 1\n"])
def test_a_makefile_that_says_nothing_leaves_everything_in(tmp_path: Path, makefile: bytes) -> None:
    root = write(tmp_path, {"Makefile": makefile, "a.c": b"", "inc/a.h": b""})
    build = read_build(root, find_sources(root))
    assert not build.is_known
    assert build.options.include_dirs == (root / "inc",)


BUILT = b"main.o: main.c\n\tarm-none-eabi-gcc -mthumb %s -c main.c\n"
CALLS = b"int main(void) { __disable_irq(); }\n"
QUIET = b"static inline void quiet(void) { __disable_irq(); }\n"


def test_files_that_are_not_built_are_not_looked_at(tmp_path: Path) -> None:
    files = {
        "Makefile": BUILT % b"",
        "main.c": b'#include "quiet.h"\n' + CALLS,
        "inc/quiet.h": QUIET,
        "ports/avr.c": b"void f(void) { __disable_irq(); }\n",
        "ports/avr.h": QUIET,
    }
    result = port_files(tmp_path, files)
    assert {port.file.name for port in result.files} == {"main.c", "inc/quiet.h"}
    assert result.unread == ("ports/avr.c", "ports/avr.h")
    (said,) = (it for it in assumptions(result) if "weren't looked at" in it)
    assert said.startswith("2 of 4 source files") and said.endswith("in ports (2)")


@pytest.mark.parametrize(("flags", "is_open"), [(b"", False), (b"-DTIMERS", True)])
def test_a_file_of_which_nothing_is_compiled_asks_for_nothing(
    tmp_path: Path, flags: bytes, is_open: bool
) -> None:
    """As those of a HAL's modules that its configuration leaves out."""
    files = {
        "Makefile": BUILT % flags,
        "main.c": b"#include <stdint.h>\n#ifdef TIMERS\n"
        b"void f(uint32_t x) { start_timers(); __set_MSP(x); }\n#endif\n",
    }
    result = port_files(tmp_path, files)
    assert bool(escalations(result)) == is_open
    assert bool(result.unseen.calls) == is_open


def test_a_missing_header_doesnt_bring_in_those_of_other_chips(tmp_path: Path) -> None:
    """Beside it the compiler tells what a file includes; that something is missing is told."""
    chip = b'#ifdef ONE\n#include "one.h"\n#else\n#include "two.h"\n#endif\n'
    files = {
        "Makefile": BUILT % b"-DONE -Iinc",
        "main.c": b'#include "version.h"\n#include "chip.h"\n' + CALLS,
        "inc/chip.h": chip,
        "inc/one.h": QUIET,
        "inc/two.h": QUIET,
    }
    result = port_files(tmp_path, files)
    assert result.unread == ("inc/two.h",)
    assert [it.name for it in result.unseen.headers] == ["version.h"]


@pytest.mark.parametrize(
    ("flags", "first"),
    [
        (b"-DQUIET='\"quiet.h\"'", b"#include QUIET\n"),
        (b"-include ports/quiet.h", b""),
        (b"", b'#include "../ports/middle.h"\n'),
        (b"", b"#  include <quiet.h>\n"),
    ],
)
def test_whatever_a_built_file_may_include_is_looked_at(
    tmp_path: Path, flags: bytes, first: bytes
) -> None:
    files = {
        "Makefile": BUILT % flags,
        "main.c": first + CALLS,
        "ports/middle.h": b'#include "quiet.h"\n',
        "ports/quiet.h": QUIET,
        "ports/other.c": CALLS,
    }
    result = port_files(tmp_path, files)
    assert {port.file.name for port in result.files} == {"main.c", "ports/quiet.h"}
    assert "ports/other.c" in result.unread


def test_assembler_is_looked_at_where_the_build_names_none(tmp_path: Path) -> None:
    files = {"Makefile": BUILT % b"", "main.c": CALLS, "low.s": b"f:\n\tcpsid i\n\tbx lr\n"}
    assert {port.file.name for port in port_files(tmp_path, files).files} == {"main.c", "low.s"}


def test_a_build_in_which_nothing_is_found_may_be_another_programs(tmp_path: Path) -> None:
    files = {"Makefile": BUILT % b"", "main.c": b"int main(void) { }\n", "fw/main.c": CALLS}
    result = port_files(tmp_path, files)
    assert (result.unread, result.unbuilt, result.is_unseen) == ((), 1, True)
    files["fw/main.c"] = b""
    result = port_files(tmp_path / "q", files)
    assert not result.is_unseen


LIBRARY = b"""\
libx.a: buttons.o
\tarm-none-eabi-ar rcs $@ $<
%.o: %.c
\tarm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -c $< -o $@
"""


def test_where_make_makes_a_library_alone_programs_below_count(tmp_path: Path) -> None:
    quiet = b'void quiet(void) { __asm volatile("cpsid i"); }\n'
    files = {"Makefile": LIBRARY, "buttons.c": b"int pressed;\n", "firmware/main.c": quiet}
    assert port_files(tmp_path, files).files[0].verdicts[0].status is Status.LEFT
    copy = {"copy/.fvm-port.json": b"{}", "copy/sub/Makefile": LIBRARY}
    assert port_files(tmp_path / "p", {**files, **copy}).files[0].verdicts[0].status is Status.LEFT
    with_program = {**files, "firmware/Makefile": b"fw.elf: main.o ../libx.a\n"}
    (port,) = port_files(tmp_path / "q", with_program).files
    assert port.file.name == "firmware/main.c" and b"virt_int_mask" in port.ported


@pytest.mark.parametrize(
    "core", ["", "-march=rv32imac -mabi=ilp32", "-march=rv32ecxw -mabi=ilp32e"]
)
def test_a_vendors_compiler_for_riscv_makes_no_arm_of_a_project(tmp_path: Path, core: str) -> None:
    """A CH32V's PFIC is where an Arm has its SCB, and its bit 31 resets the chip."""
    call = f"main.o: main.c\n\triscv-none-embed-gcc {core} -c main.c\n"
    code = b"int main(void) { *(volatile unsigned *)0xE000ED10 |= 1u << 31; for (;;) { } }\n"
    result = port_files(tmp_path, {"Makefile": call.encode(), "main.c": code}, None)
    (verdict,) = (it for port in result.files for it in port.verdicts)
    assert verdict.status is Status.ESCALATED and "PFIC" in verdict.reason


def test_exceptions_of_a_riscv_core_are_no_lines(tmp_path: Path) -> None:
    """As WCH numbers them: SysTick is 12, the software interrupt 14, the first line 16."""
    call = b"main.o: main.c\n\triscv-none-embed-gcc -march=rv32imac -mabi=ilp32 -c main.c\n"
    code = (
        b"typedef enum { SysTicK_IRQn = 12, USART1_IRQn = 53 } IRQn_Type;\n"
        b"void NVIC_EnableIRQ(IRQn_Type n);\n"
        b"int main(void) { NVIC_EnableIRQ(SysTicK_IRQn); NVIC_EnableIRQ(USART1_IRQn); }\n"
    )
    result = port_files(tmp_path, {"Makefile": call, "main.c": code}, None)
    (reason,) = escalations(result)
    assert "exception 12 of the core" in reason
    assert b"hyp_irq_ena(USART1_IRQn);" in result.files[0].ported


def test_what_dependencies_name_first_is_not_all_that_make_makes(tmp_path: Path) -> None:
    """Eclipse includes them before its first target, and of one file they were committed."""
    makefile = b"-include a.d\nall: fw.elf\nfw.elf: a.o main.o\n\tarm-none-eabi-gcc -o $@ $^\n"
    rule = b"%.o: ../%.c\n\tarm-none-eabi-gcc -mthumb -c -o $@ $<\n"
    files = {"Debug/Makefile": makefile + rule, "Debug/a.d": b"a.o: ../a.c\n"}
    root = write(tmp_path, {**files, "a.c": b"", "main.c": b""})
    build = read_build(root, find_sources(root))
    assert sorted(path.name for path in build.units) == ["a.c", "main.c"]


@pytest.mark.parametrize("option", ["-I inc", "-iquote inc", "-isystem inc"])
def test_a_header_for_every_file_is_looked_for_where_headers_are(
    tmp_path: Path, option: str
) -> None:
    files = {
        "Makefile": f"main.o: main.c\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb {option} "
        "-include all.h -c -o $@ $<\n".encode(),
        "inc/all.h": b"static volatile unsigned *const aircr = (unsigned *)0xE000ED0C;\n",
        "main.c": b"int main(void) { *aircr = 0x05FA0004; for (;;) { } }\n",
    }
    result = port_files(tmp_path, files)
    assert b"hyp_reboot();" in next(it for it in result.files if it.file.name == "main.c").ported


def test_a_missing_project_is_a_missing_error(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="no such project folder"):
        find_sources(tmp_path / "nowhere")


# --- functions out of reach -------------------------------------------------------------------

UNUSED = b"void old_start(unsigned sp) { __set_MSP(sp); }\n"


def open_questions(tmp_path: Path, main: bytes, other: bytes = UNUSED) -> list[str]:
    return escalations(port_files(tmp_path, {"main.c": main, "other.c": other}))


def test_a_function_that_nothing_uses_is_left(tmp_path: Path) -> None:
    assert open_questions(tmp_path, b"void old_start(unsigned);\nint main(void) { }\n") == []


@pytest.mark.parametrize(
    "main",
    [
        b"int main(void) { old_start(0); }\n",
        b"static void f(void) { old_start(0); }\nint main(void) { f(); }\n",
        b"void (*const start)(unsigned) = old_start;\nint main(void) { }\n",
        b"#define GO(x) old_start(x)\nint main(void) { GO(0); }\n",
        b'int main(void) { asm volatile("bl old_start"); }\n',
        b"__attribute__((noinline)) void f(void) { old_start(0); }\nint main(void) { f(); }\n",
        b"void f(void) { }\n",  # a library: somebody else calls it
    ],
)
def test_a_function_that_something_leads_to_needs_a_person(tmp_path: Path, main: bytes) -> None:
    assert len(open_questions(tmp_path, main)) == 1


def test_declarations_in_extern_c_are_no_uses(tmp_path: Path) -> None:
    header = (
        b'#ifdef __cplusplus\nextern "C" {\n#endif\nvoid old_start(unsigned);\n'
        b"#ifdef __cplusplus\n}\n#endif\n"
    )
    files = {"main.c": b"int main(void) { }\n", "other.c": UNUSED, "other.h": header}
    assert escalations(port_files(tmp_path, files)) == []


def test_what_only_fault_handlers_do_is_left(tmp_path: Path) -> None:
    other = (
        b"#define CFSR (*(volatile unsigned *)0xE000ED28)\nvoid print(unsigned);\n"
        b"static void report(void) { print(CFSR); }\n"
        b"void HardFault_Handler(void) { report(); for (;;) { } }\n"
    )
    result = port_files(tmp_path, {"main.c": b"int main(void) { }\n", "other.c": other})
    assert escalations(result) == []
    (verdict,) = [v for p in result.files for v in p.verdicts]
    assert "only fault handlers get here" in verdict.reason


_WRAPPED = (
    b"#define CFSR (*(volatile unsigned *)0xE000ED28)\nvoid print(unsigned);\n"
    b"__attribute__((naked)) void HardFault_Handler(void)\n"
    b'{\n    asm volatile("ldr r2, =report\\n bx r2");\n}\n'
    b"__attribute__((weak, used)) void report(unsigned *frame) { print(CFSR); }\n"
)


def test_what_a_fault_handler_in_asm_goes_to_is_left(tmp_path: Path) -> None:
    """`used` says that the compiler doesn't see who goes there; the asm statement does."""
    files = {"main.c": b"int main(void) { }\n", "other.c": _WRAPPED}
    assert escalations(port_files(tmp_path, files)) == []


def test_what_only_is_said_to_be_used_is_somebodys(tmp_path: Path) -> None:
    files = {
        "main.c": b"int main(void) { }\n",
        "other.c": _WRAPPED.replace(b"=report", b"=0x08001001"),
    }
    (found,) = escalations(port_files(tmp_path, files))
    assert "CFSR" in found


# --- vector tables ----------------------------------------------------------------------------


def test_tables_of_every_dialect(tmp_path: Path) -> None:
    gnu = ".section .isr_vector\nv:\n" + "\n".join(
        [" .word _estack", " .word Reset_Handler", " .word NMI_Handler", *[" .word 0"] * 13,
         " .long WWDG_IRQHandler, PVD_IRQHandler"]
    ) + "\n .size v, .-v\n"  # fmt: skip
    armasm = "        AREA RESET, DATA, READONLY\n__Vectors\n" + "\n".join(
        ["        DCD __initial_sp", "        DCD Reset_Handler ; reset", "        DCD NMI_Handler",
         *["        DCD 0"] * 13, "        DCD WWDG_IRQHandler", "        DCD PVD_IRQHandler"]
    ) + "\n__Vectors_End\n"  # fmt: skip
    expected = {1: "Reset_Handler", 2: "NMI_Handler", 16: "WWDG_IRQHandler", 17: "PVD_IRQHandler"}
    for text in (gnu, armasm):
        file = SourceFile(tmp_path / "s.s", "s.s", text.encode())
        (table,) = tables_in_asm(file)
        assert {n: h for n, h in table.handlers.items() if h != "_estack"} == expected


def test_a_table_of_structs_is_no_vector_table(tmp_path: Path) -> None:
    rows = b"".join(b'{ %d, "t%d", run_reset_%d },\n' % (n, n, n) for n in range(40))
    text = b"const struct test all[] = {\n" + rows + b"};\n"
    assert not [*tables_in_c(SourceFile(tmp_path / "t.c", "t.c", text), SyntaxTree(text, 0))]


def test_a_table_in_c(tmp_path: Path) -> None:
    entries = ["(isr)&stack", "reset_isr", "nmi_isr", *["0"] * 13, "wwdg_isr", "/* x */ pvd_isr"]
    text = f"const isr vectors[] = {{ {', '.join(entries)} }};\n".encode()
    (table,) = tables_in_c(SourceFile(tmp_path / "v.c", "v.c", text), SyntaxTree(text, 0))
    assert table.handlers[16] == "wwdg_isr"
    assert table.handlers[17] == "pvd_isr"


def test_which_exceptions_functions_serve(tmp_path: Path) -> None:
    """By the table, where no condition may shift it, then by the name."""
    words = ["top", "Reset_Handler", *["0"] * 9, "call", "0", "0", "change", "tick"]
    text = "v:\n" + "".join(f" .word {word}\n" for word in words)
    (table,) = tables_in_asm(SourceFile(tmp_path / "s.s", "s.s", text.encode()))
    vectors = Vectors([table], [("SVC_Handler", PENDSV)])
    assert vectors.served_by(["call"]) == {SVC} and vectors.served_by(["change"]) == {PENDSV}
    assert vectors.served_by(["SVC_Handler"]) == {PENDSV}
    assert vectors.served_by(["vPortSVCHandler"]) == {SVC} and not vectors.served_by(["serve"])
    for cut in ("#if FAULTS\n .word 0\n#endif\n", " .space 8\n"):
        shifted = text.replace(" .word call", f"{cut} .word call").encode()
        (table,) = tables_in_asm(SourceFile(tmp_path / "s.s", "s.s", shifted))
        assert "change" in table.handlers.values()
        assert not Vectors([table]).served_by(["change"])


def test_a_table_in_c_with_numbers(tmp_path: Path) -> None:
    text = b"isr v[] = {top, [1] = Reset_Handler, [SVCall] = call, wait, [14] = change, tick};\n"
    file, tree = SourceFile(tmp_path / "v.c", "v.c", text), SyntaxTree(text, 0)
    (table,) = tables_in_c(file, tree, number=Evaluator(MacroTable(), TypeTable()).number)
    assert table.handlers[14] == "change" and table.handlers[15] == "tick"
    assert not Vectors([table]).served_by(["wait"])


# --- handlers that a macro names --------------------------------------------------------------

PASTED = (
    b"#define CAT(a, b) a##b\n#define ISR(v) void CAT(v, _IRQHandler)(void)\n"
    b"int main(void) { return 0; }\nISR(TIM2);\n"
)


def test_a_handler_whose_name_a_macro_pastes_is_found(tmp_path: Path) -> None:
    isr = b"ISR(TIM2) { *(volatile unsigned *)0xE000ED94 = 1; }\n"
    vector = Vector(4, "irq", "TIM2", "TIM2_IRQHandler", 28, True)
    domain = replace(DOMAIN, vectors=(*DOMAIN.vectors[:3], vector))
    # A declaration defines nothing; the defined one runs, so what it does needs a person.
    (missing,) = escalations(port_files(tmp_path / "a", {"main.c": PASTED}, domain))
    assert "no source that is built defines it" in missing
    (inside,) = escalations(port_files(tmp_path / "b", {"main.c": PASTED + isr}, domain))
    assert "MPU" in inside


ASSEMBLED = b"""\
AS = arm-none-eabi-as
CC = arm-none-eabi-gcc
CORE = -mcpu=cortex-m4 -mthumb
OBJECTS = start.o main.o
fw.elf: $(OBJECTS)
\t$(CC) -o $@ $^
%.o: %.s
\t$(AS) $(CORE) -mimplicit-it=thumb $< -o $@
%.o: %.c
\t$(CC) $(CORE) -DCHIP=405 -c $< -o $@
"""
START = b"""\
    .syntax unified
    .text
# if this is a directive, it has no end
    .global lock
    .type lock, %function
lock:
    cpsid f
    bx lr
"""


def test_an_assembler_program_compiles_nothing(tmp_path: Path) -> None:
    """A makefile may call one: what the porter compiles, the compiler beside it does."""
    files = {"Makefile": ASSEMBLED, "start.s": START, "main.c": b"void lock(void);\n"}
    root = write(tmp_path, files)
    build = read_build(root, find_sources(root))
    assert sorted(path.name for path in build.units) == ["main.c", "start.s"]
    assert build.options.compiler == "arm-none-eabi-gcc"
    assert build.options.cpu_flags == ("-mcpu=cortex-m4", "-mthumb")
    assert build.options.plain_asm
    (start,) = [it for it in port_project(root).files if it.file.is_asm]
    (reason,) = [verdict.reason for verdict in start.verdicts]
    assert "can't be compiled" not in reason


@pytest.mark.parametrize(
    ("command", "is_plain"),
    [
        ("arm-none-eabi-gcc -mcpu=cortex-m4 -c a.s", True),
        ("arm-none-eabi-gcc -x assembler-with-cpp -mcpu=cortex-m4 -c a.s", False),
        ("arm-none-eabi-gcc -mcpu=cortex-m4 -c a.S", None),
        ("arm-none-eabi-gcc -mcpu=cortex-m4 -c a.c", None),
        ("/opt/gnu/bin/arm-none-eabi-as -mcpu=cortex-m4 a.s -o a.o", True),
    ],
)
def test_what_gets_past_the_preprocessor(
    tmp_path: Path, command: str, is_plain: bool | None
) -> None:
    found = parse_command(command.split(), tmp_path)
    assert found is not None
    assert found.options.plain_asm is is_plain
    assert found.options.compiler.endswith("arm-none-eabi-gcc")


def test_a_function_that_serves_many_lines_is_told_once(tmp_path: Path) -> None:
    text = b"void one(void) {}\nvoid Reset_Handler(void) {}\nextern unsigned _estack;\n"
    text += b"void (*const vectors[])(void) = {(void (*)(void))&_estack, Reset_Handler, one, one,\n"
    text += b"one, one, one, 0, 0, 0, 0, one, one, 0, one, one, one, one, one, one};\n"
    result = port_files(tmp_path, {"start.c": text}, None)
    lines = [v for port in result.files for v in port.verdicts if v.site.what == "one"]
    assert len(lines) == 1 and lines[0].rule == "vectors"


@pytest.mark.parametrize(
    "compiler",
    ["/opt/gcc-arm-10/bin/arm-none-eabi-gcc", "C:/tools/bin/arm-none-eabi-gcc.exe",
     "../tools/arm-none-eabi-gcc"],
)  # fmt: skip
def test_a_compiler_of_another_machine_is_the_one_of_its_name(
    tmp_path: Path, compiler: str
) -> None:
    """Without one, nothing in an assembler file could be transcribed."""
    rule = f"{compiler} -mcpu=cortex-m0plus -mthumb -c $< -o $@\n"
    makefile = f"fw.elf: main.o sw.o\n%.o: %.c\n\t{rule}%.o: %.S\n\t{rule}"
    asm = b".syntax unified\n.thumb\n.thumb_func\n.global off\noff: cpsid i\n bx lr\n"
    files = {
        "Makefile": makefile.encode(),
        "main.c": b"void off(void);\nint main(void) { off(); }\n",
        "sw.S": asm,
    }
    result = port_files(tmp_path, files)
    assert escalations(result) == []
    (told,) = assumptions(result)
    assert told.endswith(f"{compiler} (arm-none-eabi-gcc)")


@pytest.mark.parametrize(
    ("core", "language", "known"),
    [("-march=rv32imac", "", "rv32imac_zicsr_zifencei"),
     ("-march=rv32ec", " -nostdlib", "rv32ec_zicsr_zifencei"),
     ("-march=rv32imac_zicsr", " -ffreestanding", "rv32imac_zicsr"),
     ("-mcpu=sifive-e31", "", "rv32imac_zicsr_zifencei")],
)  # fmt: skip
def test_a_makefile_for_riscv_may_be_older_than_the_compiler(
    tmp_path: Path, core: str, language: str, known: str
) -> None:
    """The core's name had the control registers in it, and no C library was asked for headers."""
    abi = "ilp32e" if "rv32e" in core else "ilp32"
    rule = f"riscv64-unknown-elf-gcc {core} -mabi={abi}{language} -c $< -o $@\n"
    makefile = f"fw.elf: main.o sw.o\n%.o: %.c\n\t{rule}%.o: %.S\n\t{rule}"
    asm = b".text\n.globl off\noff: csrrci a0, mstatus, 8\n ret\n"
    main = b"unsigned off(void);\nint main(void) { off(); }\n"
    result = port_files(
        tmp_path, {"Makefile": makefile.encode(), "main.c": main, "sw.S": asm}, None
    )
    assert not [it for it in escalations(result) if "can't be compiled" in it or "stdint" in it]
    flags = read_build(tmp_path, find_sources(tmp_path)).options.cpu_flags
    assert f"-march={known}" in flags and flags.count("-ffreestanding") == 1
