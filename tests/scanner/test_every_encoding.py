"""Every encoding of the silent instructions, at every parity, against the manual's definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from scanner.arch.registry import architecture
from scanner.decode.code_space import CodeSpace, Piece
from scanner.decode.search import search
from scanner.decode.thumb import Thumb
from scanner.policy import Policy
from scanner.scan import scan_bytes
from scanner.target import Target
from tests.scanner.elf_writer import FLASH, Load, halfwords, write_elf

READABLE = {0, 2, 4, 6, 20}
WRITABLE = {0, 1, 2, 3}


def silent_indices(words: np.ndarray[tuple[int], np.dtype[np.uint16]]) -> dict[int, str]:
    """Halfwords at which the search finds a silent instruction, and the rule."""
    space = CodeSpace([Piece(FLASH, memoryview(words.tobytes()), 0)])
    nowhere = np.zeros(len(space), dtype=np.bool_)
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
    report = scan_bytes(write_elf([Load(base, odd + data)]), "x", Policy())
    assert [f.address for f in report.findings] == [base + len(odd) + 2 * position]
    assert report.verdict == "warn"


def test_offset_is_where_the_bytes_stand_in_the_file() -> None:
    elf = write_elf([Load(FLASH, halfwords(0, 0)), Load(FLASH + 4, halfwords(0, 0xB672))])
    (finding,) = scan_bytes(elf, "x", Policy()).findings
    assert finding.offset is not None
    assert elf[finding.offset : finding.offset + 2] == halfwords(0xB672)
