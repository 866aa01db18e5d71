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
from porter.context_switch.walk import fold

_LEAST = 3  # registers that are worth a block
_BLOCKS = frozenset((*RISCV_CORE, *RISCV_FPU))
_NEXT = {a: b for group in (RISCV_CORE, RISCV_FPU) for a, b in pairwise(group)}


def join_blocks(program: Program) -> None:
    """Stores and loads of neighbouring registers at neighbouring places become one statement."""
    for block in program.blocks.values():
        joined: list[Statement] = []
        run: list[Statement] = []
        for statement in block.statements:
            if run and not _follows(run[-1], statement):
                joined += _joined(run)
                run = []
            run.append(statement)
        block.statements = [*joined, *_joined(run)]


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
    registers = tuple(register for _, register, _ in transfers)
    (address, text), (_, last) = run[0].origin[-1], run[-1].origin[-1]
    kind = ContextStore if transfers[0][0] == "store" else ContextLoad
    origin = (*run[0].origin[:-1], (address, f"{text} ... {last}"))
    return [kind(origin, transfers[0][2], registers)]
