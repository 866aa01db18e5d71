"""Loads and stores at constant addresses: a constant followed through straight-line code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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


def follow(
    space: CodeSpace, listed: Flags, disassembler: ThumbDisassembler, constant: Constant
) -> Iterator[tuple[int, Access]]:
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
    for instruction in disassembler.detailed.disasm(space.code(start, 3 * _AFTER), base):
        if instruction.address < origin:
            state.step(instruction)
            continue
        if instruction.address == origin:
            state.begin(instruction, constant.value)
            continue
        for access in state.accesses(instruction):
            seen = True
            yield start + (instruction.address - base) // 2, access
        left -= 1
        if not state.step(instruction) or not state.followed or not left:
            break
    if not seen and constant.literal:
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


class _State:
    """Registers with known values, and which of them point where the followed constant does."""

    def __init__(self, space: CodeSpace) -> None:
        self._space = space
        self._known: dict[int, int] = {}
        self.followed: dict[int, bool] = {}
        """Register to whether its value is exact, or has an unknown index added."""

    def begin(self, instruction: Any, value: int) -> None:
        """Run the instruction that makes the constant."""
        register = instruction.operands[0].reg
        self._known[register] = value
        self.followed = {register: True}

    def accesses(self, instruction: Any) -> Iterator[Access]:
        """What the instruction loads or stores through a followed register."""
        name, operands = instruction.mnemonic, instruction.operands
        kind: AccessKind = "write" if name.startswith(("st", "vst")) else "read"
        for operand in operands:
            if operand.type == CS_OP_MEM and operand.mem.base in self.followed:
                address, exact = self._effective(operand)
                value = None
                if kind == "write" and operands[0].type == CS_OP_REG:
                    value = self._known.get(operands[0].reg)
                yield Access(kind, address, value, exact)
        if name.startswith(("stm", "ldm")) and operands[0].reg in self.followed:
            register = operands[0].reg
            yield Access(kind, self._known[register], None, self.followed[register])

    def _effective(self, operand: Any) -> tuple[int, bool]:
        memory = operand.mem
        address = self._known[memory.base] + memory.disp
        exact = self.followed[memory.base]
        if memory.index:
            index = self._known.get(memory.index)
            exact = exact and index is not None
            address += (index or 0) << (operand.shift.value if operand.shift.type else 0)
        return address & _MASK, exact

    def step(self, instruction: Any) -> bool:
        """Run an instruction; False where straight-line code ends."""
        _, written = instruction.regs_access()
        certain = instruction.cc in (ARM_CC_AL, ARM_CC_INVALID)
        if instruction.group(CS_GRP_CALL):
            self._forget(_CLOBBERED)
            return True
        if ARM_REG_PC in written:
            return not certain
        result = self._result(instruction) if certain else None
        self._forget(written)
        if result is not None:
            register, value, follows = result
            self._known[register] = value & _MASK
            if follows is not None:
                self.followed[register] = follows
        return True

    def _forget(self, registers: Any) -> None:
        for register in registers:
            self._known.pop(register, None)
            self.followed.pop(register, None)

    def _result(self, instruction: Any) -> tuple[int, int, bool | None] | None:
        """Register, value and followed state after an instruction whose result is known."""
        operands = instruction.operands
        if not operands or operands[0].type != CS_OP_REG:
            return None
        name = instruction.mnemonic.partition(".")[0]
        target = operands[0].reg
        if instruction.writeback:
            return self._written_back(instruction)
        if name == "ldr" and operands[1].type == CS_OP_MEM and operands[1].mem.base == ARM_REG_PC:
            place = ((instruction.address + 4) & ~3) + operands[1].mem.disp
            word = self._space.word(place)
            return None if word is None else (target, word, None)
        if name in ("mov", "movs", "movw") and operands[1].type == CS_OP_IMM:
            return target, operands[1].imm, None
        if name == "movt" and target in self._known:
            return target, self._known[target] & 0xFFFF | operands[1].imm << 16, None
        if name in ("mov", "movs") and operands[1].shift.type == ARM_SFT_INVALID:
            source = operands[1].reg
            known = self._known.get(source)
            return None if known is None else (target, known, self.followed.get(source))
        return self._computed(name, operands)

    def _computed(self, name: str, operands: Any) -> tuple[int, int, bool | None] | None:
        """Sums and the like; an unknown index added to a followed base leaves it followed."""
        target, left, right = operands[0].reg, operands[-2], operands[-1]
        if left.type != CS_OP_REG or left.reg not in self._known:
            left, right = right, left
        if left.type != CS_OP_REG or left.reg not in self._known or len(operands) > 3:
            return None
        known, follows = self._known[left.reg], self.followed.get(left.reg)
        amount = right.imm if right.type == CS_OP_IMM else self._known.get(right.reg)
        if right.shift.type == ARM_SFT_LSL and amount is not None:
            amount <<= right.shift.value
        if name in ("add", "adds", "addw"):
            if amount is not None:
                return target, known + amount, follows
            return None if follows is None else (target, known, False)
        if right is not operands[-1] or amount is None:
            return None
        if name in ("sub", "subs", "subw"):
            return target, known - amount, follows
        if name in ("orr", "orrs"):
            return target, known | amount, follows
        if name in ("lsl", "lsls"):
            return target, known << (amount & 31), None
        return None

    def _written_back(self, instruction: Any) -> tuple[int, int, bool | None] | None:
        """The base register of a load or store that changes it."""
        for position, operand in enumerate(instruction.operands):
            if operand.type == CS_OP_MEM and operand.mem.base in self._known:
                base = operand.mem.base
                change = operand.mem.disp
                if instruction.post_index:
                    last = instruction.operands[-1]
                    if position + 1 == len(instruction.operands) or last.type != CS_OP_IMM:
                        return None
                    change = -last.imm if last.subtracted else last.imm
                return base, self._known[base] + change, self.followed.get(base)
        return None
