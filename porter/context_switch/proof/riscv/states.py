"""Random states of RV32: all registers, and the CSRs that a trap has set."""

from __future__ import annotations

from collections.abc import Sequence

from porter.context_switch.proof.image import PAGE
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.riscv.layout import (
    ARGUMENTS,
    CAUSES,
    STATUS_MIE,
    STATUS_MPIE,
    STATUS_MPP,
)
from porter.context_switch.proof.states import Effects, Words

_ASKED = 8  # one state in so many has a cause that the original compares with


class State:
    """A state at entry: `core` x1-x31, `fpu`, the CSRs, `masked` (MIE is 0) and `base`, which only
    a port has, `arena` and `variables` as on Arm."""

    def __init__(
        self,
        seed: int,
        model: Model,
        variables: int,
        stacks: Sequence[tuple[int, int]] = (),
        constants: Sequence[int] = (),
    ) -> None:
        """`variables`: words of the data section that are in use; `stacks`: what of it may be a
        handler's stack, which it may already be on; `constants`: what the original asks for."""
        self._words = words = Words(seed, constants)
        mixed = words.mixed(31 + PAGE // 4)
        self.core: list[int] = mixed[:31].tolist()
        self.core[1] = words.pointer()  # sp: room for a frame below
        if stacks and words.chance(0.3):
            self.core[1] = words.stack((*stacks, (0, PAGE)))
        self.fpu = words.noise(32)
        self.fcsr = words.word() & 0xFF
        self.pc = words.pointer()
        noise = words.word()
        # The exception in whose name it runs: most often one that the architecture has.
        self.cause = CAUSES[noise % len(CAUSES)] if words.chance(0.9) else noise >> 4
        if constants and seed % _ASKED == 0:  # with and without the bit that says interrupt
            self.cause = constants[noise % len(constants)] ^ noise & 1 << 31
        handler = model.is_handler
        self.masked = int(not handler and words.chance(0.5))
        self.base = int(not handler and words.chance(0.5))
        self.status = STATUS_MPP | noise & 0x6000
        self.status |= STATUS_MPIE if handler else 0 if self.masked else STATUS_MIE
        self.pending = int(words.chance(0.5))
        self.arena = mixed[31:].tobytes()
        arguments = [self.core[number - 1] for number in ARGUMENTS[:4]]
        found = words.coincide(arguments, self.core[1], words.variables(variables))
        self.core[ARGUMENTS[0] - 1 : ARGUMENTS[4] - 1] = arguments
        self.variables = found.tobytes()
        self._effects: list[Effects] = []

        self.found = [*self.core, self.pc, self.status, *self.fpu, self.fcsr]  # in USR_REG

    def effect(self, number: int) -> Effects:
        """Of the call with this number, counted from 0."""
        while len(self._effects) <= number:
            self._effects.append(Effects(self._words, self.variables))
        return self._effects[number]

    def __str__(self) -> str:
        """The registers that a counterexample starts with."""
        return f"sp = {self.core[1]:#x}, mcause = {self.cause:#x}, mstatus = {self.status:#x}"
