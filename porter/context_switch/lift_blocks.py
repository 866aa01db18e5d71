"""What lifting has in common on every machine: the work-list of blocks, calls, and what C owes its
caller. `lift` has Cortex-M's instructions, `riscv.lift` those of RV32."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from porter.context_switch.ir import (
    KEPT,
    PARAMETERS,
    Assign,
    Block,
    Call,
    Exit,
    Program,
    Terminator,
    Undefined,
    Var,
)
from porter.context_switch.lift_state import UNKNOWN_STACK, LiftState, Signature
from porter.context_switch.passing import UNPROTOTYPED
from porter.context_switch.result import NotTranscribable, Unprepared


@dataclass(frozen=True)
class Convention:
    """Variables of the procedure call standard: `arguments` in order, the first of them the result
    too, `saved` for the caller, by number, and `destroyed` by a call."""

    arguments: tuple[str, ...]
    saved: Mapping[int, str]
    destroyed: tuple[str, ...]


class BlockLifter(ABC):
    """Lifts one function; `lift` is called once. `own` is what C calls it with."""

    def __init__(
        self, state: LiftState, entry: int, own: Signature, convention: Convention
    ) -> None:
        self._state, self._own, self._convention = state, own, convention
        self._program = Program(entry, {})
        self._depths: dict[int, int] = {}
        self._waiting: list[int] = []

    def lift(self) -> Program:
        """The program. Raises NotTranscribable with the instruction that isn't understood."""
        state = self._state
        self._reach(self._program.entry, 0)
        while self._waiting:
            key = self._waiting.pop()
            state.begin(self._depths[key])
            if key == self._program.entry:
                self._enter()
            self._program.blocks[key] = Block(state.statements, self._block(key))
            for successor in self._program.blocks[key].successors():
                self._reach(successor, state.depth)
        return self._program

    @abstractmethod
    def _enter(self) -> None:
        """What the registers hold in the beginning."""

    @abstractmethod
    def _block(self, key: int) -> Terminator:
        """Lift the statements of a block; returns what it ends with."""

    def _reach(self, key: int, depth: int) -> None:
        if self._depths.setdefault(key, depth) not in (depth, UNKNOWN_STACK):
            self._depths[key] = UNKNOWN_STACK  # well if SP is set before it is used
            self._program.blocks.pop(key, None)
        if key not in self._program.blocks and key not in self._waiting:
            self._waiting.append(key)

    def _enter_from_c(self) -> None:
        """A plain function's registers hold its parameters, and what its caller wants back."""
        if len(self._own.parameters) > len(self._convention.arguments):
            raise NotTranscribable(f"takes more than {len(self._convention.arguments)} arguments")
        for register, name in zip(self._convention.arguments, PARAMETERS, strict=False):
            if name in PARAMETERS[: len(self._own.parameters)]:
                self._state.emit(Assign((), register, Var(name)))
        for number, register in self._convention.saved.items():
            self._state.emit(Assign((), register, Var(f"entry{number}")))

    def _leave_to_c(self) -> Exit:
        """A plain function gives its caller back what it owes."""
        for number, register in self._convention.saved.items():
            self._state.emit(Assign((), f"{KEPT}{number}", Var(register)))
        result = Var(self._convention.arguments[0]) if self._own.returns else None
        return Exit(self._state.current, result)

    def _call(self, name: str) -> bool:
        """A call of a C function, which destroys what it may; whether it comes back."""
        state, arguments = self._state, self._convention.arguments
        signature = state.signatures.get(name)
        if signature is None:
            raise Unprepared(
                f"no prototype of {name}() found, so its arguments aren't known: declare it in a "
                "header of the project"
            )
        if signature.unprototyped:
            raise Unprepared(f"{name}() {UNPROTOTYPED}")
        if signature.problem:
            raise NotTranscribable(f"{name}() {signature.problem}")
        if len(signature.parameters) > len(arguments):
            raise NotTranscribable(f"{name}() takes arguments on the stack")
        values = tuple(map(Var, arguments[: len(signature.parameters)]))
        result = arguments[0] if signature.returns else None
        moves, never = signature.moves_stack, signature.never_returns
        state.emit(Call(state.current, name, values, signature.parameters, result, moves, never))
        why = Undefined(f"the call of {name}()")
        for register in self._convention.destroyed:
            state.known.pop(register, None)
            if register != result:
                state.assign(register, why)
        return not never
