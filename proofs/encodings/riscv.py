"""RISC-V: all compressed instructions, all of SYSTEM, every opcode with every function code."""

from __future__ import annotations

import re

from proofs.encodings.comparison import UNKNOWN, Comparison, Reason, Row, compare
from proofs.encodings.llvm import Decoder, Encoding, decode

ARCH = "rv32imac"
CORE = Decoder("riscv32-unknown-elf", "+m,+a,+c")
LARGER = Decoder("riscv32-unknown-elf", "+m,+a,+c,+f,+d,+v")

_SYSTEM = 0x73
_CUSTOM = (0x0B, 0x2B, 0x5B, 0x7B)
"""The standard's map of opcodes (volume I, table 24.1) leaves these to vendors."""

_RULES = {
    "ecall": "ecall", "ebreak": "ebreak", "c.ebreak": "ebreak", "wfi": "wfx", "fence.i": "fence-i",
}  # fmt: skip
_FAMILIES = (
    (re.compile(r"csr\w+|rd(cycle|time|instret)h?|f[rs]csr|f[rs]rm|f[rs]flags|f[rs]rmi"), "csr"),
    (re.compile(r"[msud]ret|[sh]fence\.\w+|hfence\.\w+|sinval\.\w+|hinval\.\w+|hlv.*|hsv.*"),
     "privileged"),
    (re.compile(r"cbo\.\w+"), "cbo"),
    (re.compile(r"v\w+(\.\w+)*"), "vector"),
    (re.compile(r"(c\.)?f(?!ence)\w+(\.\w+)*"), "fpu"),
)  # fmt: skip
_STANDARD_OF_USERS = (*range(0x000, 0x004), *range(0xC00, 0xC20), *range(0xC80, 0xCA0))


def wanted(arch: str, row: Row) -> str | None:
    """What should be told of an encoding."""
    value = _value(row)
    if len(row.encoding) == 2 and value & 0x7F in _CUSTOM:
        return "custom"
    text = row.text or row.elsewhere
    if text is None:
        return None
    mnemonic = text.split()[0]
    if mnemonic == "unimp":  # a write to a register that can't be, or no instruction at all
        return "csr" if len(row.encoding) == 2 else None
    if mnemonic in _RULES:
        return _RULES[mnemonic]
    return next((rule for form, rule in _FAMILIES if form.fullmatch(mnemonic)), None)


def _value(row: Row) -> int:
    return row.encoding[0] | (row.encoding[1] << 16 if len(row.encoding) == 2 else 0)


def _is_allowed(arch: str, row: Row) -> bool:
    value = _value(row)
    is_register = value & 0x7F == _SYSTEM and value >> 12 & 3 != 0
    return not row.found and is_register and value >> 20 in _STANDARD_OF_USERS


def _is_shared(arch: str, row: Row) -> bool:
    return row.elsewhere is not None and not row.found and row.encoding[0] & 0xE003 == 0xA002


REASONS = (
    Reason("C.FSDSP, where Hazard3 and others have CM.PUSH and CM.POP (Zcmp)", _is_shared),
    Reason("registers that the standard opens to user mode", _is_allowed),
    UNKNOWN,
)


def compressed() -> list[Encoding]:
    """All instructions of one halfword."""
    return [(half,) for half in range(0x10000) if half & 3 != 3]


def full() -> list[Encoding]:
    """SYSTEM with all twelve upper bits; others with all function codes."""
    registers = [(first, second) for first in (0, 1, 10, 31) for second in (0, 1, 31)]
    values = {
        upper << 20 | source << 15 | code << 12 | target << 7 | _SYSTEM
        for upper in range(0x1000)
        for code in range(8)
        for source, target in registers
    }
    values |= {
        upper << 25 | second << 20 | first << 15 | code << 12 | first << 7 | opcode
        for opcode in range(3, 0x80, 4)
        if opcode & 0x1F != 0x1F
        for code in range(8)
        for upper in range(0x80)
        for second in (0, 1, 2, 4, 31)
        for first in (0, 9, 31)
    }
    return sorted((value & 0xFFFF, value >> 16) for value in values)


def compare_all() -> Comparison:
    """Both lengths."""
    result = Comparison()
    for encodings in (compressed(), full()):
        elsewhere = decode(LARGER, encodings)
        result.add(compare(ARCH, CORE, elsewhere, encodings, wanted, REASONS))
    return result
