"""Loads and stores at constant addresses: a constant followed through straight-line code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from capstone import CS_GRP_CALL, CS_OP_IMM, CS_OP_MEM, CS_OP_REG
from capstone.arm import (
    ARM_CC_AL,
    ARM_CC_INVALID,
    ARM_REG_LR,
    ARM_REG_PC,
    ARM_REG_R0,
    ARM_REG_R1,
    ARM_REG_R2,
    ARM_REG_R3,
    ARM_REG_R12,
    ARM_SFT_INVALID,
    ARM_SFT_LSL,
)

from scanner.decode.code_space import CodeSpace
from scanner.decode.constants import Constant
from scanner.decode.disassembler import ThumbDisassembler
from scanner.decode.instruction_set import Flags
from scanner.rules.model import Access, AccessKind

_BEFORE, _AFTER = 8, 32
_CLOBBERED = (ARM_REG_R0, ARM_REG_R1, ARM_REG_R2, ARM_REG_R3, ARM_REG_R12, ARM_REG_LR)
_MASK = 0xFFFFFFFF
_DISASSEMBLER = ThumbDisassembler()


def follow(space: CodeSpace, listed: Flags, constant: Constant) -> Iterator[tuple[int, Access]]:
    """Accesses through the constant, with the index of the instruction that makes each.

    A few instructions before the constant are run too, because compilers like to prepare the value
    of a store first. Where no access is seen and the constant was made on purpose, that it was
    made is all there is to tell.
    """
    start = _beginning(listed, space, constant.index)
    base, origin = space.address(start), space.address(constant.index)
    state = _State(space)
    seen = False
    left = _AFTER
    for instruction in _DISASSEMBLER.detailed.disasm(space.code(start, 3 * _AFTER), base):
        if instruction.address < origin:
            if not state.step(instruction):
                state = _State(space)  # what follows is reached from elsewhere
            continue
        if instruction.address == origin:
            state.begin(instruction, constant)
            continue
        for access in state.accesses(instruction):
            seen = True
            yield start + (instruction.address - base) // 2, access
        left -= 1
        if not state.step(instruction) or not state.followed or not left:
            break
    if not seen and constant.whole:
        yield constant.index, Access("address", constant.value)


def _beginning(listed: Flags, space: CodeSpace, index: int) -> int:
    """An instruction some steps before, from which decoding leads to the one at index."""
    start = index
    earliest = max(index - 2 * _BEFORE, 0)
    for candidate in (np.flatnonzero(listed[earliest:index]) + earliest)[::-1].tolist():
        length = 2 if space.halfwords[candidate] >= 0xE800 else 1
        if candidate + length != start:
            break
        start = candidate
    return start


class _Value(NamedTuple):
    """A register's value; without `exact` something unknown is added to it."""

    number: int
    exact: bool = True


class _State:
    """What registers hold, and which of them point where the followed constant does."""

    def __init__(self, space: CodeSpace) -> None:
        self._space = space
        self._values: dict[int, _Value] = {}
        self.followed: set[int] = set()

    def begin(self, instruction: Any, constant: Constant) -> None:
        """Run the instruction that makes the constant."""
        register = instruction.operands[0].reg
        if constant.added:
            self.step(instruction)
        else:
            self._values[register] = _Value(constant.value)
        self.followed = {register} & self._values.keys()

    def accesses(self, instruction: Any) -> Iterator[Access]:
        """What the instruction loads or stores through a followed register."""
        name, operands = instruction.mnemonic, instruction.operands
        kind: AccessKind = "write" if name.startswith(("st", "vst")) else "read"
        for operand in operands:
            if operand.type == CS_OP_MEM and operand.mem.base in self.followed:
                address, exact = self._effective(operand)
                stored = self._register(operands[0]) if kind == "write" else None
                value = stored.number if stored is not None and stored.exact else None
                yield Access(kind, address & _MASK, value, exact)
        if name.startswith(("stm", "ldm")) and operands[0].reg in self.followed:
            address, exact = self._values[operands[0].reg]
            yield Access(kind, address, None, exact)

    def _register(self, operand: Any) -> _Value | None:
        return self._values.get(operand.reg) if operand.type == CS_OP_REG else None

    def _effective(self, operand: Any) -> _Value:
        base = self._values[operand.mem.base]
        address = base.number + operand.mem.disp
        if not operand.mem.index:
            return _Value(address, base.exact)
        index = self._values.get(operand.mem.index, _Value(0, False))
        scale = operand.shift.value if operand.shift.type else 0
        return _Value(address + (index.number << scale), base.exact and index.exact)

    def step(self, instruction: Any) -> bool:
        """Run an instruction; False where straight-line code ends."""
        _, written = instruction.regs_access()
        unconditional = instruction.cc in (ARM_CC_AL, ARM_CC_INVALID)
        if instruction.group(CS_GRP_CALL):
            self._forget(_CLOBBERED)
            return True
        if ARM_REG_PC in written:
            return not unconditional
        result = self._result(instruction) if unconditional else None
        self._forget(written)
        if result is not None:
            register, value, follows = result
            self._values[register] = _Value(value.number & _MASK, value.exact)
            if follows:
                self.followed.add(register)
        return True

    def _forget(self, registers: Iterable[int]) -> None:
        for register in registers:
            self._values.pop(register, None)
            self.followed.discard(register)

    def _result(self, instruction: Any) -> tuple[int, _Value, bool] | None:
        """Register, value, and whether it is followed, after an instruction that makes a value."""
        operands = instruction.operands
        if instruction.writeback:
            return self._written_back(instruction)
        if len(operands) not in (2, 3) or operands[0].type != CS_OP_REG:
            return None
        name = instruction.mnemonic.partition(".")[0]
        target, last = operands[0].reg, operands[-1]
        if name == "ldr" and last.type == CS_OP_MEM and last.mem.base == ARM_REG_PC:
            word = self._space.word(((instruction.address + 4) & ~3) + last.mem.disp)
            return None if word is None else (target, _Value(word), False)
        if name in ("mov", "movs", "movw"):
            value = self._operand(last)
            return None if value is None else (target, value, self._follows(last))
        if name == "movt":
            low = self._values.get(target, _Value(0, False))
            return target, _Value(low.number & 0xFFFF | last.imm << 16, low.exact), False
        return self._computed(name.removesuffix("s"), target, operands[-2], last)

    def _computed(
        self, name: str, target: int, left: Any, right: Any
    ) -> tuple[int, _Value, bool] | None:
        """A sum keeps following its base, whatever index is added; other results are values."""
        one, two = self._operand(left), self._operand(right)
        if name in ("add", "addw"):
            if one is None and two is None:
                return None
            one, two = one or _Value(0, False), two or _Value(0, False)
            total = _Value(one.number + two.number, one.exact and two.exact)
            return target, total, self._follows(left) or self._follows(right)
        if one is None or two is None or not two.exact:
            return None
        if name in ("sub", "subw"):
            return target, _Value(one.number - two.number, one.exact), self._follows(left)
        if name == "orr" and one.exact:
            return target, _Value(one.number | two.number), self._follows(left)
        if name == "lsl" and one.exact:
            return target, _Value(one.number << (two.number & 31)), False
        return None

    def _operand(self, operand: Any) -> _Value | None:
        """An immediate, or a register's value, shifted left as the instruction says."""
        if operand.type == CS_OP_IMM:
            return _Value(operand.imm & _MASK)
        value = self._register(operand)
        if value is None or operand.shift.type == ARM_SFT_INVALID:
            return value
        if operand.shift.type != ARM_SFT_LSL:
            return None
        return _Value(value.number << operand.shift.value, value.exact)

    def _follows(self, operand: Any) -> bool:
        return operand.type == CS_OP_REG and operand.reg in self.followed

    def _written_back(self, instruction: Any) -> tuple[int, _Value, bool] | None:
        """The base register of a load or store that changes it."""
        for operand in instruction.operands:
            if operand.type == CS_OP_MEM and operand.mem.base in self._values:
                base = operand.mem.base
                change = operand.mem.disp
                if instruction.post_index:
                    last = instruction.operands[-1]
                    if last.type != CS_OP_IMM:
                        return None
                    change = -last.imm if last.subtracted else last.imm
                value = self._values[base]
                return base, _Value(value.number + change, value.exact), base in self.followed
        return None
