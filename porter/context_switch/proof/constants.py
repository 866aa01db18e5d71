"""Numbers that an original asks for (a mark at a stack's end, a state): no random word is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from capstone import arm_const

from porter.context_switch.proof.image import CODE, DATA, PAGE, RETURN, STATE, Image
from porter.context_switch.proof.states import EXC_RETURNS
from porter.context_switch.proof.thumb import Instruction
from porter.context_switch.proof.walk import is_condition, reachable

WORD = 0xFFFF_FFFF
_USUAL = frozenset({0, 1, *EXC_RETURNS})  # what states have anyway
# Code, data, and what is no memory at all on a Cortex-M.
_PLACES = ((CODE, RETURN + PAGE), (DATA, STATE + PAGE), (0xE000_0000, 0xE010_0000))
_NARROW = frozenset({"ldrb", "ldrh", "ldrsb", "ldrsh", "strb", "strh"})
_BYTES, _HALVES = 0x0101_0101, 0x0001_0001
_OPERATIONS: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "sll": lambda a, b: a << (b & 31),
    "srl": lambda a, b: a >> (b & 31),
}
_NAMES = {
    "addw": "add", "subw": "sub", "orr": "or", "eor": "xor", "lsl": "sll", "lsr": "srl",
    "cmp": "sub", "teq": "xor", "cmn": "add", "tst": "and",
}  # fmt: skip
_ASKING = frozenset({"cmp", "cmn", "tst", "teq"})


def calculated(name: str, left: int | None, right: int | None) -> int | None:
    """The result of an operation on known words; None where one isn't known."""
    if left is None or right is None or name not in _OPERATIONS:
        return None
    return int(_OPERATIONS[name](left, right)) & WORD


def met(name: str, left: int | None, right: int | None) -> Iterator[int]:
    """What an unknown word has to be for the result to be 0, of a test for it not to be."""
    known = left if right is None else right
    if known is None or (left is not None and right is not None):
        return
    if name in ("sub", "xor"):
        yield known
    elif name == "add":
        yield -known & WORD
    elif name == "and" and not any(known & word for word in _USUAL):
        yield known


def rare(asked: Iterable[int], narrow: bool) -> tuple[int, ...]:
    """Which of them states should hold too; each byte or half of a word where the code looks at
    less than words (`narrow`). Addresses are none of them: pointers lead to memory."""
    found = set(asked)
    if narrow:
        found |= {word * _BYTES for word in found if 0 < word < 1 << 8}
        found |= {word * _HALVES for word in found if 0 < word < 1 << 16}
    return tuple(sorted(word for word in found - _USUAL if not _is_place(word)))


def _is_place(word: int) -> bool:
    return any(start <= word < end for start, end in _PLACES)


def asked_by(image: Image) -> tuple[int, ...]:
    """What a Cortex-M's function compares with: immediates, and words from beside the code."""
    reached = reachable(image, False, into_data=True)
    code = [reached[address] for address in sorted(reached)]
    known: dict[str, int] = {}
    found: set[int] = set()
    for it, after in pairwise([*code, *code[-1:]]):
        if it.raw is None or it.branch:
            continue
        words = [_word(it, operand, known) for operand in it.raw.operands]
        name = _NAMES.get(it.name, it.name)
        if it.name in _ASKING or is_condition(after) or after.name in _ASKING:
            found |= set(met(name, *words[-2:])) if len(words) > 1 else set()
        value = _value(it, name, words, known, image)
        for register in it.raw.regs_access()[1] if it.name not in _ASKING else ():
            known.pop(it.register(register), None)
        if value is not None:
            known[it.register(it.raw.operands[0].reg)] = value
    return rare(found, any(it.name in _NARROW for it in code))


def _word(it: Instruction, operand: Any, known: dict[str, int]) -> int | None:
    if operand.type == arm_const.ARM_OP_IMM:
        return int(operand.imm) & WORD
    if operand.type == arm_const.ARM_OP_REG and operand.shift.type == arm_const.ARM_SFT_INVALID:
        return known.get(it.register(operand.reg))
    return None


def _value(
    it: Instruction, name: str, words: list[int | None], known: dict[str, int], image: Image
) -> int | None:
    """What it leaves in its first register, where that is known."""
    if it.name in _ASKING or not words:
        return None
    if name == "ldr" and it.reads_behind_itself:
        return image.word((it.address + 4 & ~3) + it.raw.operands[1].mem.disp)
    last = words[-1]
    if name in ("mov", "movw", "mvn"):
        return last if last is None or name != "mvn" else ~last & WORD
    if name == "movt" and last is not None:
        low = known.get(it.register(it.raw.operands[0].reg))
        return None if low is None else low & 0xFFFF | last << 16
    return calculated(name, *words[-2:]) if len(words) > 1 else None
