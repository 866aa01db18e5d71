"""Store and load multiple as C: one block copy where USR_REG has the same order, else words."""

from __future__ import annotations

from porter.context_switch.emit_expression import WORD_POINTER, Expressions, context_field
from porter.context_switch.ir import CONTEXT, CORE, FPU, UNREAD, BlockLoad, BlockStore, Var
from porter.context_switch.result import NotTranscribable

_BLOCK_ORDER = (*CORE, "LR")


def block_store(store: BlockStore, expressions: Expressions) -> list[str]:
    """The statements of a store multiple."""
    base, count = _base(store.base), len(store.values)
    names = tuple(value.name if isinstance(value, Var) else "" for value in store.values)
    if store.before and store.writeback:
        return [
            _macro("STMDB", base, run, expressions)
            or f"*--{base} = {expressions.integer(store.values[place])}"
            for place, run in reversed(_runs(names))
        ]
    if store.writeback:
        return [
            _macro("STMIA", base, run, expressions)
            or f"*{base}++ = {expressions.integer(store.values[place])}"
            for place, run in _runs(names)
        ]
    values = [expressions.integer(value) for value in store.values]
    first = -count if store.before and not store.writeback else 0
    texts = [
        f"{expressions.element(base, first + index)} = {value}"
        for index, value in enumerate(values)
    ]
    return texts


def block_load(load: BlockLoad, expressions: Expressions) -> list[str]:
    """The statements of a load multiple."""
    base, count = _base(load.base), len(load.targets)
    if not load.before and load.writeback:
        return [
            _macro("LDMIA", base, run, expressions) or _loaded(run[0], f"*{base}++", expressions)
            for _, run in _runs(load.targets)
        ]
    first = -count if load.before and not load.writeback else 0
    texts = [
        _loaded(target, expressions.element(base, first + index), expressions)
        for index, target in enumerate(load.targets)
        if target != UNREAD
    ]
    return [f"{base} -= {count}", *texts] if load.writeback else texts


def _loaded(target: str, place: str, expressions: Expressions) -> str:
    if target == UNREAD:
        return place.lstrip("*")  # sp++ alone
    if target in CONTEXT:
        return f"{context_field(target)} = {place}"
    if target in expressions.pointers:
        place = expressions.cast(WORD_POINTER, place)
    return f"{target} = {place}"


def _runs(registers: tuple[str, ...]) -> list[tuple[int, tuple[str, ...]]]:
    """The registers in pieces, each with its place: neighbours in USR_REG, or a single one."""
    if registers == FPU:
        return [(0, registers)]
    runs: list[tuple[int, tuple[str, ...]]] = []
    for place, name in enumerate(registers):
        last = runs[-1][1][-1] if runs else ""
        behind = _BLOCK_ORDER.index(last) + 1 if last in _BLOCK_ORDER else len(_BLOCK_ORDER)
        if name in _BLOCK_ORDER[behind : behind + 1]:
            runs[-1] = (runs[-1][0], (*runs[-1][1], name))
        else:
            runs.append((place, (name,)))
    return runs


def _macro(
    name: str, base: str, registers: tuple[str, ...], expressions: Expressions
) -> str | None:
    """The block copy of <fvm/usr_reg.h>, if the registers are neighbours in USR_REG."""
    if registers == FPU:
        return f"USR_V{name}{expressions.paren(base)}"
    if len(registers) > 1 and registers[0] in _BLOCK_ORDER:
        first = _BLOCK_ORDER.index(registers[0])
        if registers == _BLOCK_ORDER[first : first + len(registers)]:
            arguments = ", ".join((base, registers[0], registers[-1]))
            return f"USR_{name}{expressions.paren(arguments)}"
    return None


def _base(base: str) -> str:
    if base in CONTEXT:
        raise NotTranscribable(f"moves a block through the task's own {base.lower()}")
    return base
