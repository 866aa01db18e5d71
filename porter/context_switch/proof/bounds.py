"""Why a counterexample may be none of the project's: an index that no array is long enough for.

A variable may hold any number in a state. Where the original uses it as an index without a bound,
it then reads and writes what lies behind the array, which to the C's compiler can't be.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from capstone import arm_const
from unicorn import arm_const as registers

from porter.context_switch.proof.emulate import Emulator
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.outcome import Broken, Stray
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.states import State

_REGISTERS = {f"r{number}": getattr(registers, f"UC_ARM_REG_R{number}") for number in range(13)}


def beyond(image: Image, model: Model, state: State) -> str:
    """What to add to a counterexample: which index runs beyond which array; "" if none does."""
    watched = _Watched(image, model, image.variables, native=True)
    with suppress(Stray, Broken):
        watched.run(state)
    return watched.found


class _Watched(Emulator):
    """The original, looked at where it adds something to a variable's address."""

    found = ""

    def _visit(self, uc: Any, address: int, size: int, data: object) -> None:
        if not self.found:
            with suppress(NotProved):
                self.found = self._index(address)
        super()._visit(uc, address, size, data)

    def _index(self, address: int) -> str:
        it = self._code.at(address)
        if it.raw is None:
            return ""
        operands = it.raw.operands
        for operand in operands:
            memory = operand.mem if operand.type == arm_const.ARM_OP_MEM else None
            if memory is not None and memory.index:
                shift = memory.lshift or operand.shift.value
                return self._told(address, it, memory.base, memory.index, shift)
        if it.name == "add" and all(it.type == arm_const.ARM_OP_REG for it in operands):
            base, index = operands[-2], operands[-1]
            return self._told(address, it, base.reg, index.reg, index.shift.value)
        return ""

    def _told(self, address: int, it: Any, base: int, index: int, shift: int) -> str:
        names = [_REGISTERS.get(it.register(number)) for number in (base, index)]
        if None in names:
            return ""
        start, step = map(self._uc.reg_read, names)
        place = start + (step << shift) & 0xFFFF_FFFF
        for name, begin, end in self._image.named:
            if start == begin and not begin <= place < end:
                where = f"'{it.text}' at +{address - self._image.entry:#x}"
                return (
                    f": there the index in {where} is {step:#x}, beyond the end of {name}; if it "
                    "never is, let the handler say so, with a mask or a bound in front of it"
                )
        return ""
