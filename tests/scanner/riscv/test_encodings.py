"""Every encoding of what is forbidden, at every parity, against the manual's definition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from scanner.arch.riscv import RULES
from scanner.decode.code_space import CodeSpace, Piece
from scanner.decode.marks import Marks
from scanner.decode.riscv import RiscV
from scanner.decode.search import search
from scanner.policy import Policy
from scanner.rules import csr
from scanner.rules.model import InstructionRule
from scanner.scan import scan_bytes
from scanner.target import Target
from tests.scanner.elf_writer import FLASH, Header, Load, write_elf

Words = npt.NDArray[np.uint32]
RISCV = 243
FORMS = (1, 2, 3, 5, 6, 7)
GENERIC, WCH = Target("rv32imafc"), Target("rv32imafc", profile="qingke-v4")
RULE = {rule.id: rule for rule in RULES}


def matches(halves: npt.NDArray[np.uint16], rule: InstructionRule, known: bool) -> set[int]:
    """Indices that the search reports, where all or no halfwords are known to begin code."""
    space = CodeSpace([Piece(FLASH, memoryview(halves.tobytes()), 0)])
    starts = Marks.at(len(space), np.arange(len(space) if known else 0))
    found = [hits.indices for hits in search(space, RiscV(), (rule,), starts)]
    return set(np.concatenate(found).tolist()) if found else set()


def joined(halves: npt.NDArray[np.uint16]) -> Words:
    """The 32-bit value at every halfword but the last."""
    wide = halves.astype(np.uint32)
    return wide[:-1] | wide[1:] << np.uint32(16)


def csr_words(form: int) -> Words:
    """CSR instructions of a form: all 4096 registers with all sources and targets."""
    rest = np.arange(1 << 22, dtype=np.uint32)
    number, source, target = rest >> 10, rest >> 5 & 31, rest & 31
    return number << 20 | source << 15 | np.uint32(form << 12) | target << 7 | np.uint32(0x73)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shift", [0, 1], ids=["aligned", "shifted"])
def test_every_access_to_every_register(form: int, shift: int) -> None:
    words = csr_words(form)[:: 1 if form == 1 and shift else 7].copy()
    halves = np.concatenate([np.zeros(shift, np.uint16), words.view(np.uint16)])
    value = joined(halves)
    is_csr = (value & 0x7F == 0x73) & (value >> 12 & 3 != 0)
    number = value >> 20
    open_to_users = (number >> 8 & 3 == 0) & (number < 0xC00) | (number >= 0xCC0) & (number < 0xD00)
    assert matches(halves, csr.RULE, known=False) == set(
        np.flatnonzero(is_csr & open_to_users).tolist()
    )


def test_known_code_is_searched_for_every_register() -> None:
    words = np.concatenate([csr_words(form)[::61] for form in FORMS])
    halves = words.view(np.uint16)
    value = joined(halves)
    is_csr = (value & 0x7F == 0x73) & (value >> 12 & 3 != 0)
    assert matches(halves, csr.RULE, known=True) == set(np.flatnonzero(is_csr).tolist())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("source", [0, 1, 31])
def test_what_each_of_the_4096_registers_is_judged(form: int, source: int) -> None:
    """From the number alone: bits 9 and 8 are the privilege, 11 and 10 say read-only."""
    writes = form in (1, 5) or source != 0
    for number in range(0x1000):
        value = number << 20 | source << 15 | form << 12 | 10 << 7 | 0x73
        judgement = csr.RULE.judge(value, GENERIC)
        severity = None if judgement is None else judgement.severity
        if number >> 8 & 3 or (number >> 10 == 3 and writes):
            assert severity == "traps", hex(number)
        elif 1 <= number <= 3 or 0xC00 <= number < 0xC20 or 0xC80 <= number < 0xCA0:
            assert severity is None, hex(number)
        elif number in (8, 9, 10, 15, 0x11, 0x15, 0x17, 0xC20, 0xC21, 0xC22):
            assert severity == "traps", hex(number)
        else:
            assert severity == "silent", hex(number)


@pytest.mark.parametrize("number", [0x800, 0x804])
@pytest.mark.parametrize("form", FORMS)
def test_escapes_of_ch32v307_in_every_form(number: int, form: int) -> None:
    for rest in range(1 << 10):
        value = number << 20 | rest >> 5 << 15 | form << 12 | (rest & 31) << 7 | 0x73
        judgement = csr.RULE.judge(value, WCH)
        assert judgement is not None
        assert (judgement.severity, judgement.strict) == ("silent", True)


def every(opcode: int, function: int | None = None, step: int = 1) -> Words:
    """All 32-bit instructions of an opcode (and function), or each `step`-th of them."""
    if function is None:
        rest = np.arange(0, 1 << 25, step, dtype=np.uint32)
        return rest << np.uint32(7) | np.uint32(opcode)
    rest = np.arange(0, 1 << 22, step, dtype=np.uint32)
    low, high = (rest & 31) << 7, rest >> 5 << 15
    return high | low | np.uint32(function << 12 | opcode)


def is_reported(rule: str, words: Words) -> bool:
    halves = words.view(np.uint16)
    found = matches(halves, RULE[rule], known=True)
    return found >= set(range(0, len(halves), 2))


def test_every_encoding_that_is_not_a_csr_access() -> None:
    for opcode in (0x0B, 0x2B, 0x5B, 0x7B):
        assert is_reported("custom", every(opcode, step=1009))
    assert is_reported("fence-i", every(0x0F, 1, step=7))
    assert is_reported("cbo", every(0x0F, 2, step=7))
    assert is_reported("vector", every(0x57, step=2003))
    assert is_reported("privileged", every(0x73, 0, step=5))
    assert is_reported("privileged", every(0x73, 4, step=11))
    for opcode in (0x07, 0x27, 0x43, 0x47, 0x4B, 0x4F, 0x53):
        assert is_reported("fpu", every(opcode, step=2003))


def test_all_of_the_system_opcode_is_forbidden_but_for_calls() -> None:
    """ECALL, EBREAK and WFI have rules of their own, WRS does nothing here."""
    policy = Policy(svc=frozenset(), wfi=False)
    target = Target("rv32imafc", policy)
    words = [word for word in every(0x73, 0).tolist() if not word & 0x000F8F80]
    for word in words:
        judged = [
            rule.judge(word, target)
            for rule in RULES
            if any(p.bits == 32 and word & p.mask == p.match for p in rule.patterns)
        ]
        allowed = word in (0x00D00073, 0x01D00073)
        assert any(judged) is not allowed, hex(word)


@pytest.mark.parametrize("position", range(5))
@pytest.mark.parametrize("base", [FLASH, FLASH + 2, FLASH + 1])
def test_every_offset_from_the_segment_start(position: int, base: int) -> None:
    code = b"\x01\x00" * position + bytes.fromhex("73900580") + b"\x82\x80"
    odd = b"\xff" if base % 2 else b""
    elf = write_elf([Load(base, odd + code)], header=Header(machine=RISCV))
    report = scan_bytes(elf, "x", Policy())
    assert [f.address for f in report.findings] == [base + len(odd) + 2 * position]


@pytest.mark.parametrize("entries", [(), (0,)])
def test_a_program_at_address_zero_is_entered_there(entries: tuple[int, ...]) -> None:
    """WCH links to 0, and its startup code has no function symbols."""
    code = bytes.fromhex("73900580 8280")
    as_elf = write_elf([Load(0, code)], entry=0, header=Header(machine=RISCV))
    raw = scan_bytes(code, "x", Policy(), arch="rv32imac", base=0, entries=entries)
    for report in (scan_bytes(as_elf, "x", Policy()), raw):
        assert [(f.rule, f.certainty) for f in report.findings] == [("csr", "certain")]


@pytest.mark.parametrize("split", [2, 4, 6])
def test_instructions_straddle_adjacent_segments(split: int) -> None:
    code = bytes.fromhex("0100 73900580 8280")
    loads = [Load(FLASH, code[:split]), Load(FLASH + split, code[split:])]
    elf = write_elf(loads, entry=FLASH, header=Header(machine=RISCV))
    report = scan_bytes(elf, "x", Policy())
    assert [(f.rule, f.address, f.certainty) for f in report.findings] == [
        ("csr", FLASH + 2, "certain")
    ]
