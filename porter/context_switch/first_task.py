"""First-task starts that go to the task themselves, or mark the first switch in PSP.

A task's registers can only be set while USR stands still, so what such a start does last becomes a
function of its own, `NAME_first`, that VCT runs as the supervisor call's handler: it resumes the
exception frame that the start took apart by hand, or sets the mark and pends the switch.
"""

from __future__ import annotations

from dataclasses import dataclass

from porter.context_switch.ir import (
    PARAMETERS,
    SVC_VECTOR,
    UNREAD,
    Assign,
    Binary,
    Block,
    BlockLoad,
    Const,
    Expr,
    Guest,
    Load,
    Note,
    Origin,
    Program,
    Resume,
    Statement,
    Store,
    Symbol,
    Var,
)
from porter.context_switch.names import INTEGER, POINTER
from porter.context_switch.result import ANOTHER_WAY, NotTranscribable
from porter.context_switch.structure import Node
from porter.context_switch.walk import fold, rewrite, subexpressions, variables

WHY_PSP = "the task's stack is set where it is resumed"
FRAME = 32  # bytes that an exception puts on the stack: r0-r3, r12, lr, pc, xPSR
PC, XPSR = 24, 28
THUMB_STATE = 1 << 24
THREAD_ON_PSP = 0xFFFF_FFFD
_ROOM = 8  # registers R4-R11
_MASKS = ("PRIMASK", "BASEPRI")


@dataclass(frozen=True)
class First:
    """What VCT does: `statements` of the function; `variables` are what the start leaves to it,
    by name, with their kind."""

    statements: tuple[Node, ...]
    variables: tuple[tuple[str, str], ...] = ()


def split_first(program: Program, name: str) -> First | None:
    """Take the way to the first task out of a start; None if another handler goes there."""
    for block in program.blocks.values():
        for index, statement in enumerate(block.statements):
            if isinstance(statement, Resume):
                first = _resume(block, index, statement, name)
                _forget_psp(program)
                return first
    return _mark(program, name)


def _forget_psp(program: Program) -> None:
    for block in program.blocks.values():
        block.statements = [
            Note(statement.origin, WHY_PSP)
            if isinstance(statement, Assign) and statement.target == "SP"
            else statement
            for statement in block.statements
        ]


def _mark(program: Program, name: str) -> First | None:
    """PSP is set to a constant, which the switch handler looks at."""
    found: First | None = None
    for block in program.blocks.values():
        for index, statement in enumerate(block.statements):
            if not isinstance(statement, Assign) or statement.target != "SP":
                continue
            if not isinstance(statement.value, Const) or found is not None:
                raise NotTranscribable("sets PSP in a way that no first task is resumed by")
            found = First(
                (
                    Assign(statement.origin, "SP", statement.value),
                    Guest((), "virt_vct_trig", ("FVM_VIRT_SWITCH",)),
                )
            )
            block.statements[index] = _register(statement.origin, name)
    if found is not None and not _pend_through_vct(program):
        raise NotTranscribable("marks the first switch in PSP but doesn't pend one")
    return found


def _pend_through_vct(program: Program) -> bool:
    for block in program.blocks.values():
        for index, statement in enumerate(block.statements):
            if statement == Guest(statement.origin, "virt_vct_trig", ("FVM_VIRT_SWITCH",)):
                block.statements[index] = Guest(statement.origin, "virt_vct_trig", (SVC_VECTOR,))
                return True
    return False


def _register(origin: Origin, name: str) -> Guest:
    arguments = (SVC_VECTOR, f"{name}_first", "0", "VIRT_TRANSPARENT")
    return Guest((), "virt_vct_set", arguments)


def _resume(block: Block, index: int, resume: Resume, name: str) -> First:
    values = _values(block.statements[:index])

    def known(expr: Expr) -> Expr:
        return rewrite(expr, lambda var: values.get(var.name, var))

    target, stack = known(resume.target), known(resume.stack)
    registers = [(f"R{n}", known(Var(f"r{n}"))) for n in range(4, 4 + _ROOM)]
    kept = [(place, value) for place, value in registers if _closed(value)]
    trigger: list[Statement] = [
        _register((), name),
        Guest(resume.origin, "virt_vct_trig", (SVC_VECTOR,)),
    ]
    masks = () if _opens(block.statements[:index]) else _MASKS
    if masks:
        trigger = [*_let_only_this_through(name), *trigger]
    reopened = tuple(
        Guest((), "virt_int_restore", (f"VIRT_{mask}", Load(Symbol(_kept(name, mask)))))
        for mask in masks
    )
    integers = tuple((_kept(name, mask), INTEGER) for mask in masks)
    frame = _below(stack, FRAME)
    if _closed(frame) and _is_pc(target, frame) and known(Var("r0")) == Load(frame):
        block.statements[index : index + 1] = trigger
        return First((*_resuming(frame, resume.origin, kept), *reopened), integers)
    if not variables(resume.target) | variables(resume.stack) <= set(PARAMETERS):
        raise NotTranscribable(ANOTHER_WAY)
    # No frame there: one for a task that has just been called.
    variable = f"{name}_frame"
    bottom = Binary("-", resume.stack, Const(FRAME))
    pc = Binary("&", resume.target, Const(0xFFFF_FFFE))
    built: list[Statement] = [
        Assign((), "frame", bottom),
        Store((), Var("frame"), Var("r0")),
        Store((), Binary("+", Var("frame"), Const(PC)), pc),
        Store((), Binary("+", Var("frame"), Const(XPSR)), Const(THUMB_STATE)),
        Store((), Symbol(variable), Var("frame")),
    ]
    block.statements[index : index + 1] = [*built, *trigger]
    constants: list[tuple[str, Expr]] = [
        (place, value) for place, value in kept if isinstance(value, Const)
    ]
    resuming = _resuming(Load(Symbol(variable)), resume.origin, constants)
    return First((*resuming, *reopened), ((variable, POINTER), *integers))


def _opens(statements: list[Statement]) -> bool:
    """Whether PRIMASK is surely clear behind these."""
    masks = [
        statement
        for statement in statements
        if isinstance(statement, Guest) and statement.arguments[:1] == ("VIRT_PRIMASK",)
    ]
    return bool(masks) and masks[-1].function == "virt_int_unmask"


def _kept(name: str, mask: str) -> str:
    return f"{name}_{mask.lower()}"


def _let_only_this_through(name: str) -> tuple[Statement, ...]:
    """A task may begin masked, but PRIMASK would hold the supervisor call too. BASEPRI doesn't; it
    holds the others meanwhile."""
    return (
        *(Store((), Symbol(_kept(name, mask)), Var(mask)) for mask in _MASKS),
        Guest((), "virt_int_mask", ("VIRT_BASEPRI",)),
        Guest((), "virt_int_unmask", ("VIRT_PRIMASK",)),
    )


def _resuming(
    frame: Expr, origin: Origin, registers: list[tuple[str, Expr]]
) -> tuple[Statement, ...]:
    return (
        Assign((), "sp", frame),
        *(Assign((), place, _on_frame(value, frame)) for place, value in registers),
        Assign((), "SP", Var("sp")),
        Assign(origin, "LR", Const(THREAD_ON_PSP)),
    )


def _on_frame(value: Expr, frame: Expr) -> Expr:
    """A word of the frame as seen from its pointer."""
    if isinstance(value, Load):
        for offset in range(-128, FRAME, 4):
            if value.address == _below(frame, -offset):
                return Load(_below(Var("sp"), -offset))
    return value


def _values(statements: list[Statement]) -> dict[str, Expr]:
    """What each variable holds at the end, as far as memory wasn't written since it was read."""
    values: dict[str, Expr] = {}

    def known(expr: Expr) -> Expr:
        return rewrite(expr, lambda var: values.get(var.name, var))

    for statement in statements:
        match statement:
            case Assign(target=target, value=value):
                values[target] = known(value)
            case BlockLoad(base=base, targets=targets, before=False, writeback=writeback):
                start = known(Var(base))
                for number, target in enumerate(targets):
                    if target != UNREAD:
                        values[target] = Load(fold(Binary("+", start, Const(4 * number))))
                if writeback:
                    values[base] = fold(Binary("+", start, Const(4 * len(targets))))
            case Store(address=address):
                values = {n: v for n, v in values.items() if not _may_change(v, address)}
            case Guest() | Note():
                pass
            case _:
                values = {}
    return values


def _may_change(value: Expr, written: Expr) -> bool:
    """Whether a store changes what a value was read from; objects of two names are two."""
    loads = [part.address for part in subexpressions(value) if isinstance(part, Load)]
    return any(
        not (isinstance(address, Symbol) and isinstance(written, Symbol))
        or address.name == written.name
        for address in loads
    )


def _closed(value: Expr) -> bool:
    """Whether a value can be had elsewhere: from names and constants alone."""
    return not variables(value)


def _below(pointer: Expr, bytes_: int) -> Expr:
    step = Binary("-" if bytes_ >= 0 else "+", pointer, Const(abs(bytes_)))
    return fold(step)


def _is_pc(target: Expr, frame: Expr) -> bool:
    if isinstance(target, Binary) and target.operator in "|&" and isinstance(target.right, Const):
        target = target.left
    return target == Load(_below(frame, -PC))
