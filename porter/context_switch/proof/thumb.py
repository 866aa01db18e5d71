"""Thumb instructions one by one, for the proof's own interpreter: nothing of the transcriber."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import capstone
from capstone import arm_const

from porter.context_switch.proof.image import Image
from porter.context_switch.proof.result import NotProved

_NAMES = {"sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12"}
_CODES = ("eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "")
_COMPARE = frozenset({"cmp", "cmn", "tst", "teq"})


@dataclass(frozen=True)
class Instruction:
    """`name` without condition, width and flag suffix; `raw` is Capstone's. `branch` is the
    condition of a conditional branch; an IT is a list of codes, `it`, and nothing else."""

    address: int
    size: int
    name: str
    text: str
    raw: Any
    branch: str = ""
    it: tuple[str, ...] = ()

    @property
    def next(self) -> int:
        """Address of the instruction behind it."""
        return self.address + self.size

    @property
    def reads_behind_itself(self) -> bool:
        """Whether it loads a constant from beside the code."""
        memory = [it.mem for it in self.raw.operands if it.type == arm_const.ARM_OP_MEM]
        return any(it.base == arm_const.ARM_REG_PC for it in memory)

    @property
    def is_float(self) -> bool:
        """Whether it uses the FPU."""
        return self.name.startswith("v")

    def sets_flags(self, predicated: bool) -> bool:
        """A short encoding in an IT block sets none, compares aside."""
        if self.name in _COMPARE:
            return True
        if self.name in ("adc", "sbc") and not str(self.raw.mnemonic).startswith(self.name + "s"):
            return False  # whatever Capstone says
        return bool(self.raw.update_flags) and not (predicated and self.size == 2)

    def register(self, number: int) -> str:
        """Name of a register."""
        name = str(self.raw.reg_name(number))
        return _NAMES.get(name, name)

    def target(self) -> int:
        """Where a direct branch goes."""
        return int(self.raw.operands[-1].imm) & ~1


class Code:
    """The instructions of an image, by address."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._machine = capstone.Cs(
            capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS
        )
        self._machine.detail = True
        self._seen: dict[int, Instruction] = {}

    def at(self, address: int) -> Instruction:
        """NotProved where no instruction stands."""
        if address not in self._seen:
            self._seen[address] = self._decode(address)
        return self._seen[address]

    def _decode(self, address: int) -> Instruction:
        half = self._image.word(address, 2)
        if half is None:
            raise NotProved(f"runs out of the code at {address:#x}")
        if half & 0xFF00 == 0xBF00 and half & 0xF:
            return Instruction(address, 2, "it", "it", None, it=_predicates(half))
        low = self._image.word(address + 2, 2) if half >= 0xE800 else None
        data = half.to_bytes(2, "little") + (low.to_bytes(2, "little") if low is not None else b"")
        raw = next(self._machine.disasm(data, address), None)
        if raw is None:
            raise NotProved(f"no instruction is encoded as {data.hex(' ')}")
        name = str(raw.insn_name())
        if name in ("cps", "hint") or str(raw.mnemonic).startswith("movt"):
            name = str(raw.mnemonic).split(".")[0]
        branch = _CODES[raw.cc - 1] if name == "b" else ""
        text = f"{raw.mnemonic} {raw.op_str}".strip()
        return Instruction(address, raw.size, name, text, raw, branch)


def _predicates(half: int) -> tuple[str, ...]:
    """Condition of each instruction behind an IT (ARMv7-M ARM A7.3)."""
    first, mask = half >> 4 & 0xF, half & 0xF
    count = 4 - (mask & -mask).bit_length() + 1
    codes = [first] + [first & 0xE | mask >> (4 - index) & 1 for index in range(1, count)]
    return tuple(_CODES[code] for code in codes)
