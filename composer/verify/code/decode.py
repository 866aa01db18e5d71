"""Thumb instructions by address, with what the analysis needs of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import capstone
from capstone import arm

from composer.verify.memory import Memory

PC, LR, SP = 15, 14, 13
_NAMES = {"sb": 9, "sl": 10, "fp": 11, "ip": 12, "sp": SP, "lr": LR, "pc": PC}
_SHIFTS = {
    arm.ARM_SFT_ASR: "asr", arm.ARM_SFT_LSL: "lsl", arm.ARM_SFT_LSR: "lsr", arm.ARM_SFT_ROR: "ror",
}  # fmt: skip
_CONDITIONS = (
    "", "eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "",
)  # fmt: skip
_LONGEST = 2 + 4 * 4  # an IT instruction and the four that depend on it


@dataclass(frozen=True)
class Register:
    """A core register, shifted."""

    number: int
    shift: str
    amount: int


@dataclass(frozen=True)
class Immediate:
    """A constant."""

    value: int


@dataclass(frozen=True)
class Address:
    """A memory operand: base + index shifted + offset. `base` -1: no register of the core."""

    base: int
    index: int | None
    subtract: bool
    shift: int
    offset: int


@dataclass(frozen=True)
class Other:
    """A register of another kind: floating-point, special."""

    name: str


Operand = Register | Immediate | Address | Other


@dataclass(frozen=True)
class Instruction:
    """One instruction; `condition` '' means always."""

    address: int
    size: int
    name: str
    text: str
    condition: str
    sets_flags: bool
    writes_back: bool
    post_indexed: bool
    operands: tuple[Operand, ...]
    reads: int = 0  # core registers as bits
    writes: int = 0

    @property
    def end(self) -> int:
        """Address of the next one."""
        return self.address + self.size


class Decoder:
    """Instructions of an image, decoded when they are asked for."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._engine = capstone.Cs(
            capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS
        )
        self._engine.detail = True
        self._known: dict[int, Instruction | None] = {}

    def at(self, address: int) -> Instruction | None:
        """The instruction there, None where there is none."""
        if address not in self._known:
            self._decode(address)
        return self._known[address]

    def _decode(self, address: int) -> None:
        self._known[address] = None
        for size in range(_LONGEST, 1, -2):
            data = self._memory.find(address, size)
            if data is not None:
                break
        else:
            return
        left = 1
        for raw in self._engine.disasm(data, address):
            instruction = self._instruction(raw)
            if raw.address == address or self._known.get(raw.address) is None:
                self._known[raw.address] = instruction
            if instruction.name == "it":
                left = len(raw.mnemonic)  # "it" and one letter for each that follows the first
            left -= 1
            if left <= 0:
                return

    def _instruction(self, raw: Any) -> Instruction:
        name = str(self._engine.insn_name(raw.id))
        reads, writes = raw.regs_access()
        return Instruction(
            address=raw.address,
            size=raw.size,
            name=name,
            text=f"{raw.mnemonic} {raw.op_str}".strip(),
            condition=_CONDITIONS[raw.cc] if name != "it" else "",
            sets_flags=raw.update_flags,
            writes_back=raw.writeback,
            post_indexed=raw.post_index,
            operands=tuple(self._operand(operand) for operand in raw.operands),
            reads=self._bits(reads),
            writes=self._bits(writes),
        )

    def _bits(self, registers: list[int]) -> int:
        numbers = [self._number(register) for register in registers]
        return sum(1 << number for number in numbers if number >= 0)

    def _operand(self, raw: Any) -> Operand:
        if raw.type == arm.ARM_OP_IMM:
            return Immediate(raw.imm & 0xFFFFFFFF)
        if raw.type == arm.ARM_OP_MEM:
            index = self._number(raw.mem.index) if raw.mem.index else None
            return Address(
                self._number(raw.mem.base),
                index,
                raw.subtracted or raw.mem.scale == -1,
                raw.shift.value if raw.shift.type == arm.ARM_SFT_LSL else raw.mem.lshift,
                raw.mem.disp,
            )
        if raw.type == arm.ARM_OP_REG and self._number(raw.reg) >= 0:
            shift = _SHIFTS.get(raw.shift.type, "")
            if raw.shift.type and not shift:
                return Other("shift by register")
            return Register(self._number(raw.reg), shift, raw.shift.value if shift else 0)
        return Other(str(self._engine.reg_name(raw.reg)) if raw.type == arm.ARM_OP_REG else "?")

    def _number(self, register: int) -> int:
        name = str(self._engine.reg_name(register))
        if name in _NAMES:
            return _NAMES[name]
        return int(name[1:]) if name[:1] == "r" and name[1:].isdigit() else -1
