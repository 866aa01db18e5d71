"""Every encoding of the silent instructions, at every parity, against the manual's definition."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from scanner.arch.registry import architecture
from scanner.decode.code_space import CodeSpace, Piece
from scanner.decode.marks import Marks
from scanner.decode.search import search
from scanner.decode.thumb import Thumb
from scanner.policy import Policy
from scanner.scan import scan_bytes
from scanner.target import Target
from tests.scanner.elf_writer import FLASH, STARTED, Load, halfwords, write_elf

READABLE = {0, 2, 4, 6, 20}
WRITABLE = {0, 1, 2, 3}


def silent_indices(words: np.ndarray[tuple[int], np.dtype[np.uint16]]) -> dict[int, str]:
    """Halfwords at which the search finds a silent instruction, and the rule."""
    space = CodeSpace([Piece(FLASH, memoryview(words.tobytes()), 0)])
    nowhere = Marks.none(len(space))
    found: dict[int, str] = {}
    for hits in search(space, Thumb(), architecture("armv7em").rules, nowhere):
        for index, value in zip(hits.indices.tolist(), hits.values.tolist(), strict=True):
            judgement = hits.rule.judge(value, Target("armv7em"))
            if judgement is not None and judgement.severity == "silent":
                found[index] = hits.rule.id
    return found


def special_register_encodings(first: int) -> list[tuple[int, int]]:
    """All halfword pairs of MSR (0xF38x) or MRS (0xF3Ex), should-be-zero bits in every state."""
    return [(first | low, 0x8000 | rest) for low in range(32) for rest in range(0x10000)
            if rest & 0xD000 == 0]  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "first", "allowed"),
    [("msr", 0xF380, WRITABLE | {4, 5, 6, 7}), ("mrs", 0xF3E0, READABLE)],
)
@pytest.mark.parametrize("filler", [(), (0xBF00,)], ids=["aligned", "shifted"])
def test_every_special_register_access(
    rule: str, first: int, allowed: set[int], filler: tuple[int, ...]
) -> None:
    encodings = special_register_encodings(first)
    words = np.array([*filler, *itertools.chain(*encodings)], dtype=np.uint16)
    expected = {
        len(filler) + 2 * number: rule
        for number, (_, second) in enumerate(encodings)
        if second & 0xFF not in allowed
    }
    assert silent_indices(words) == expected


@pytest.mark.parametrize("filler", [(), (0xBF00,)], ids=["aligned", "shifted"])
def test_every_halfword_value(filler: tuple[int, ...]) -> None:
    """Of all 16-bit values, CPS with every should-be-zero pattern and nothing else is silent."""
    values = [(value, 0x0000) for value in range(0x10000)]
    words = np.array([*filler, *itertools.chain(*values)], dtype=np.uint16)
    expected = {len(filler) + 2 * value: "cps" for value in range(0xB660, 0xB680)}
    assert silent_indices(words) == expected


def found_in(
    arch: str, words: np.ndarray[tuple[int], np.dtype[np.uint16]], listed: bool
) -> dict[int, set[str]]:
    """Rules by the halfword at which they find something; all of it is code, or nothing is."""
    core = architecture(arch)
    space = CodeSpace([Piece(FLASH, memoryview(words.tobytes()), 0)])
    marks = Marks.at(len(space), np.arange(len(space) if listed else 0))
    found: dict[int, set[str]] = {}
    for hits in search(space, core.isa, core.rules, marks):
        for index, value in zip(hits.indices.tolist(), hits.values.tolist(), strict=True):
            if hits.rule.judge(value, Target(arch, Policy(fpu=False))) is not None:
                found.setdefault(index, set()).add(hits.rule.id)
    return found


@pytest.mark.parametrize("filler", [(), (0xBF00,)], ids=["aligned", "shifted"])
def test_every_way_between_the_worlds(filler: tuple[int, ...]) -> None:
    """ARMv8-M: all of BXNS, BLXNS, SG, VLLDM and VLSTM, anywhere and nothing besides."""
    narrow = [(value, 0x0000) for value in range(0x4700, 0x4800)]
    wide = [(0xEC20 | low, second) for low in range(32) for second in range(0x10000)
            if second & 0x0F00 == 0x0A00]  # fmt: skip
    encodings = [*narrow, *wide, (0xE97F, 0xE97F)]
    words = np.array([*filler, *itertools.chain(*encodings)], dtype=np.uint16)
    expected = {
        len(filler) + 2 * number: {
            "bxns" if first < 0x4800 else "vlstm" if second != 0xE97F else "sg"
        }
        for number, (first, second) in enumerate(encodings)
        if first >= 0x4800 or first & 4
    }
    found = found_in("armv8m.main", words, listed=False)
    silent = {at: rules & {"bxns", "vlstm", "sg"} for at, rules in found.items()}
    assert {at: rules for at, rules in silent.items() if rules} == expected


def narrow_rules(value: int, arch: str) -> set[str]:
    """What the manuals say of a halfword as an instruction of its own."""
    found = set()
    if 0xB660 <= value < 0xB680:
        found.add("cps")
    if value & 0xFFF7 == 0xB650:
        found.add("setend")
    if value >> 8 == 0xDF and value != 0xDF00 | 245:
        found.add("svc")
    if value >> 8 == 0xBE:
        found.add("bkpt")
    if value in (0xBF20, 0xBF30, 0xBF40):
        found.add("wfx")
    if value & 0xFF04 == 0x4704:
        found.add("bxns")
    if value & 0xFFC0 == 0xBA80:
        found.add("foreign")
    if arch == "armv6m" and (value & 0xF500 == 0xB100 or (value >> 8 == 0xBF and value & 0xF)):
        found.add("foreign")
    return found


@pytest.mark.parametrize("arch", ["armv6m", "armv7m", "armv7em", "armv8m.main"])
def test_every_narrow_instruction(arch: str) -> None:
    words = np.array([w for v in range(0xE800) for w in (v, 0)], dtype=np.uint16)
    expected = {2 * value: narrow_rules(value, arch) for value in range(0xE800)}
    assert found_in(arch, words, listed=True) == {at: r for at, r in expected.items() if r}


def wide_rules(first: int, second: int, arch: str) -> set[str]:
    """What the manuals say of a wide instruction."""
    value, found = first << 16 | second, set()
    number = second & 0xFF
    if value & 0xFFE0D000 == 0xF3808000 and number > 3:
        found.add("msr")
    if value & 0xFFE0D000 == 0xF3E08000 and number not in (0, 2, 4, 6, 20):
        found.add("mrs")
    if value & 0xFFF0D7FF in (0xF3A08002, 0xF3A08003, 0xF3A08004):
        found.add("wfx")
    if arch == "armv6m":
        has = value & 0xF800D000 == 0xF000D000 or value & 0xFFF0F000 == 0xF7F0A000
        has |= value & 0xFFE0D000 in (0xF3808000, 0xF3E08000)
        has |= 0xF3BF8F40 <= value < 0xF3BF8F70
        return found if has else found | {"foreign"}
    lazy = arch == "armv8m.main" and value & 0xFFE00F00 == 0xEC200A00
    if first & 0xEC00 == 0xEC00 and not lazy:
        found.add("coproc")
    smc_hvc = value & 0xFFF0F000 in (0xF7F08000, 0xF7E08000)
    states = first & 0xFFC0 in (0xE800, 0xE980)
    cps = value & 0xFFF0D000 == 0xF3A08000 and value & 0x700
    jazelle_or_return = value & 0xFFE0D000 == 0xF3C08000
    vectors, debug = first & 0xFF10 == 0xF900, value & 0xFFF0D000 == 0xF7808000
    if (
        vectors
        or debug
        or smc_hvc
        or states
        or cps
        or jazelle_or_return
        or value & 0xF800D001 == 0xF000C000
    ):
        found.add("foreign")
    if arch == "armv8m.main":
        found |= {"vlstm"} if lazy else set()
        found |= {"tt"} if value & 0xFFF0F000 == 0xE840F000 else set()
        found |= {"sg"} if value == 0xE97FE97F else set()
    return found


@pytest.mark.parametrize("arch", ["armv6m", "armv7m", "armv7em", "armv8m.main"])
def test_wide_instructions(arch: str) -> None:
    """Every first half with the second halves that decide, and with random ones."""
    generator = random.Random(arch)
    deciding = [0x8000, 0x8002, 0x8003, 0x8004, 0x8700, 0x8810, 0x8F4F, 0xA000, 0xC000, 0xD000,
                0xE97F, 0xF000, 0x0A00, 0x0B10, 0x0010, 0xE800, 0xE801]  # fmt: skip
    pairs = [
        (first, second)
        for first in range(0xE800, 0x10000)
        for second in (*deciding, *(generator.randrange(0x10000) for _ in range(8)))
    ]
    words = np.array(list(itertools.chain(*pairs)), dtype=np.uint16)
    found = found_in(arch, words, listed=True)
    aligned = {at // 2: rules for at, rules in found.items() if at % 2 == 0}
    expected = {number: wide_rules(*pair, arch) for number, pair in enumerate(pairs)}
    wrong = [
        (f"{pairs[n][0]:04x} {pairs[n][1]:04x}", aligned.get(n, set()), rules)
        for n, rules in expected.items()
        if aligned.get(n, set()) != rules
    ]
    assert wrong[:20] == []


@pytest.mark.parametrize(
    "code",
    [(0xB672,), (0xF3EF, 0x8010), (0xF380, 0x8811)],
    ids=["cpsid i", "mrs primask", "msr basepri"],
)
@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize("base", [FLASH, FLASH + 2, FLASH + 1])
def test_every_offset_from_the_segment_start(
    code: tuple[int, ...], position: int, base: int
) -> None:
    data = halfwords(*[0x0000] * position, *code, 0x0000)
    odd = b"\xff" if base % 2 else b""
    elf = write_elf([Load(base, odd + data), STARTED], entry=STARTED.address + 1)
    report = scan_bytes(elf, "x", Policy())
    assert [f.address for f in report.findings] == [base + len(odd) + 2 * position]
    assert report.verdict == "warn"


def test_offset_is_where_the_bytes_stand_in_the_file() -> None:
    loads = [Load(FLASH, halfwords(0, 0)), Load(FLASH + 4, halfwords(0, 0xB672)), STARTED]
    elf = write_elf(loads, entry=STARTED.address + 1)
    (finding,) = scan_bytes(elf, "x", Policy()).findings
    assert finding.offset is not None
    assert elf[finding.offset : finding.offset + 2] == halfwords(0xB672)
