"""A switch handler for a task that yields in user mode: all of it but the saving and loading of
r4-r11 and S16-S31, which lie where the guest library has put them and looks for them
(`virt_yield_frames` in <fvm/guest.h>): right below the exception frame.

What else the handler does to frames it does here too: a word that says whether FPU state is in
it, an EXC_RETURN below all. It gets a frame as PendSV finds it and leaves one that anybody may
resume, so nothing is asked of who looks into frames. That the registers do lie there is proved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.context_switch.ir import (
    CONTEXT,
    CORE,
    FPU,
    Assign,
    Binary,
    BlockLoad,
    BlockStore,
    Call,
    Const,
    Expr,
    Guest,
    Note,
    Statement,
    Store,
    Var,
)
from porter.context_switch.structure import If, Node, conditions_and_statements
from porter.context_switch.walk import defined, subexpressions, used, variables

_BLOCKS = (CORE, FPU)
_OTHER_THERE = frozenset({"PRIMASK", "IPSR"})  # the library masks; it is no handler
ROOM = 8  # as guest_choose_by_frame has it


@dataclass(frozen=True)
class Yielded:
    """The handler's own nodes without those blocks. SP and LR are the task's: see `virt_task`."""

    nodes: tuple[Node, ...]


def yielded(nodes: tuple[Node, ...]) -> Yielded | str:
    """What a yield needs of a handler, or the reason why that can't be had."""
    items = conditions_and_statements(nodes)
    for item in items:
        if isinstance(item, Call) and item.moves_stack:
            return f"{item.function}(), or what it calls, reads or sets PSP"
        if isinstance(item, Guest) or used(item) & _OTHER_THERE:
            return "it asks for what is another thing in user mode: a mask or the handler's mode"
    found = _changed(nodes)
    for item in conditions_and_statements(found):
        changed = set(defined(item)) if isinstance(item, Statement) else set()
        if (used(item) | changed) & (set(CONTEXT) - {"SP", "LR"}):
            return "r4-r11 aren't saved and restored as one block each"
    saves = sum(isinstance(it, BlockStore) and _registers(it) == CORE for it in items)
    loads = sum(isinstance(it, BlockLoad) and _registers(it) == CORE for it in items)
    if (saves, loads) != (1, 1):
        return "r4-r11 aren't saved and restored as one block each"
    if _below(nodes) > ROOM:
        return f"more than {ROOM} bytes are saved below r4-r11"
    return Yielded(found)


def _below(nodes: tuple[Node, ...]) -> int:
    """How far the handler goes on below r4-r11, at most."""
    depth, tracked = 0, set[str]()
    for item in conditions_and_statements(nodes):
        match item:
            case BlockStore(base=base) if _registers(item) == CORE:
                tracked.add(base)
            case BlockLoad(base=base) if _registers(item) == CORE:
                break
            case BlockStore(base=base, before=True, values=values) if base in tracked:
                depth += 4 * len(values)
            case Assign(target=target, value=value) if variables(value) & tracked:
                tracked.add(target)
                depth += sum(_step(part) for part in subexpressions(value))
            case Store(address=address) if variables(address) & tracked:
                depth += sum(_step(part) for part in subexpressions(address))
    return depth


def _step(expr: Expr) -> int:
    """Bytes that an expression goes down; a sum that nobody knows goes far."""
    match expr:
        case Binary("-", _, Const(value)) if value < 1 << 31:
            return value
        case Binary("+", _, Const(value)):
            return (1 << 32) - value if value >= 1 << 31 else 0
        case Binary():
            return 1 << 31
    return 0


def _registers(item: BlockStore | BlockLoad) -> tuple[str, ...]:
    if isinstance(item, BlockLoad):
        return item.targets
    return tuple(it.name if isinstance(it, Var) else "" for it in item.values)


def _changed(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Without what only a comment says; an if of nothing is nothing."""
    found = (_without_block(it) for it in nodes if not isinstance(it, Note))
    return tuple(it for it in found if not isinstance(it, If) or it.then or it.otherwise)


def _without_block(node: Node) -> Node:
    """Of a block that is saved or loaded only the way of the pointer is left."""
    match node:
        case If(then=then, otherwise=otherwise):
            return replace(node, then=_changed(then), otherwise=_changed(otherwise))
        case BlockStore(before=True, writeback=True) if _registers(node) in _BLOCKS:
            return _moved(node, "-")
        case BlockLoad(before=False, writeback=True) if _registers(node) in _BLOCKS:
            return _moved(node, "+")
    return node


def _moved(block: BlockStore | BlockLoad, sign: str) -> Assign:
    size = Const(4 * len(_registers(block)))
    return Assign(block.origin, block.base, Binary(sign, Var(block.base), size))
