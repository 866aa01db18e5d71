"""Registers saved or restored one beside the other, as one block copy."""

from __future__ import annotations

from itertools import pairwise

from porter.context_switch.ir import (
    RISCV_CORE,
    RISCV_FPU,
    Assign,
    Binary,
    Const,
    ContextLoad,
    ContextStore,
    Expr,
    Load,
    Program,
    Statement,
    Store,
    Var,
)
from porter.context_switch.walk import fold, used

_LEAST = 3  # registers that are worth a block
_BLOCKS = frozenset((*RISCV_CORE, *RISCV_FPU))
_NEXT = {a: b for group in (RISCV_CORE, RISCV_FPU) for a, b in pairwise(group)}


def join_blocks(program: Program) -> None:
    """Stores and loads of neighbouring registers at neighbouring places become one statement,
    whether their author went up or down."""
    for block in program.blocks.values():
        joined: list[Statement] = []
        run: list[Statement] = []
        for statement in block.statements:
            if run and not _continues(run, statement):
                joined += _joined(run)
                run = []
            run.append(statement)
        block.statements = [*joined, *_joined(run)]


def _continues(run: list[Statement], statement: Statement) -> bool:
    """Whether a statement goes on as the run does, up or down."""
    down = len(run) > 1 and _follows(run[1], run[0])
    up = len(run) == 1 or not down
    last = run[-1]
    return (up and _follows(last, statement)) or (
        (down or len(run) == 1) and _follows(statement, last) and _is_steady(statement)
    )


def _is_steady(statement: Statement) -> bool:
    """Whether the place of a register is the same in whatever order a block is loaded."""
    return isinstance(statement, Store) or not used(statement) & _BLOCKS


def _transfer(statement: Statement) -> tuple[str, str, Expr] | None:
    """Direction, register and place of a word."""
    match statement:
        case Store(address=address, value=Var(name), size=4) if name in _BLOCKS:
            return "store", name, address
        case Assign(target=name, value=Load(address, 4)) if name in _BLOCKS:
            return "load", name, address
    return None


def _follows(one: Statement, other: Statement) -> bool:
    first, second = _transfer(one), _transfer(other)
    if first is None or second is None or first[0] != second[0]:
        return False
    return _NEXT.get(first[1]) == second[1] and fold(Binary("+", first[2], Const(4))) == second[2]


def _joined(run: list[Statement]) -> list[Statement]:
    transfers = [found for statement in run if (found := _transfer(statement)) is not None]
    if len(transfers) < _LEAST or len(transfers) != len(run):
        return run
    (address, text), (_, last) = run[0].origin[-1], run[-1].origin[-1]
    if _follows(run[1], run[0]):
        transfers.reverse()
    registers = tuple(register for _, register, _ in transfers)
    kind = ContextStore if transfers[0][0] == "store" else ContextLoad
    origin = (*run[0].origin[:-1], (address, f"{text} ... {last}"))
    return [kind(origin, transfers[0][2], registers)]
