"""`fvmkit scan --why`: one path from where the program starts to what was found."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner

from scanner import scan_bytes, scan_file
from scanner.cli import scan
from scanner.report.finding import Finding
from tests.scanner.conftest import Build
from tests.scanner.elf_writer import FLASH, Load, halfwords, write_elf

FUNCTIONS = """
.macro function name
 .balign 4
 .thumb_func
 .type \\name, %function
\\name:
.endm
.macro end name
 .size \\name, . - \\name
.endm
"""
CALLS = f"""{FUNCTIONS}
function _start
 cmp r0, #0
 beq 1f
 bl long_way
1: bl short_way
 b .
end _start
function long_way
 b short_way
end long_way
function short_way
 cmp r1, #3
 bhi 2f
 tbb [pc, r1]
 .byte 2, 3, 4, 5
 nop
 nop
 nop
 b masks
2: bx lr
end short_way
function masks
 cpsid i
 bx lr
end masks
"""


def steps(finding: Finding) -> list[tuple[str, str | None]]:
    return [(step.way, step.function) for step in finding.path]


def test_the_path_with_the_fewest_calls_is_told(build: Build) -> None:
    (found,) = scan_file(build(CALLS), why=True).findings
    assert steps(found) == [("entry", "_start"), ("call", "short_way"), ("jump", "masks")]


def test_a_vector_table_starts_a_path_in_a_bare_binary(
    build: Build, strip: Callable[[Path], Path]
) -> None:
    elf = strip(
        build(
            '.section .isr_vector, "ax"\n.word 0x20001000, _start + 1, fault + 1, fault + 1\n'
            ".text\n.thumb_func\nfault: bl mask\n b .\nmask: cpsid i\n bx lr\n"
            ".thumb_func\n_start: b .\n"
        )
    )
    (found,) = scan_file(elf, why=True).findings
    assert steps(found) == [("vector", None), ("call", None)]


def test_what_only_a_pointer_leads_to_is_told_from_there(build: Build) -> None:
    source = f"{FUNCTIONS}function _start\n b .\nend _start\nfunction task\n bl masks\n b task\n"
    source += "end task\nfunction masks\n cpsid i\n bx lr\nend masks\n.balign 4\n.word task\n"
    (found,) = scan_file(build(source), why=True).findings
    assert steps(found) == [("symbol", "task"), ("call", "masks")]


def test_functions_that_call_each_other_alone_have_a_path(build: Build) -> None:
    source = (
        f"{FUNCTIONS}function _start\n b .\nend _start\nfunction one\n bl two\n bx lr\nend one\n"
    )
    source += "function two\n cpsid i\n b one\nend two\n"
    (found,) = scan_file(build(source), why=True).findings
    assert found.path and found.path[-1].function in ("one", "two")


def test_no_path_goes_through_privileged_code(build: Build) -> None:
    source = (
        f"{FUNCTIONS}function _start\n bl kernel\n b .\nend _start\nfunction kernel\n bl masks\n"
    )
    source += " bx lr\nend kernel\nfunction task\n bl masks\n b task\nend task\n"
    source += "function masks\n cpsid i\n bx lr\nend masks\n.balign 4\n.word task\n"
    report = scan_file(build(source), why=True, privileged=("kernel",))
    assert [steps(found) for found in report.findings] == [[("symbol", "task"), ("call", "masks")]]


def test_a_path_without_end_costs_no_time() -> None:
    """A hundred thousand jumps, and then as many instructions as are listed."""
    code = halfwords(*[0xE000, 0xBF00] * 100_000, *[0xB672, 0xD0FF] * 1000, 0xE7FE)
    started = time.process_time()
    report = scan_bytes(write_elf([Load(FLASH, code)], entry=FLASH + 1), why=True)
    assert len(report.findings) == 1000
    assert not any(found.path for found in report.findings)
    assert time.process_time() - started < 20


def test_what_is_only_possible_has_no_path(build: Build) -> None:
    elf = build(".thumb_func\n_start: b .\n.size _start, . - _start\n.hword 0xb672, 0xb672\n")
    text = CliRunner().invoke(scan, ["--why", str(elf)]).stdout
    assert "warn cps (possible)" in text and "  why: no path to it is known" in text


def test_reports_have_the_path(build: Build, tmp_path: Path) -> None:
    elf = build(CALLS)
    options = ["--why", "--sarif", str(tmp_path / "s"), "--html", str(tmp_path / "h"), str(elf)]
    text = CliRunner().invoke(scan, options).stdout
    start = "  why: the program starts in _start (0x08000000 "
    line = next(line for line in text.splitlines() if line.startswith(start))
    assert "calls short_way (0x08000008 " in line and "goes on in masks (" in line
    result = json.loads((tmp_path / "s").read_text())["runs"][0]["results"][0]
    (thread,) = result["codeFlows"][0]["threadFlows"]
    assert len(thread["locations"]) == 4
    assert "calls short_way" in (tmp_path / "h").read_text()
    document = json.loads(CliRunner().invoke(scan, ["--why", "--json", str(elf)]).stdout)
    path = document["files"][0]["findings"][0]["path"]
    assert [step["way"] for step in path] == ["entry", "call", "jump"]
    assert "path" not in CliRunner().invoke(scan, ["--json", str(elf)]).stdout
