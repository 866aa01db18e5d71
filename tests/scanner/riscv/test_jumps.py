"""Control flow that a linear disassembly doesn't show: tables, pairs, hidden instructions."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scanner import scan_file
from scanner.report.finding import FileReport
from tests.scanner.riscv.conftest import Build

Strip = Callable[[Path], Path]
FORBIDDEN = "csrci 0x800, 8"


def graded(report: FileReport) -> list[tuple[str, str]]:
    return [(finding.rule, finding.certainty) for finding in report.findings]


@pytest.mark.parametrize(
    "branch",
    ["j", "c.j", "jal", "c.jal", "beq a0, a1,", "bltu a0, a1,", "bge a0, a1,", "c.beqz a0,",
     "c.bnez a0,", "call", "tail"],
)  # fmt: skip
@pytest.mark.parametrize("distance", [2, 200])
def test_every_direct_branch_is_followed(
    build: Build, strip: Strip, branch: str, distance: int
) -> None:
    forward = build(
        f"_start: {branch} target\n ret\n.space {distance}, 0xff\ntarget: {FORBIDDEN}\n ret\n"
    )
    backward = build(
        f"target: {FORBIDDEN}\n ret\n.space {distance}, 0xff\n_start: {branch} target\n ret\n"
    )
    for elf in (forward, backward):
        assert graded(scan_file(strip(elf))) == [("csr", "certain")]


@pytest.mark.parametrize("branch", ["call", "tail", "jump"])
def test_far_calls_are_followed(build: Build, strip: Strip, branch: str) -> None:
    last = ", t0" if branch == "jump" else ""
    elf = build(
        f".option norelax\n_start: {branch} target{last}\n ret\n.space 0x123456, 0xff\n"
        f"target: {FORBIDDEN}\n ret\n"
    )
    assert graded(scan_file(strip(elf))) == [("csr", "certain")]


@pytest.mark.parametrize("register", ["a5", "t0", "ra"])
@pytest.mark.parametrize("load", ["la {0}, target", "li {0}, 0", "lui {0}, %hi(target)"])
def test_jumps_to_a_known_place_are_followed_whatever_the_register(
    build: Build, strip: Strip, register: str, load: str
) -> None:
    """Start-up code jumps by the register that otherwise holds a return address."""
    low = f"addi {register}, {register}, %lo(target)\n" if "%hi" in load else ""
    elf = build(
        f".option norelax\n_start: {load.format(register)}\n {low} fence\n jr {register}\n"
        f".word -1\ntarget: {FORBIDDEN}\n ret\n"
    )
    known = "target" in load
    assert graded(scan_file(strip(elf))) == [("csr", "certain" if known else "possible")]


TABLES = {
    "absolute": (
        "li a5, 2\n bltu a5, a0, out\n lui a5, %hi(table)\n slli a0, a0, 2\n"
        " addi a5, a5, %lo(table)\n add a0, a0, a5\n lw a5, 0(a0)\n jr a5\n",
        ".word one, two, three",
    ),
    "folded": (
        "li a1, 2\n bgtu a0, a1, out\n slli a0, a0, 2\n lui a1, %hi(table)\n add a0, a0, a1\n"
        " lw a0, %lo(table)(a0)\n jr a0\n",
        ".word one, two, three",
    ),
    "relative": (
        "li a5, 3\n bgeu a0, a5, out\n lla a4, table\n slli a0, a0, 2\n add a0, a0, a4\n"
        " lw a5, 0(a0)\n add a5, a5, a4\n jr a5\n",
        ".word one - table, two - table, three - table",
    ),
    "by the register of a second return address": (
        "li t1, 2\n bltu t1, a0, out\n lui t0, %hi(table)\n slli a0, a0, 2\n"
        " addi t0, t0, %lo(table)\n add a0, a0, t0\n lw t0, 0(a0)\n jr t0\n",
        ".word one, two, three",
    ),
    "of a masked index": (
        "andi a0, a0, 1\n lla a4, table\n slli a0, a0, 2\n add a0, a0, a4\n lw a5, 0(a0)\n jr a5\n",
        ".word one, two",
    ),
    "of a byte that is compared, too": (
        "lbu a0, 0(a1)\n li a5, 2\n bltu a5, a0, out\n lla a4, table\n slli a0, a0, 2\n"
        " add a0, a0, a4\n lw a5, 0(a0)\n jr a5\n",
        ".word one, two, three",
    ),
    "of an index that was stored": (
        "addi a1, a0, -3\n sw a1, -20(s0)\n li a0, 2\n bltu a0, a1, out\n lw a0, -20(s0)\n"
        " slli a0, a0, 2\n lla a1, table\n add a0, a0, a1\n lw a0, 0(a0)\n jr a0\n",
        ".word one, two, three",
    ),
    "of an index in memory": (
        "sw a0, -20(s0)\n lw a4, -20(s0)\n li a5, 2\n bltu a5, a4, out\n lw a5, -20(s0)\n"
        " slli a4, a5, 2\n lla a5, table\n add a5, a4, a5\n lw a5, 0(a5)\n jr a5\n",
        ".word one, two, three",
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_jump_tables(build: Build, strip: Strip, name: str) -> None:
    """Every case is reached, and what stands behind the table is not taken for a case."""
    code, table = TABLES[name]
    elf = build(
        f".option norelax\n_start: {code}out: ret\n"
        f"one: csrci 0x800, 1\n ret\ntwo: csrci 0x800, 2\n ret\nthree: csrci 0x800, 3\n ret\n"
        f"behind: csrci 0x800, 4\n ret\n.align 2\ntable: {table}\n.word behind\n"
    )
    cases = table.count(",") + 1
    found = {f.text.split(", ")[1][0]: f.certainty for f in scan_file(strip(elf)).findings}
    assert found == {str(n): "certain" if n <= cases else "possible" for n in range(1, 5)}


def test_a_table_in_a_segment_of_its_own(build: Build, strip: Strip) -> None:
    elf = build(
        "_start: li a5, 1\n bltu a5, a0, out\n lla a5, table\n sh2add a0, a0, a5\n lw a5, 0(a0)\n"
        " jr a5\nout: ret\none: csrci 0x800, 1\n ret\ntwo: csrci 0x800, 2\n ret\n"
        '.section .constants, "a"\n.align 2\ntable: .word one, two\n',
        "-Wl,--section-start=.constants=0x08100000", "-Wa,-march=rv32imafc_zba",
    )  # fmt: skip
    assert graded(scan_file(strip(elf), arch="rv32imafc")) == [("csr", "certain")] * 2


def test_trap_handlers_are_reached(build: Build, strip: Strip) -> None:
    elf = build(
        ".option norelax\n_start: la t0, vectors\n addi t0, t0, 1\n csrw mtvec, t0\n la t0, user\n"
        " csrw mepc, t0\n mret\n.align 6\n.option norvc\nvectors: j one\n j two\n.option rvc\n"
        "one: csrci 0x800, 1\n mret\ntwo: csrci 0x800, 2\n mret\nuser: csrci 0x800, 3\n j user\n"
    )
    found = [f for f in scan_file(strip(elf)).findings if f.severity == "silent"]
    assert [f.certainty for f in found] == ["certain"] * 3


def test_trap_handlers_are_reached_where_functions_have_symbols_and_no_more(
    build: Build,
) -> None:
    elf = build(
        ".option norelax\n.type _start, @function\n_start: la t0, handler\n csrw mtvec, t0\n j .\n"
        ".size _start, . - _start\n.align 2\nhandler: csrci 0x800, 1\n mret\n"
    )
    command = ["riscv64-unknown-elf-objcopy", "--wildcard", "--strip-symbol", "$*", elf.name]
    subprocess.run(command, cwd=elf.parent, check=True)
    found = [f for f in scan_file(elf).findings if f.severity == "silent"]
    assert [f.certainty for f in found] == ["certain"]


def test_nuclei_sets_its_handlers_up_elsewhere(build: Build, strip: Strip) -> None:
    elf = build(
        ".option norelax\n_start: la t0, vectors\n csrw 0x307, t0\n la t0, common\n"
        " csrw 0x7ec, t0\n csrs 0x7ec, 1\n j .\n.align 6\nvectors: .word 0, one\n"
        "one: csrci 0x800, 1\n mret\n.align 2\ncommon: csrci 0x800, 2\n mret\n"
    )
    found = [f for f in scan_file(strip(elf)).findings if f.severity == "silent"]
    assert [f.certainty for f in found] == ["certain"] * 2


def test_a_table_of_handlers_is_read(build: Build, strip: Strip) -> None:
    """Mode 3 of mtvec on WCH, and mtvt elsewhere: addresses instead of jumps."""
    elf = build(
        ".option norelax\n_start: la t0, vectors\n ori t0, t0, 3\n csrw mtvec, t0\n j .\n.align 6\n"
        "vectors: .word 0, one, 0, two\n.word 0x12345678, three\n"
        "one: csrci 0x800, 1\n mret\ntwo: csrci 0x800, 2\n mret\nthree: csrci 0x800, 3\n mret\n"
    )
    found = [f for f in scan_file(strip(elf)).findings if f.severity == "silent"]
    assert [f.certainty for f in found] == ["certain", "certain", "possible"]


def test_inside_a_wide_instruction_is_possible_until_branched_to(
    build: Build, strip: Strip
) -> None:
    hidden = "hidden: lui a0, 0x10737\n .half 0x8004\n ret\n"  # csrw 0x800 from its middle on
    quiet = build(f".option norvc\n_start: {hidden}")
    assert graded(scan_file(quiet)) == [("csr", "possible")]
    entered = build(f".option norvc\n_start: j hidden + 2\n {hidden}")
    assert graded(scan_file(strip(entered))) == [("csr", "certain")]


def test_data_that_is_branched_to_is_code(build: Build) -> None:
    """A mapping symbol that calls code data clears nothing."""
    elf = build("_start: c.beqz a0, lie\n ret\n.align 2\nlie: .word 0x80059073\n.half 0x8082\n")
    assert graded(scan_file(elf)) == [("csr", "certain")]


def test_behind_a_trap_stand_constants(build: Build, strip: Strip) -> None:
    stops = ("unimp", "c.unimp", "c.ebreak", "mret", ".half 0xffff")
    for stop in stops:
        elf = build(f"_start: {stop}\n {FORBIDDEN}\n ret\n")
        grades = dict(graded(scan_file(strip(elf))))
        assert grades["csr"] == "possible", stop


def test_semihosting_goes_on(build: Build, strip: Strip) -> None:
    call = ".option norvc\n slli x0, x0, 31\n ebreak\n srai x0, x0, 7\n.option rvc\n"
    elf = build(f"_start: {call} {FORBIDDEN}\n ret\n")
    assert ("csr", "certain") in graded(scan_file(strip(elf)))


def test_functions_without_mapping_symbols_are_code(build: Build, strip: Strip) -> None:
    """Older toolchains write none."""
    elf = build(
        f"_start: ret\n.type unused, %function\nunused: {FORBIDDEN}\n ret\n"
        ".size unused, . - unused\n"
    )
    assert graded(scan_file(elf)) == [("csr", "certain")]
    data = elf.read_bytes().replace(b"\0$xrv32", b"\0Lxrv32")
    elf.write_bytes(data)
    assert graded(scan_file(elf)) == [("csr", "certain")]
    assert graded(scan_file(strip(elf))) == [("csr", "possible")]
