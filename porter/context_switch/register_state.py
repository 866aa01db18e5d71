"""What registers and the stack may hold at a place of an assembler function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from porter.context_switch.register_steps import Step

Value = TypeVar("Value")


@dataclass
class State(Generic[Value]):
    """`depth`: bytes from where sp was at the beginning, None where nobody knows; `shown`: somebody
    else may have had sp, and reads and changes the stack."""

    registers: dict[str, frozenset[Value]]
    stack: dict[int, frozenset[Value]] = field(default_factory=dict)
    depth: int | None = 0
    shown: bool = False

    def joined(self, other: State[Value], unknown: frozenset[Value]) -> State[Value]:
        """What holds on two ways to the same place; `unknown`: what a stack's word holds that
        nobody has written."""
        registers = {name: held | other.registers[name] for name, held in self.registers.items()}
        stack = {
            place: self.stack.get(place, unknown) | other.stack.get(place, unknown)
            for place in self.stack.keys() | other.stack.keys()
        }
        depth = self.depth if self.depth == other.depth else None
        return State(registers, stack, depth, self.shown or other.shown)

    def behind(self, step: Step, unknown: frozenset[Value]) -> State[Value]:
        """The state behind an instruction that copies, saves or fetches registers and moves sp;
        `unknown`: what the rest of the stack holds."""
        registers, stack = dict(self.registers), dict(self.stack)
        if step.move is not None:
            registers[step.move[0]] = self.registers.get(step.move[1], unknown)
        for offset, name in step.saves:
            if self.depth is not None:
                stack[self.depth + offset] = self.registers.get(name, unknown)
        for offset, name in step.loads:
            place = None if self.depth is None else self.depth + offset
            registers[name] = unknown if place is None else self.stack.get(place, unknown)
        known = step.moves_sp is not None and self.depth is not None
        depth = (self.depth or 0) + (step.moves_sp or 0) if known else None
        kept = {name: registers[name] for name in self.registers}
        return State(kept, stack, depth, self.shown or step.shows)
