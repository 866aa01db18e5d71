"""`fvmkit port --elf`: a program and the port of its sources account for each other."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from composer.cli import fvmkit
from porter.judging.verdict import Status
from porter.ledger import before
from porter.ledger.program import read_program
from porter.port import port_project
from porter.project.domain import Vector
from porter.result import PortResult
from scanner.report.errors import FvmError, MissingError
from tests.porter.helpers import DOMAIN

CORE = """\
#define SCB_ICSR (*(volatile unsigned *)0xE000ED04u)
#define TRIGGER() do { SCB_ICSR = 1u << 28; } while (0)
static inline __attribute__((always_inline)) void hush(void) { __asm volatile("cpsid i"); }
"""
MAIN = """\
#include "core.h"
void masked(void)
{
    hush();
}
void triggers(void)
{
    TRIGGER();
}
void direct(unsigned long_name)
{
    *(volatile unsigned *)0xE000ED94u =
        long_name +
        1u;
}
int main(void) { masked(); triggers(); direct(3); for (;;) { } }
"""
START = """\
    .syntax unified
    .thumb
    .global asm_part
    .thumb_func
asm_part:
    mrs r0, psp
    bx lr
    .size asm_part, . - asm_part
"""
OPTIONS = ("-mcpu=cortex-m4", "-mthumb", "-O2", "-g", "-ffreestanding", "-nostdlib",
           "-Wl,-Ttext=0x08000000", "-Wl,-emain")  # fmt: skip


def built(folder: Path, *options: str, main: str = MAIN) -> tuple[Path, Path]:
    """A project, and what its own build makes of it."""
    root = folder / "project"
    (root / "src").mkdir(parents=True)
    for name, text in {"core.h": CORE, "main.c": main, "part.s": START}.items():
        (root / "src" / name).write_text(text)
    (root / "Makefile").write_text(
        "all: a.elf\na.elf: src/main.c src/part.s\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb"
        " -c src/main.c -o main.o\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -c src/part.s -o part.o\n"
    )
    elf = folder / "a.elf"
    subprocess.run(
        ["arm-none-eabi-gcc", *OPTIONS, *options, "src/main.c", "src/part.s", "-o", str(elf)],
        cwd=root, check=True, capture_output=True,
    )  # fmt: skip
    return root, elf


def without(result: PortResult, what: str) -> PortResult:
    """As if the porter had passed over the sites of this name, and changed nothing there."""
    files = tuple(
        replace(
            port,
            verdicts=tuple(v for v in port.verdicts if what not in v.site.what),
            edits=tuple(e for e in port.edits if not any(
                v.site.start < e.end and e.start < v.site.end
                for v in port.verdicts if what in v.site.what)),
        )
        for port in result.files
    )  # fmt: skip
    return replace(result, files=files)


def overlooked(result: PortResult, elf: Path) -> dict[str, str]:
    ledger = before.compare(result, read_program(elf, None), None)
    assert ledger.explained + len(ledger.open) <= ledger.findings
    return {it.where: it.function for it in ledger.open}


def test_every_finding_falls_on_a_verdict(tmp_path: Path) -> None:
    root, elf = built(tmp_path)
    result = port_project(root)
    ledger = before.compare(result, read_program(elf, None), None)
    assert ledger.open == () and ledger.findings >= 4 and ledger.has_lines


@pytest.mark.parametrize(
    ("what", "places"),
    [
        ("cpsid", {"src/core.h:3"}),  # put into its caller: the line of the instruction
        ("mrs", {"src/part.s:6"}),
        ("0xE000ED94u", {"src/main.c:12"}),
        ("SCB_ICSR", {"src/main.c:8"}),  # by two macros: the line of the use
    ],
)
def test_a_site_that_the_porter_missed_is_told_with_its_line(
    tmp_path: Path, what: str, places: set[str]
) -> None:
    root, elf = built(tmp_path)
    result = port_project(root)
    assert any(what in v.site.what for port in result.files for v in port.verdicts)
    found = overlooked(without(result, what), elf)
    assert set(found) == places


def test_a_call_that_was_put_into_its_caller_explains_the_callee(tmp_path: Path) -> None:
    """The callee is a definition whose uses are the sites: the use must have a verdict."""
    main = MAIN.replace("hush();", "__disable_irq();").replace(
        '#include "core.h"\n',
        '#include "core.h"\nstatic inline __attribute__((always_inline)) void __disable_irq(void)\n'
        '{\n    __asm volatile("cpsid i");\n}\n',
    )
    root, elf = built(tmp_path, main=main)
    result = port_project(root)
    assert overlooked(result, elf) == {}
    calls = [v for port in result.files for v in port.verdicts if "__disable_irq" in v.site.what]
    assert any(v.status is Status.REWRITTEN for v in calls)
    assert overlooked(without(result, "__disable_irq"), elf)


def test_a_callers_verdict_does_not_explain_what_its_callee_does(tmp_path: Path) -> None:
    """The call stands in a line that has a verdict of its own, on something else."""
    main = MAIN.replace("hush();", "hush(), *(volatile unsigned *)0xE000ED98u = 1u;")
    root, elf = built(tmp_path, main=main)
    result = port_project(root)
    assert overlooked(result, elf) == {}
    assert set(overlooked(without(result, "cpsid"), elf)) == {"src/core.h:3"}


def test_functions_that_a_compiler_folds_are_on_the_line_of_the_others_head(tmp_path: Path) -> None:
    same = "\n{\n    while (!(WAITS[0] & 1u)) { }\n    WAITS[1] = value;\n}\n"
    head = "#define WAITS ((volatile unsigned *)0xE000ED00)\nvoid %s(unsigned value)"
    code = "".join(head % name + same for name in ("first", "second"))
    root, elf = built(tmp_path, main=code + "int main(void) { first(1); second(2); return 0; }\n")
    ledger = before.compare(port_project(root), read_program(elf, None), None)
    assert ledger.open == () and ledger.by_name
    nobodys = without(port_project(root), "WAITS")
    assert "src/main.c:8" in overlooked(nobodys, elf)


def test_without_lines_functions_are_compared_and_that_is_said(tmp_path: Path) -> None:
    root, elf = built(tmp_path, "-g0", "-O0")
    result = port_project(root)
    ledger = before.compare(result, read_program(elf, None), None)
    assert not ledger.has_lines and ledger.by_name == ledger.explained > 0
    assert "it has no lines, so functions were compared" in str(ledger)
    known = {it.function: it.why for it in ledger.open}  # what a macro or inlining brought there
    assert set(known) == {"masked", "triggers"}
    assert set(known.values()) == {
        "nothing tells its line, and the porter has no verdict in this function"
    }
    assert "asm_part" in overlooked(without(result, "mrs"), elf)
    assert "direct" in overlooked(without(result, "0xE000ED94u"), elf)


def test_code_from_elsewhere_is_nobodys(tmp_path: Path) -> None:
    root, elf = built(tmp_path)
    (root / "src" / "part.s").unlink()
    (root / "Makefile").unlink()
    assert overlooked(port_project(root), elf) == {"src/part.s:6": "asm_part"}


def test_an_arm_that_the_porter_left_but_the_program_has(tmp_path: Path) -> None:
    mpu = "*(volatile unsigned *)0xE000ED98u = 1;"
    main = MAIN + f"#ifdef EXTRA\nvoid extra(void) {{ {mpu} }}\n#endif\n"
    root, elf = built(tmp_path, "-DEXTRA", main=main)
    ledger = before.compare(port_project(root), read_program(elf, None), None)
    (place,) = [it for it in ledger.open if it.function == "extra"]
    assert "not compiled in this project" in place.why and "the program has it" in place.why


def command(root: Path, *options: str) -> tuple[int, str, dict[str, Any]]:
    arguments = ["port", str(root), "--json", *options]
    result = CliRunner().invoke(fvmkit, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.return_value, result.stderr, json.loads(result.stdout)


def test_the_command_ends_with_1_for_an_overlooked_place(tmp_path: Path) -> None:
    root, elf = built(tmp_path)
    (root / "src" / "part.s").write_text(START.replace("mrs r0, psp", "nop"))
    out = tmp_path / "out"
    _, said, report = command(root, "--elf", str(elf))
    assert [it["where"] for it in report["ledger"]["open"]] == ["src/part.s:6"]
    assert "src/part.s:6: overlooked mrs r0, psp [mrs] in asm_part" in said
    arguments = ["port", str(root), "--elf", str(elf), "--out", str(out)]
    assert CliRunner().invoke(fvmkit, arguments, standalone_mode=False).return_value == 1
    (place,) = json.loads((out / ".fvm-port.json").read_text())["overlooked"]
    assert (place["file"], place["line"], place["rule"]) == ("src/part.s", 6, "mrs")


def test_a_copy_is_built_where_the_project_has_a_makefile(tmp_path: Path) -> None:
    root, _ = built(tmp_path)
    flags = " ".join(OPTIONS)
    rule = f"a.elf: src/main.c src/part.s\n\tarm-none-eabi-gcc {flags} $^ -o $@\n"
    (root / "Makefile").write_text(rule)
    before_it = sorted(root.rglob("*"))
    _, said, report = command(root, "--build")
    assert report["ledger"]["program"] == "a.elf" and report["ledger"]["open"] == []
    assert "7 findings, 7 explained" in said and sorted(root.rglob("*")) == before_it
    (root / "Makefile").write_text("all:\n\t@echo error: no luck >&2; exit 1\n")
    with pytest.raises(FvmError, match=r"its own build fails here: error: no luck; give"):
        command(root, "--build")
    (root / "Makefile").write_text("all:\n")
    with pytest.raises(FvmError, match=r"not one program but: none"):
        command(root, "--build")
    (root / "Makefile").unlink()
    with pytest.raises(FvmError, match=r"has no makefile"):
        command(root, "--build")


def test_a_program_that_cannot_be_judged(tmp_path: Path) -> None:
    root, elf = built(tmp_path)
    with pytest.raises(MissingError, match=r"none\.elf: can't be opened"):
        command(root, "--elf", str(tmp_path / "none.elf"))
    subprocess.run(["arm-none-eabi-strip", str(elf)], check=True)
    with pytest.raises(FvmError, match="neither symbols nor lines"):
        command(root, "--elf", str(elf))
    elf.write_bytes(b"nothing")
    with pytest.raises(FvmError, match="can't be compared with the project"):
        command(root, "--elf", str(elf))


def test_a_verdict_on_the_description_explains_nothing(tmp_path: Path) -> None:
    """A handler that the project lacks is told at the description, which is no source."""
    root, elf = built(tmp_path)
    (tmp_path / "guest.domain.json").write_text('{"handler": "gone_handler"}\n')
    vector = Vector(5, "irq", "USART6", "gone_handler", 71, True)
    path, vectors = tmp_path / "guest.domain.json", (*DOMAIN.vectors, vector)
    domain = replace(DOMAIN, path=path, vectors=vectors)
    result = port_project(root, domain)
    assert any(it.rule == "vectors" for port in result.files for it in port.verdicts)
    assert before.compare(result, read_program(elf, None), domain).open == ()
