"""What lifting one function keeps in hand: the statements so far and the handler's stack."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.context_switch.decode import Immediate, Instruction, Memory, Operand, Register
from porter.context_switch.ir import (
    Assign,
    Binary,
    Choice,
    Condition,
    Const,
    Expr,
    Origin,
    Statement,
    Symbol,
    Undefined,
    Var,
)
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.result import ROLE_OTHER, ROLE_PART, ROLE_START, NotTranscribable

# How flag_kind says where flags came from.
KIND_COMPARE = 1  # flag_a compared with flag_b
KIND_RESULT = 2  # flag_a tested against zero: only eq, ne, mi, pl mean anything
CARRY = "carry"  # that flag as a word, in a function that adds it to something


@dataclass(frozen=True)
class Signature:
    """What a C prototype tells: for each parameter whether it is a pointer, and its name ("" where
    the prototype has none); whether there is a result, and whether that is a pointer; the `problem`
    if a call passes anything but these words. `unprototyped`: it says nothing of parameters;
    `moves_stack`: the function, or one that it calls, reads or writes PSP; `asks_stack`: it only
    reads it; `never_returns`: its declaration says so."""

    parameters: tuple[bool, ...]
    returns: bool
    names: tuple[str, ...] = field(default=(), compare=False)
    pointer: bool = field(default=False, compare=False)
    problem: str = field(default="", compare=False)
    unprototyped: bool = field(default=False, compare=False)
    moves_stack: bool = field(default=False, compare=False)
    never_returns: bool = field(default=False, compare=False)
    asks_stack: bool = field(default=False, compare=False)


NOTHING = Signature((), False)
TASK_STACK = 1  # in place of a depth: SP points to a task's stack, the variable `sp`
UNKNOWN_STACK = 2  # in place of a depth: paths meet here that don't agree


@dataclass
class LiftState:
    """One block at a time. `depth` is SP minus its value at entry, in bytes (0 or negative), or
    one of the two above. `left` is the depth at which SP left the handler's own stack. A plain
    function uses r4-r11 as its own."""

    unit: ObjectFile
    function: Function
    role: str
    signatures: dict[str, Signature]
    depth: int = 0
    left: int = 0
    statements: list[Statement] = field(default_factory=list)
    known: dict[str, Expr] = field(default_factory=dict)
    current: Origin = ()
    carries: bool = False  # some instruction of the function wants the carry flag

    def begin(self, depth: int) -> None:
        """Start a new block."""
        self.depth, self.statements, self.known = depth, [], {}

    def emit(self, statement: Statement) -> None:
        """Add a statement to the block."""
        self.statements.append(statement)

    def assign(self, variable: str, value: Expr) -> None:
        """Add an assignment, remembering constants for the rest of the block."""
        self.emit(Assign(self.current, variable, value))
        self.known.pop(variable, None)
        if isinstance(value, Const | Symbol):
            self.known[variable] = value

    @property
    def plain(self) -> bool:
        """Whether this is a function that C calls, not a handler."""
        return self.role in (ROLE_START, ROLE_OTHER, ROLE_PART)

    @property
    def on_task_stack(self) -> bool:
        """Whether SP was set to something that isn't the handler's own stack."""
        return self.depth == TASK_STACK

    def variable(self, register: str) -> str:
        """The variable of a register. NotTranscribable for SP and PC, which have none."""
        if register == "sp" and self.on_task_stack:
            return "sp"
        if register in ("sp", "pc"):
            raise NotTranscribable(f"'{self.current[-1][1]}' uses {register} as a value")
        number = int(register[1:]) if register[1:].isdigit() else -1
        if register[0] == "r" and 4 <= number <= 11:
            return register if self.plain else f"R{number}"
        if register[0] == "s" and 0 <= number <= 15:
            return register
        if register[0] == "s" and 16 <= number <= 31:
            return f"S{number}"
        if register == "lr" or (register[0] == "r" and 0 <= number <= 12):
            return register
        raise NotTranscribable(f"'{self.current[-1][1]}' uses register {register}")

    def words(self, registers: tuple[str, ...]) -> tuple[str, ...]:
        """A register list in words: a double-precision register is two single ones."""
        found: list[str] = []
        for register in registers:
            if register[0] == "d":
                found += [f"s{2 * int(register[1:])}", f"s{2 * int(register[1:]) + 1}"]
            else:
                found.append(register)
        return tuple(found)

    def read(self, register: str) -> Expr:
        """A register's value."""
        return Var(self.variable(register))

    def operand(self, operand: Operand) -> Expr:
        """A register (shifted) or an immediate as a value."""
        if isinstance(operand, Immediate):
            return Const(operand.value)
        if isinstance(operand, Register):
            value = self.read(operand.name)
            known = self.known.get(self.variable(operand.name))
            if isinstance(known, Const) and not operand.shift:
                return known
            return Binary(operand.shift, value, Const(operand.amount)) if operand.shift else value
        raise NotTranscribable(f"'{self.current[-1][1]}' has an unknown operand")

    def set_flags(self, kind: int, left: Expr, right: Expr, *, keeps_carry: bool = False) -> None:
        """Remember what the next condition will test; before the instruction's own result."""
        if self.carries and not keeps_carry:
            no_borrow = Condition("hs", Const(KIND_COMPARE), left, right)
            known = Choice(no_borrow, Const(1), Const(0)) if kind == KIND_COMPARE else None
            self.assign(CARRY, known or Undefined(f"the carry behind '{self.current[-1][1]}'"))
        self.assign("flag_a", left)
        self.assign("flag_b", right)
        self.assign("flag_kind", Const(kind))

    def forget_flags(self, why: str) -> None:
        """Make a later condition on these flags an error."""
        for name in ("flag_a", "flag_b", "flag_kind", *((CARRY,) if self.carries else ())):
            self.assign(name, Undefined(why))

    def slot(self, offset: int) -> str:
        """The variable of a word of the handler's own stack, `offset` bytes from SP."""
        if self.depth == UNKNOWN_STACK:
            raise NotTranscribable("two paths meet with different stack depths")
        if self.on_task_stack:
            raise NotTranscribable(f"'{self.current[-1][1]}' uses SP in a way not understood")
        place = self.depth + offset
        if place >= 0 or place < self.depth or place % 4:
            raise NotTranscribable(
                f"'{self.current[-1][1]}' reaches outside what the handler pushed on its stack"
            )
        return f"m{-place}"

    def memory(self, instruction: Instruction) -> Memory:
        """The address operand of a load or store."""
        for operand in instruction.operands:
            if isinstance(operand, Memory):
                return operand
        raise NotTranscribable(f"'{instruction.text}' has no address the transcriber knows")
