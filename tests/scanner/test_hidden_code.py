"""Instructions where a linear disassembly would not show them, and data that looks like some."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from scanner import scan_file
from scanner.policy import Grant, Policy
from scanner.report.finding import FileReport
from scanner.scan import scan_bytes
from tests.scanner.conftest import Build
from tests.scanner.elf_writer import FLASH, READ_WRITE, Load, halfwords, write_elf

Strip = Callable[[Path], Path]


def graded(report: FileReport) -> list[tuple[str, str]]:
    return [(finding.rule, finding.certainty) for finding in report.findings]


def test_a_literal_pool_is_possible(build: Build) -> None:
    elf = build(".thumb_func\n_start: ldr r0, =0x1234b672\n bx lr\n")
    report = scan_file(elf)
    assert graded(report) == [("cps", "possible")]
    assert report.verdict == "warn"
    assert scan_file(elf, strict=True).verdict == "reject"


def test_inside_a_wide_instruction_is_possible_until_branched_to(build: Build) -> None:
    hidden = "hidden: .inst.w 0xf240b672\n bx lr\n"  # bls.w whose second half is cpsid i
    quiet = build(f".thumb_func\n_start: {hidden}")
    assert graded(scan_file(quiet)) == [("cps", "possible"), ("outside", "certain")]
    entered = build(f".thumb_func\n_start: b.n hidden + 2\n {hidden}")
    report = scan_file(entered)
    assert graded(report) == [("cps", "certain")]
    assert report.verdict == "reject"


def test_data_that_is_branched_to_is_code(build: Build) -> None:
    """A mapping symbol that calls code data clears nothing."""
    elf = build(
        ".thumb_func\n_start: cbz r0, lie\n bx lr\n.align 2\n"
        "lie: .word 0x8010f3ef\n.short 0xb672, 0x4770\n"
    )
    assert sorted(graded(scan_file(elf))) == [("cps", "certain"), ("mrs", "certain")]


def test_running_into_data_makes_it_code(build: Build) -> None:
    elf = build(".thumb_func\n_start: movs r0, r0\n.short 0xb672\n.short 0x4770\n")
    assert graded(scan_file(elf)) == [("cps", "certain")]


def test_in_data_that_control_reaches_everything_is_told(build: Build) -> None:
    """Also what data often looks like; what nothing reaches or what is loaded stays data."""
    elf = build(
        ".thumb_func\n_start: ldr r1, =0xbe03be03\n cbz r0, lie\n.short 0xbe01\n bx lr\n"
        "lie: .short 0xbe02, 0x4770, 0xbe04\n.align 2\n.pool\n"
    )
    assert [f.text.split(":")[0] for f in scan_file(elf).findings] == ["bkpt #1", "bkpt #2"]


@pytest.mark.parametrize("split", [2, 4, 6])
def test_instructions_straddle_adjacent_segments(split: int) -> None:
    code = halfwords(0xBF00, 0xF3EF, 0x8010, 0x4770)
    pieces = [Load(FLASH, code[:split]), Load(FLASH + split, code[split:])]
    for loads in (pieces, pieces[::-1]):
        report = scan_bytes(write_elf(loads, entry=FLASH + 1), "x", Policy())
        assert [(f.rule, f.address, f.certainty) for f in report.findings] == [
            ("mrs", FLASH + 2, "certain")
        ]


def test_a_gap_between_segments_joins_nothing() -> None:
    loads = [Load(FLASH, halfwords(0x4770, 0xF3EF)), Load(FLASH + 8, halfwords(0x8010, 0x4770))]
    assert scan_bytes(write_elf(loads, entry=FLASH + 1), "x", Policy()).verdict == "accept"


def test_stripped_code_is_reached_from_the_vector_table(build: Build, strip: Strip) -> None:
    elf = build(
        '.section .isr_vector, "a"\n.word 0x20001000, _start, handler, 0, 0x12345678, orphan\n'
        ".text\n.thumb_func\n_start: bl callee\n b .\n"
        ".thumb_func\nhandler: cpsid i\n bx lr\n"
        ".thumb_func\ncallee: mrs r0, primask\n bx lr\n"
        ".thumb_func\norphan: msr primask, r0\n bx lr\n"
    )
    found = {f.rule: f.certainty for f in scan_file(strip(elf)).findings}
    assert found == {"cps": "certain", "mrs": "certain", "msr": "possible"}


def test_behind_a_call_that_never_returns_stand_constants(build: Build, strip: Strip) -> None:
    elf = strip(
        build(
            ".thumb_func\n_start: cbz r0, other\n bl forever\n.short 0xb672, 0x4770\n"
            "other: bl returns\n.short 0xb673, 0x4770\n"
            ".thumb_func\nforever: bl deeper\n"
            ".thumb_func\ndeeper: b deeper\n"
            ".thumb_func\nreturns: cbz r0, out\n b returns\nout: push {r4, lr}\n pop {r4, pc}\n"
        )
    )
    found = [(f.text, f.certainty) for f in scan_file(elf).findings]
    assert found == [("cpsid if", "certain"), ("cpsid i", "possible")]


def test_between_a_call_that_never_returns_and_a_table_stand_traps(
    build: Build, strip: Strip
) -> None:
    """Start-up code of the RP2350: should main return, CDP stops the core; a table follows."""
    source = (
        ".word 0x20001000, _start\n.rept 14\n.word 0\n.endr\n.thumb_func\n_start: adr r0, table\n"
        " ldm r0, {r1, r2}\n ldr r3, =main\n blx r3\n cdp p7, #0, c0, c0, c0, #1\n"
        ".align 2\ntable: .word 0x13fffff1, 0xb672b672\n b next\n nop\nnext: cpsid f\n bx lr\n"
        ".pool\n.thumb_func\nmain: b main\n"
    )
    found = graded(scan_file(strip(build(source)), chip_name="rp2350"))
    assert sorted(found) == [("coproc", "certain"), *[("cps", "possible")] * 3]


def test_behind_a_jump_by_a_call_stand_constants(build: Build, strip: Strip) -> None:
    """Where B doesn't reach far enough, GCC jumps within a function by BL on an ARMv6-M."""
    elf = build(
        ".thumb_func\n_start: push {r4, lr}\n bl callee\n"
        "again: cbz r0, out\n bl callee\n mov pc, r0\n"
        "case: ldr r3, constants\n bx r3\n"
        "out: movs r0, #1\n bl again\n.align 2\nconstants: .word 0xb672b672\n"
        ".thumb_func\ncallee: cpsid f\n bx lr\n"
    )
    found = graded(scan_file(strip(elf)))
    assert sorted(found) == [("cps", "certain"), *[("cps", "possible")] * 2]


@pytest.mark.parametrize("padding", ["", "nop\n", "nop.w\n", "nop\nnop.w\n"])
def test_constants_behind_padding_are_not_run_into(build: Build, padding: str) -> None:
    """What is aligned to eight bytes, such as a double, has up to six in front of it."""
    before = {"": "nop\n", "nop\n": "", "nop.w\n": "nop\nnop.w\n", "nop\nnop.w\n": "nop.w\n"}
    elf = build(
        f".thumb_func\n.type _start, %function\n_start: {before[padding]} adr r0, constants\n"
        f" bl leave\n {padding}.align 3\nconstants: .word 0xbe00be00, 0\n"
        ".size _start, . - _start\n"
        ".thumb_func\nleave: bx lr\n"
    )
    assert scan_file(elf).findings == ()


def test_a_debug_section_says_nothing_of_code_at_its_offset(build: Build) -> None:
    """Its mapping symbols hold offsets, which in low flash are addresses, too."""
    elf = build(
        ".thumb_func\n.type _start, %function\n_start: bx lr\n cpsid i\n bx lr\n"
        ".size _start, . - _start\n.align 2\n.word 0\n"
    )
    data = bytearray(elf.read_bytes())
    with elf.open("rb") as stream:
        program = ELFFile(stream)
        table = program.get_section_by_name(".symtab")
        names = [symbol.name for symbol in table.iter_symbols()]
        marker = table["sh_offset"] + 16 * names.index("$d")
        struct.pack_into("<I", data, marker + 4, FLASH + 2)
        assert graded(scan_bytes(bytes(data))) == [("cps", "possible")]
        struct.pack_into("<H", data, marker + 14, program.get_section_index(".debug_line"))
    assert graded(scan_bytes(bytes(data))) == [("cps", "certain")]


def test_a_conditional_return_goes_on(build: Build, strip: Strip) -> None:
    elf = build(
        ".thumb_func\n_start: cmp r0, #0\n it eq\n bxeq lr\n cpsid i\n ite ne\n movne r0, r1\n"
        " popeq {r4, pc}\n cpsie i\n it al\n bxal lr\n cpsid f\n"
    )
    found = [(f.text, f.certainty) for f in scan_file(strip(elf)).findings]
    assert found == [("cpsid i", "certain"), ("cpsie i", "certain"), ("cpsid f", "possible")]


@pytest.mark.parametrize(
    "branch",
    ["b.n", "b.w", "bl", "beq.n", "bne.w", "cbz r1,", "bvs.n"],
)
@pytest.mark.parametrize("distance", [4, 100])
def test_every_direct_branch_is_followed(
    build: Build, strip: Strip, branch: str, distance: int
) -> None:
    elf = build(
        f".thumb_func\n_start: {branch} target\n bx lr\n.space {distance}, 0xff\n"
        "target: cpsid i\n bx lr\n"
    )
    assert ("cps", "certain") in graded(scan_file(strip(elf)))


@pytest.mark.parametrize("branch", ["b.n", "b.w", "bl", "beq.n", "bne.w"])
@pytest.mark.parametrize("distance", [4, 200])
def test_branches_backward_are_followed(
    build: Build, strip: Strip, branch: str, distance: int
) -> None:
    elf = build(
        f"target: cpsid i\n bx lr\n.space {distance}, 0xff\n"
        f".thumb_func\n_start: {branch} target\n bx lr\n"
    )
    assert ("cps", "certain") in graded(scan_file(strip(elf)))


@pytest.mark.parametrize("distance", [0x12340, 0x0FFF00, 0x345678])
@pytest.mark.parametrize("branch", ["b.w", "bl", "bne.w"])
def test_far_branches_are_followed(build: Build, strip: Strip, branch: str, distance: int) -> None:
    if branch == "bne.w" and distance > 0xFFFFF:
        distance //= 4
    elf = build(
        f".thumb_func\n_start: {branch} target\n bx lr\n.space {distance}, 0xff\n"
        "target: cpsid i\n bx lr\n"
    )
    assert ("cps", "certain") in graded(scan_file(strip(elf)))


def test_constants_behind_the_last_function_are_not_code(build: Build) -> None:
    """Linker scripts put .rodata behind .text, where the last mapping symbol still says code."""
    elf = build(
        ".type _start, %function\n_start: bx lr\n.size _start, . - _start\n"
        '.section .rodata, "a"\n.word 0xb672b672, 0x8010f3ef, 0xbe00be00, 0xee07ee07\n'
    )
    found = {(f.rule, f.certainty) for f in scan_file(elf).findings}
    assert found == {("cps", "possible"), ("mrs", "possible")}


def test_the_flash_copy_of_data_is_executable_where_the_grant_says_so() -> None:
    code = Load(FLASH, halfwords(0x4770, 0xF3EF))
    data = Load(0x20000000, halfwords(0x8010, 0xB672), READ_WRITE, load_address=FLASH + 4)
    elf = write_elf([code, data], entry=FLASH + 1)
    assert scan_bytes(elf, "x", Policy()).verdict == "accept"
    grant = Grant("flash", "code", FLASH, 0x1000)
    found = scan_bytes(elf, "x", Policy(domain="vm", grants=(grant,))).findings
    assert [(f.rule, f.address) for f in found] == [("mrs", FLASH + 2), ("cps", FLASH + 6)]


def test_a_flood_is_counted_and_certain_findings_stay_in_sight() -> None:
    flood = halfwords(0x4770, 0xBF00, *[0xB672] * 5000, 0xB673, 0x4770)
    report = scan_bytes(write_elf([Load(FLASH, flood)], entry=FLASH + 4 + 10000 + 1), "x", Policy())
    assert report.verdict == "reject"
    assert [f.certainty for f in report.findings].count("certain") == 1
    assert "4001 more than are listed" in [f.text for f in report.findings]


def test_loaded_constants_are_not_read_as_instructions_that_trap(
    build: Build, strip: Strip
) -> None:
    """FreeRTOS starts its first task with an SVC that never returns; a literal pool follows."""
    elf = strip(
        build(".thumb_func\n_start: b 1f\n1: ldr r0, =0xe000ed08\n svc 245\n.align 2\n.ltorg\n")
    )
    assert [f.rule for f in scan_file(elf).findings] == ["ppb"]


@pytest.mark.parametrize("before", range(4))
def test_instructions_lie_across_the_pieces_that_are_read_at_a_time(before: int) -> None:
    """Wide instructions whose second half would be a mask, over and over."""
    code = halfwords(*[0xBF00] * before, *[0xF240, 0xB672] * (1 << 18), 0x4770)
    report = scan_bytes(write_elf([Load(FLASH, code)], entry=FLASH + 1), "x", Policy())
    assert {f.certainty for f in report.findings if f.rule == "cps"} == {"possible"}


def test_behind_a_jump_with_another_instruction_inside_nothing_is_reached() -> None:
    """Both ways through the jump's two halves end at the same place."""
    code = halfwords(0xF000, 0xBD10, 0xB672)  # b.w far away, or pop {r4, pc}; then cpsid i
    entries = [FLASH, FLASH + 2]
    report = scan_bytes(code, "x", Policy(), "armv7em", base=FLASH, entries=entries)
    assert graded(report) == [("cps", "possible"), ("outside", "certain")]
