"""Which locals are pointers to words, and short names for those that never meet."""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.context_switch import webs
from porter.context_switch.ir import (
    CONTEXT,
    FRAME_OF_CALLER,
    Assign,
    Binary,
    BlockLoad,
    BlockStore,
    Const,
    Expr,
    Guest,
    Load,
    Program,
    Statement,
    Store,
    Terminator,
    Var,
)
from porter.context_switch.walk import defined, reads, subexpressions, used


def pointer_locals(items: Iterable[Statement | Terminator]) -> frozenset[str]:
    """Locals that hold the address of a word somewhere."""
    found: set[str] = set()
    for item in items:
        for expr in reads(item):
            for part in subexpressions(expr):
                if isinstance(part, Load) and part.size == 4:
                    found |= _base_of(part.address)
        if isinstance(item, Store) and item.size == 4:
            found |= _base_of(item.address)
        elif isinstance(item, BlockStore | BlockLoad):
            found.add(item.base)
        elif isinstance(item, Guest) and item.function == FRAME_OF_CALLER and item.result:
            found.add(item.result)
    return frozenset(found - set(CONTEXT))


def _base_of(address: Expr) -> set[str]:
    if (
        isinstance(address, Binary)
        and address.operator in "+-"
        and isinstance(address.right, Const)
    ):
        address = address.left
    return {address.name} if isinstance(address, Var) else set()


def name_locals(program: Program) -> None:
    """Call what comes from PSP, or goes there, sp; give values of one register that never meet
    and have the same type the register's name, the others a number."""
    for name in _stack_pointers(program):
        webs.merge_pair(program, "sp", name)
    for register, names in _by_register(program).items():
        pointers = pointer_locals(_items(program))
        kept: list[str] = []
        for name in names:
            same_type = [k for k in kept if (k in pointers) == (name in pointers)]
            if not any(webs.merge_pair(program, other, name) for other in same_type):
                kept.append(name)
        for number, name in enumerate(kept, 1):
            webs.rename(program, name, f"{register}?{number}")
        for number in range(1, len(kept) + 1):
            new = register if number == 1 else f"{register}_{number}"
            webs.rename(program, f"{register}?{number}", new)


def _items(program: Program) -> list[Statement | Terminator]:
    return [
        item
        for key in program.order()
        for item in (*program.blocks[key].statements, program.blocks[key].end)
    ]


def _stack_pointers(program: Program) -> list[str]:
    found: dict[str, None] = {}
    for item in _items(program):
        for name in sorted(used(item)):
            if name.startswith("sp_"):
                found[name] = None
        if isinstance(item, Assign):
            if item.value == Var("SP"):
                found[item.target] = None
            elif item.target == "SP" and isinstance(item.value, Var):
                found[item.value.name] = None
    return [name for name in found if name not in CONTEXT and name != "sp"]


def _by_register(program: Program) -> dict[str, list[str]]:
    """Numbered locals by the register they came from, in order of appearance."""
    found: dict[str, list[str]] = {}
    for item in _items(program):
        names = sorted(used(item)) + (list(defined(item)) if isinstance(item, Statement) else [])
        for name in names:
            if match := re.fullmatch(r"([a-z]+\d*)(?:_\d+)?", name):
                group = found.setdefault(match.group(1), [])
                if name not in group:
                    group.append(name)
    found.pop("sp", None)
    return found
