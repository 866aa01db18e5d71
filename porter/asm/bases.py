"""Which registers of assembler text get to be addresses: that an access goes by, or what one is
calculated from. Without flow: a register that is one anywhere in the text is one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.source.asm_text import Instruction

_REGISTER = re.compile(r"(?:r\d{1,2}|ip|lr|fp|sl|sb|[xast]\d{1,2})", re.IGNORECASE)
_WORDS = re.compile(r"[A-Za-z]\w*")
_BRACKETED = re.compile(r"[\[(]([^\])]*)")
_RETURNS = re.compile(r"m?ret|jr (?:ra|x1)|bx lr|mov pc, lr|pop \{.*\bpc\}")
_CALLS = re.compile(r"blx?|call|jal|jalr|svc|ecall")
_LEADS_ON = re.compile(r"bx?|tail|j|jr")
_ARGUMENTS = re.compile(r"r[0-3]|a[0-7]|r12|ip|t\d")
"""What a call may hand on: of the others its procedure knows nothing."""
_MANY = re.compile(r"v?(?:ldm|stm)")


def bases(text: Sequence[Instruction]) -> frozenset[str]:
    """Names of registers, as the text writes them in lower case."""
    found = {name for it in text for name in _accessed(it)}
    while True:
        grown = found | {
            name
            for it in text
            if it.operands and it.operands[0].lower() in found
            for operand in it.operands[1:]
            for name in _registers(operand)
        }
        if grown == found:
            return frozenset(found)
        found = grown


def may_be_base(text: Sequence[Instruction], index: int, accessed: frozenset[str]) -> bool:
    """Whether an access may go by the register that an instruction fills: one of the text's own,
    or of code that it leads to. What is only returned is a number."""
    into = text[index].operands[0].lower() if text[index].operands else ""
    if _REGISTER.fullmatch(into) is None or into in accessed:
        return True
    for it in text[index + 1 :]:
        if _RETURNS.fullmatch(str(it).lower()):
            return False
        if _LEADS_ON.fullmatch(it.mnemonic):
            return True
        if _CALLS.fullmatch(it.base) and _ARGUMENTS.fullmatch(into):
            return True
        if it.operands[:1] == (text[index].operands[0],) and not it.mnemonic.startswith("s"):
            return False
    return False


def _accessed(it: Instruction) -> list[str]:
    """Registers of an access's address: in brackets, or in front of a list."""
    places = [part for operand in it.operands for part in _BRACKETED.findall(operand)]
    if _MANY.match(it.mnemonic):
        places += it.operands[:1]
    return [name for part in places for name in _registers(part)]


def _registers(text: str) -> list[str]:
    return [it for it in map(str.lower, _WORDS.findall(text)) if _REGISTER.fullmatch(it)]
