"""Numbers that an original asks for (a mark at a stack's end, a state): no random word is one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from capstone import arm_const

from porter.context_switch.proof.derived import (
    UNKNOWN,
    USUAL,
    WORD,
    Value,
    compared,
    result,
    tested,
)
from porter.context_switch.proof.image import CODE, DATA, PAGE, RETURN, STATE, Image
from porter.context_switch.proof.thumb import Instruction
from porter.context_switch.proof.walk import reachable

# Code, data, and what is no memory at all on a Cortex-M.
_PLACES = ((CODE, RETURN + PAGE), (DATA, STATE + PAGE), (0xE000_0000, 0xE010_0000))
_NARROW = frozenset({"ldrb", "ldrh", "ldrsb", "ldrsh", "strb", "strh"})
_BYTES, _HALVES = 0x0101_0101, 0x0001_0001
_NAMES = {"addw": "add", "subw": "sub", "orr": "or", "eor": "xor", "lsl": "sll", "lsr": "srl"}
_ASKING = {"cmp": "sub", "teq": "xor", "cmn": "add", "tst": "and"}
_EXTENSIONS = {"uxtb": 0xFF, "uxth": 0xFFFF}
_DESTROYED = ("r0", "r1", "r2", "r3", "r12", "lr")  # by a call


def rare(asked: Iterable[int], narrow: bool) -> tuple[int, ...]:
    """Which of them states should hold too; each byte or half of a word where the code looks at
    less than words (`narrow`). Addresses are none of them: pointers lead to memory."""
    found = set(asked)
    if narrow:
        found |= {word * _BYTES for word in found if 0 < word < 1 << 8}
        found |= {word * _HALVES for word in found if 0 < word < 1 << 16}
    return tuple(sorted(word for word in found - USUAL if not _is_place(word)))


def _is_place(word: int) -> bool:
    return any(start <= word < end for start, end in _PLACES)


def asked_by(image: Image) -> tuple[int, ...]:
    """What a Cortex-M's function compares with: immediates, and words from beside the code."""
    reached = reachable(image, False, into_data=True)
    code = [reached[address] for address in sorted(reached)]
    reader = _Reader(image)
    for it in code:
        reader.follow(it)
    return rare(reader.found, any(it.name in _NARROW for it in code))


class _Reader:
    """Goes through a function's instructions as they stand, whatever the order they run in."""

    def __init__(self, image: Image) -> None:
        self.found: set[int] = set()
        self._image = image
        self._known: dict[str, Value] = {}
        self._flags: Callable[[str], Iterable[int]] = lambda code: ()

    def follow(self, it: Instruction) -> None:
        """The next one."""
        for code in {it.branch, *it.it} - {""}:
            self.found |= set(self._flags(code))
        if it.name in ("bl", "blx"):
            for name in _DESTROYED:
                self._known.pop(name, None)
        if it.raw is None or it.branch or it.name in ("b", "bl", "blx"):
            return
        words = [self._word(it, operand) for operand in it.raw.operands]
        if it.name in ("cbz", "cbnz"):
            self.found |= set(compared(words[0], 0))
        elif it.name in _ASKING:
            self._flags = _question(it.name, words[0], words[1])
        else:
            self._write(it, words)

    def _write(self, it: Instruction, words: list[Value]) -> None:
        value = self._value(it, words)
        written = [it.register(number) for number in it.raw.regs_access()[1]]
        for register in written:
            self._known.pop(register, None)
        if it.raw.operands and it.raw.operands[0].type == arm_const.ARM_OP_REG:
            target = it.register(it.raw.operands[0].reg)
            self._known |= {target: value} if target in written else {}
        if it.raw.update_flags:
            self._flags = lambda code: tested(value)

    def _word(self, it: Instruction, operand: Any) -> Value:
        if operand.type == arm_const.ARM_OP_IMM:
            return int(operand.imm) & WORD
        if operand.type == arm_const.ARM_OP_REG and operand.shift.type == arm_const.ARM_SFT_INVALID:
            return self._known.get(it.register(operand.reg), UNKNOWN)
        return UNKNOWN

    def _value(self, it: Instruction, words: list[Value]) -> Value:
        """What it leaves in its first register."""
        if it.name == "ldr" and it.reads_behind_itself:
            constant = self._image.word((it.address + 4 & ~3) + it.raw.operands[1].mem.disp)
            return UNKNOWN if constant is None else constant
        match it.name, words:
            case "mov" | "movs" | "movw", [_, word]:
                return word
            case "mvn", [_, word]:
                return result("xor", word, WORD)
            case "movt", [int(low), int(high)]:
                return low & 0xFFFF | high << 16
            case "uxtb" | "uxth", [_, word]:
                return result("and", word, _EXTENSIONS[it.name])
            case "ubfx", [_, word, int(low), int(width)]:
                return result("and", result("srl", word, low), (1 << width) - 1)
            case "rsb", [*_, left, right]:
                return result("sub", right, left)
            case "bic", [*_, left, int(right)]:
                return result("and", left, ~right & WORD)
            case _, [*_, left, right]:
                return result(_NAMES.get(it.name, it.name), left, right)
        return UNKNOWN


def _question(name: str, left: Value, right: Value) -> Callable[[str], Iterable[int]]:
    """What a comparison's flags ask for, by the condition on them."""
    if name == "cmp":
        return lambda code: compared(left, right, code)
    return lambda code: tested(result(_ASKING[name], left, right))
