"""Accesses to what C declares volatile: they stay, each by itself, as wide as they are.

`ldr r1, =port; ldr r1, [r1]; strb r2, [r1]` stores through `volatile uint8_t *port`: to the
machine that is memory like any other, and a pulse, a read that clears and a FIFO aren't seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter.context_switch.ir import (
    CONTEXT,
    UNREAD,
    WORD,
    Assign,
    Binary,
    BlockLoad,
    BlockStore,
    Call,
    Const,
    Expr,
    Load,
    Note,
    Program,
    Read,
    Statement,
    Store,
    Symbol,
    Var,
)
from porter.context_switch.notes import written
from porter.context_switch.result import NotTranscribable
from porter.context_switch.walk import defined, subexpressions, variables

IsVolatile = Callable[[str, tuple[int, ...], int], bool]
"""Of a name, offsets at which pointers are read from there on, and an offset behind the last."""

_Place = tuple[str, tuple[int, ...], int]
_Places = frozenset[_Place]
_State = dict[str, _Places]
_DEEPEST = 4  # pointers behind pointers
_MOST = 32  # places of one variable
_FARTHEST = 1 << 16  # bytes
_NONE: _Places = frozenset()


def mark_volatile(program: Program, is_volatile: IsVolatile, starts: bool) -> None:
    """Say of each load and store whether it is. NotTranscribable for a block of words, but for what
    starts the first task: that takes them from its stack."""
    before: dict[int, _State] = {program.entry: {}}
    waiting = [program.entry]
    while waiting:
        key = waiting.pop()
        state = dict(before[key])
        for statement in program.blocks[key].statements:
            _run(statement, state)
        for successor in program.blocks[key].successors():
            known = before.get(successor)
            joined = _joined(known or {}, state)
            if known is None or joined != known:
                before[successor] = joined
                waiting.append(successor)
    for key, block in program.blocks.items():
        state = dict(before.get(key, {}))
        marked: list[Statement] = []
        for statement in block.statements:
            is_frame = starts and isinstance(statement, BlockLoad)
            marked.append(statement if is_frame else _marked(statement, state, is_volatile))
            _run(statement, state)
        block.statements = marked


def has_volatile(expr: Expr) -> bool:
    """Whether it matters how often an expression is evaluated, and when."""
    return any(isinstance(part, Load) and part.volatile for part in subexpressions(expr))


def forget_stacks(program: Program) -> None:
    """A task's stack is nothing but memory, even where a kernel declares its words volatile."""
    for block in program.blocks.values():
        block.statements = [_of_stack(statement) for statement in block.statements]


def _of_stack(statement: Statement) -> Statement:
    match statement:
        case Store(address=address, volatile=True) if "sp" in variables(address):
            return replace(statement, volatile=False)
        case Assign(value=Load(address=address, volatile=True) as value) if "sp" in variables(
            address
        ):
            return replace(statement, value=replace(value, volatile=False))
        case Read(origin, Load(address=address)) if "sp" in variables(address):
            return Note(origin, "")
    return statement


def _joined(one: _State, other: _State) -> _State:
    names = one.keys() | other.keys()
    found: _State = {}
    for name in names:
        known = one.get(name, _NONE)
        together = known | other.get(name, _NONE)
        found[name] = together if len(together) <= _MOST else known  # a loop may go on for ever
    return found


def _run(statement: Statement, state: _State) -> None:
    match statement:
        case Assign(target=target, value=value):
            state[target] = _leads(value, state)
        case BlockLoad(base=base, targets=targets, before=before, writeback=writeback):
            first = -4 * len(targets) if before else 0
            at = _moved(state.get(base, _NONE), first)
            found = {
                target: _read(_moved(at, 4 * number))
                for number, target in enumerate(targets)
                if target != UNREAD
            }
            if writeback:
                state[base] = at if before else _moved(at, 4 * len(targets))
            state.update(found)
        case Call(function=function, result=str(result)):
            for name in defined(statement):
                state[name] = _NONE
            state[result] = frozenset({(function, (0,), 0)})  # the compiler knows what it returns
        case BlockStore(base=base, values=values, before=before, writeback=True):
            step = -4 * len(values) if before else 4 * len(values)
            state[base] = _moved(state.get(base, _NONE), step)
        case _:
            for name in defined(statement):
                state[name] = _NONE


def _leads(expr: Expr, state: _State) -> _Places:
    """Where a value points to, if it is a pointer."""
    match expr:
        case Symbol(name, offset):
            return frozenset({(name, (), offset)})
        case Var(name):
            return state.get(name, _NONE)
        case Load(address, 4):
            return _read(_leads(address, state))
        case Binary("+" | "-" as sign, left, Const(step)):
            signed = step - (WORD + 1) if step > WORD >> 1 else step
            return _moved(_leads(left, state), signed if sign == "+" else -signed)
        case Binary("+", left, right):  # an index: whatever element it is, the first is alike
            return _leads(left, state) | _leads(right, state)
    return _NONE


def _read(places: _Places) -> _Places:
    return frozenset(
        (name, (*path, offset), 0) for name, path, offset in places if len(path) < _DEEPEST
    )


def _moved(places: _Places, step: int) -> _Places:
    return frozenset(
        (name, path, offset + step)
        for name, path, offset in places
        if abs(offset + step) < _FARTHEST
    )


def _marked(statement: Statement, state: _State, is_volatile: IsVolatile) -> Statement:
    def told(places: _Places) -> bool:
        return any(is_volatile(*place) for place in places)

    match statement:
        case Store(address=address) if told(_leads(address, state)):
            return replace(statement, volatile=True)
        case Assign(value=Load(address=address) as value) if told(_leads(address, state)):
            return replace(statement, value=replace(value, volatile=True))
        case BlockLoad(base=base, targets=moved) if not set(moved) & set(CONTEXT):
            count = len(moved)
        case BlockStore(base=base, values=values) if not _of_task(values):
            count = len(values)
        case _:
            return statement
    first = -4 * count if statement.before else 0
    words = (_moved(state.get(base, _NONE), first + 4 * place) for place in range(count))
    if any(map(told, words)):
        raise NotTranscribable(
            f"'{written(statement.origin)}' moves several words of what C declares volatile at "
            "once: write one load or store for each"
        )
    return statement


def _of_task(values: tuple[Expr, ...]) -> bool:
    return any(isinstance(value, Var) and value.name in CONTEXT for value in values)
