"""One name for one value: splits a register into the separate values it holds over time.

r0 is a stack pointer in one place and a mask in the next; r4 is the task's register until it was
saved and scratch until it is restored. After this pass `R4` means USR_REG only, and every other
use has a local name of its own.
"""

from __future__ import annotations

from dataclasses import replace

from porter.context_switch.dataflow import live_out
from porter.context_switch.ir import (
    CONTEXT,
    MASKS,
    PARAMETERS,
    READ_ONLY,
    Assign,
    BlockLoad,
    BlockStore,
    Call,
    ContextLoad,
    Guest,
    Program,
    Statement,
    Var,
)
from porter.context_switch.walk import Rewrite, defined, substitute, substitute_end, used

Site = tuple[int, int, str]  # block key, statement index (-1: entry of the program), variable
Reaching = dict[str, frozenset[Site]]

_PINNED = frozenset((*CONTEXT, *MASKS, *PARAMETERS, *READ_ONLY, "MSP", "CONTROL"))


class _Union:
    def __init__(self) -> None:
        self._parent: dict[Site, Site] = {}

    def find(self, site: Site) -> Site:
        while (up := self._parent.setdefault(site, site)) != site:
            site = up
        return site

    def join(self, sites: frozenset[Site]) -> None:
        first, *others = sorted(sites)
        for other in others:
            self._parent[self.find(other)] = self.find(first)


def split(program: Program) -> None:
    """Rename every variable so that each name is one web of definitions and uses."""
    reaching = _reaching(program)
    union = _Union()
    pinned: set[Site] = set()
    for key, block in program.blocks.items():
        state = dict(reaching[key])
        for index, statement in enumerate(block.statements):
            for name in used(statement):
                union.join(_sites(state, name))
            if isinstance(statement, Call) and statement.moves_stack:
                pinned |= _sites(state, "SP") | {(key, index, "SP")}
            if isinstance(statement, BlockStore | BlockLoad) and statement.writeback:
                # The macro moves its pointer in place: one variable before and after.
                union.join(_sites(state, statement.base) | {(key, index, statement.base)})
            _define(state, key, index, statement)
        for name in used(block.end):
            union.join(_sites(state, name))
        if not block.successors():
            for name in _PINNED:
                union.join(_sites(state, name))
                pinned |= _sites(state, name)
    pinned |= {(-1, -1, name) for name in _PINNED}
    names = _Names(union, {union.find(site) for site in pinned})
    for key, block in program.blocks.items():
        state = dict(reaching[key])
        renamed: list[Statement] = []
        for index, statement in enumerate(block.statements):
            before = {name: names.of(min(_sites(state, name))) for name in used(statement)}
            _define(state, key, index, statement)
            after = {name: names.of((key, index, name)) for name in defined(statement)}
            renamed.append(_rename(statement, before, after))
        block.statements = renamed
        before = {name: names.of(min(_sites(state, name))) for name in used(block.end)}
        block.end = substitute_end(block.end, _renaming(before))


class _Names:
    """Numbers the webs of a register in the order they are asked for."""

    def __init__(self, union: _Union, pinned: set[Site]) -> None:
        self._union, self._pinned = union, pinned
        self._given: dict[Site, str] = {}
        self._count: dict[str, int] = {}

    def of(self, site: Site) -> str:
        web = self._union.find(site)
        if web in self._pinned:
            return site[2]
        if web not in self._given:
            base = site[2].lower() if site[2] in CONTEXT else site[2]
            base = "sp" if base == "x2" else base
            number = self._count[base] = self._count.get(base, 0) + 1
            self._given[web] = base if number == 1 else f"{base}_{number}"
        return self._given[web]


def _sites(state: Reaching, name: str) -> frozenset[Site]:
    return state.get(name, frozenset({(-1, -1, name)}))


def _define(state: Reaching, key: int, index: int, statement: Statement) -> None:
    for name in defined(statement):
        state[name] = frozenset({(key, index, name)})


def _reaching(program: Program) -> dict[int, Reaching]:
    before: dict[int, Reaching] = {key: {} for key in program.blocks}
    visited: set[int] = set()
    changed = True
    while changed:
        changed = False
        for key in program.order():
            state = dict(before[key])
            for index, statement in enumerate(program.blocks[key].statements):
                _define(state, key, index, statement)
            for successor in program.blocks[key].successors():
                merged = state if successor not in visited else _join(before[successor], state)
                if merged != before[successor] or successor not in visited:
                    before[successor] = dict(merged)
                    visited.add(successor)
                    changed = True
    return before


def _join(left: Reaching, right: Reaching) -> Reaching:
    return {name: _sites(left, name) | _sites(right, name) for name in left.keys() | right.keys()}


def _renaming(names: dict[str, str]) -> Rewrite:
    return lambda var: Var(names.get(var.name, var.name))


def _rename(statement: Statement, before: dict[str, str], after: dict[str, str]) -> Statement:
    renamed = substitute(statement, _renaming(before))
    match renamed:
        case Assign(target=target):
            return replace(renamed, target=after[target])
        case BlockStore(base=base):
            return replace(renamed, base=before[base])
        case BlockLoad(base=base, targets=targets):
            return replace(
                renamed, base=before[base], targets=tuple(after[name] for name in targets)
            )
        case Call(result=result, left=left):
            result = None if result is None else after[result]
            return replace(renamed, result=result, left=tuple(after.get(it, it) for it in left))
        case Guest(result=str(result)):
            return replace(renamed, result=after[result])
        case ContextLoad(registers=registers):
            return replace(renamed, registers=tuple(after[name] for name in registers))
    return renamed


def merge_copies(program: Program) -> None:
    """Where `X = v` is all that becomes of a local v, let v's definition write X itself."""
    for target, source in _copies(program):
        if source in _PINNED or source == target or _is_pointer(program, source):
            continue
        if _only_use_is_copy(program, source, target) and not _clash(program, source, target):
            rename(program, source, target)


def rename(program: Program, old: str, new: str) -> None:
    """Give a variable another name everywhere."""
    names = {old: new}
    for block in program.blocks.values():
        renamed = []
        for statement in block.statements:
            after = {name: names.get(name, name) for name in defined(statement)}
            before = {name: names.get(name, name) for name in used(statement)}
            renamed.append(_rename(statement, before, after))
        block.statements = renamed
        block.end = substitute_end(block.end, _renaming(names))


def _copies(program: Program) -> list[tuple[str, str]]:
    return [
        (statement.target, statement.value.name)
        for block in program.blocks.values()
        for statement in block.statements
        if isinstance(statement, Assign) and isinstance(statement.value, Var)
        if statement.target in CONTEXT
    ]


def _only_use_is_copy(program: Program, source: str, target: str) -> bool:
    """Conditions may read the source too: they then read the target."""
    for block in program.blocks.values():
        for statement in block.statements:
            is_copy = isinstance(statement, Assign) and statement.value == Var(source)
            if is_copy and isinstance(statement, Assign) and statement.target != target:
                return False
            if source in used(statement) and not is_copy:
                return False
    return True


def _is_pointer(program: Program, name: str) -> bool:
    return any(
        isinstance(statement, BlockStore | BlockLoad) and statement.base == name
        for block in program.blocks.values()
        for statement in block.statements
    )


def _clash(program: Program, source: str, target: str) -> bool:
    """Whether both names hold different values at the same time somewhere."""
    out = live_out(program)
    for key, block in program.blocks.items():
        live = out[key] | used(block.end)
        for statement in reversed(block.statements):
            written = set(defined(statement))
            is_copy = statement == Assign(statement.origin, target, Var(source))
            if not is_copy and written & {source, target} and live & {source, target} - written:
                return True
            live = (live - written) | used(statement)
        if key == program.entry and {source, target} <= live:
            return True
    return False


def merge_pair(program: Program, first: str, second: str) -> bool:
    """Give two locals one name if they never hold a value at the same time."""
    if first == second or _clash(program, first, second):
        return False
    rename(program, second, first)
    return True
