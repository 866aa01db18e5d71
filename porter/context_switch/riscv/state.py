"""What lifting one RV32 function keeps in hand."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.context_switch.ir import Const, Expr, Note, Var
from porter.context_switch.lift_state import LiftState
from porter.context_switch.result import ROLE_OTHER, NotTranscribable
from porter.context_switch.riscv.decode import SP, Instruction


@dataclass
class RiscvState(LiftState):
    """Registers are asked for by number. `at`: the function's instructions by address."""

    at: dict[int, Instruction] = field(default_factory=dict)

    def variable_of(self, register: int) -> str:
        """The variable of x<register>; NotTranscribable for a plain function's own stack."""
        if self.role != ROLE_OTHER:
            return f"X{register}"
        if register == SP:
            raise NotTranscribable(f"'{self.current[-1][1]}' uses sp as a value")
        return f"x{register}"

    def value(self, register: int) -> Expr:
        """What a register holds."""
        return Const(0) if register == 0 else Var(self.variable_of(register))

    def write(self, register: int, value: Expr) -> None:
        """Set a register; x0 takes nothing."""
        if register != 0:
            self.assign(self.variable_of(register), value)
        else:
            self.emit(Note(self.current, ""))
