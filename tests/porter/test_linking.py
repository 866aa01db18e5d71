"""What a build links, by the words of its commands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from porter.project.linking import linkings, parse_linking

ROOT = Path(__file__).resolve().parents[2]
HERE = Path("/project/app")
PROGRAM = (HERE / "b/main.elf", (HERE / "b/linker.ld",))


@pytest.mark.parametrize(
    "command",
    [
        "arm-none-eabi-gcc main.o -o b/main.elf -Tb/linker.ld -Wl,--gc-sections",
        "arm-none-eabi-g++ -T b/linker.ld -o b/main.elf main.o",
        "arm-none-eabi-gcc main.o -Wl,-T,b/linker.ld,-Map=x.map -o b/main.elf",
        "arm-none-eabi-gcc main.o -Wl,-Tb/linker.ld -Ttext=0x8004000 -o b/main.elf",
        "arm-none-eabi-gcc main.o -Xlinker -T -Xlinker b/linker.ld -o b/main.elf",
        "/opt/arm/bin/arm-none-eabi-ld --script=b/linker.ld main.o -o b/main.elf",
        "ccache arm-none-eabi-gcc main.c -o b/main.elf -Tb/linker.ld",
    ],
)
def test_program_and_script(command: str) -> None:
    found = parse_linking(command.split(), HERE)
    assert found is not None and (found.program, found.scripts) == PROGRAM


@pytest.mark.parametrize(
    "command",
    [
        "arm-none-eabi-gcc -c main.c -o main.o -Tb/linker.ld",
        "arm-none-eabi-ld -r a.o b.o -o both.o -Tb/linker.ld",
        "gcc main.o -o tool",
        "arm-none-eabi-gcc main.o -Tb/linker.ld",
        "arm-none-eabi-objcopy -O binary b/main.elf -o x",
        "",
    ],
)
def test_another_command(command: str) -> None:
    assert parse_linking(command.split(), HERE) is None


@pytest.mark.parametrize(
    ("options", "renamed"),
    [
        ("-Wl,--wrap=hook", (("hook", "__wrap_hook"), ("__real_hook", "hook"))),
        ("-Wl,--wrap,hook", (("hook", "__wrap_hook"), ("__real_hook", "hook"))),
        ("-Xlinker --defsym=hook=other", (("hook", "other"),)),
        ("-Wl,--defsym,next=first+4", (("next", "first"),)),
    ],
)
@pytest.mark.parametrize("in_file", [False, True])
def test_names_with_another_meaning(
    options: str, renamed: tuple[tuple[str, str], ...], in_file: bool, tmp_path: Path
) -> None:
    (tmp_path / "link.opt").write_text(f'main.o "other.o"\n{options}\n')
    given = "@link.opt" if in_file else options
    found = parse_linking(f"gcc main.o {given} -o a.elf -Tb.ld".split(), tmp_path)
    assert found is not None and found.scripts == (tmp_path / "b.ld",)
    assert found.renamed == renamed
    assert found.inputs == tuple(tmp_path / it for it in ["main.o", "other.o"][: 1 + in_file])


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ("-Wl,-e,first", ("first",)),
        ("-Wl,--entry=first -u second", ("first", "second")),
        ("-Wl,--undefined=first,--require-defined,second", ("first", "second")),
        ("-ufirst -Xlinker -init=second", ("first", "second")),
        ("-Wl,--undefined-version,--unresolved-symbols=report-all,-EL -undef", ()),
    ],
)
def test_names_that_options_ask_for(options: str, kept: tuple[str, ...]) -> None:
    found = parse_linking(f"arm-none-eabi-gcc main.o {options} -o a.elf".split(), HERE)
    assert found is not None and found.kept == kept and not found.keeps_all


def test_what_a_build_makes_of_sources_is_no_input_of_others(tmp_path: Path) -> None:
    """Through archives and objects that are joined; what nothing makes is left."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libtheirs.a").touch()
    commands = [
        "gcc -mthumb -c a.c",
        "gcc -mthumb -c sub/b.c -o out/b.o",
        "ld -r -o joined.o out/b.o strange.o",
        "ar rcs libours.a joined.o a.o",
        "gcc -mthumb c.c out/../blob.o -L. -Llib -lours -ltheirs -lm -o a.elf",
    ]
    (found,) = linkings([(it.split(), tmp_path) for it in commands])
    names = ["blob.o", "lib/libtheirs.a", "strange.o"]
    assert found.inputs == tuple(tmp_path / it for it in names)
    assert found.libraries == ("libm.a",)


@pytest.mark.parametrize(
    ("options", "numbers", "sections"),
    [
        ("-Wl,--defsym=size=0x400", (("size", 0x400),), ()),
        ("-Wl,--defsym,size=4*8", (("size", 32),), ()),
        ("-Wl,--section-start=.chip=0x40004400", (), ((".chip", 0x40004400),)),
        ("-Xlinker --section-start -Xlinker .chip=40004400", (), ((".chip", 0x40004400),)),
    ],
)
def test_numbers_that_options_give(
    options: str,
    numbers: tuple[tuple[str, int], ...],
    sections: tuple[tuple[str, int], ...],
    tmp_path: Path,
) -> None:
    found = parse_linking(f"gcc main.o {options} -o a.elf".split(), tmp_path)
    assert found is not None
    assert (found.numbers, found.sections) == (numbers, sections)


HANDLER = """\
    .syntax unified
    .thumb
    .global PendSV_Handler
    .type PendSV_Handler, %function
PendSV_Handler:
    mrs r0, psp
    stmdb r0!, {r4-r11, lr}
    ldr r4, =current
    ldr r2, [r4]
    str r0, [r2]
    bl schedule
    ldr r2, [r4]
    ldr r0, [r2]
    ldmia r0!, {r4-r11, lr}
    msr psp, r0
    bx lr
"""
MAIN = """\
struct task { unsigned *sp; } *current, *ready;
unsigned seen;
void schedule(void) { current = ready; }
void __wrap_schedule(void) { unsigned v; __asm volatile("mov %0, r8" : "=r"(v)); seen = v; }
int main(void) { for (;;); }
"""


@pytest.mark.parametrize("wrapped", [True, False])
def test_a_wrapper_is_what_a_handler_calls(wrapped: bool, tmp_path: Path) -> None:
    (tmp_path / "switch.S").write_text(HANDLER)
    (tmp_path / "main.c").write_text(MAIN)
    option = "-Wl,--wrap=schedule" if wrapped else ""
    (tmp_path / "Makefile").write_text(
        "a.elf: main.c switch.S\n\tarm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -c main.c -o main.o\n"
        "\tarm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -c switch.S -o switch.o\n"
        f"\tarm-none-eabi-gcc -mcpu=cortex-m3 {option} main.o switch.o -o a.elf\n"
    )
    fvmkit = [sys.executable, "-m", "composer.cli", "port", str(tmp_path)]
    result = subprocess.run(fvmkit, capture_output=True, text=True, cwd=ROOT)
    told = "leads to __wrap_schedule() of main.c, which reads r8 of its caller"
    assert (told in result.stderr) == wrapped, result.stderr
    assert result.returncode == (1 if wrapped else 0), result.stderr
