"""The cooperative half of a switch handler: what lies between saving and restoring the context.

A yield that is a function call has its registers on the stack already, so it needs only this:
store the stack pointer, let the RTOS choose, fetch the chosen stack pointer. The guest library
does so (see virt_yield_task in <fvm/guest.h>) where the handler's frame is one that it builds,
r4-r11 and EXC_RETURN, above them S16-S31 if bit 4 of EXC_RETURN is 0, or r4-r11 alone, and where
the stack pointer is kept as most RTOSes do: in the first word of the running task's control block,
to which a variable points that a function changes, or in a variable.
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
    Condition,
    Const,
    Expr,
    Load,
    Note,
    Statement,
    Store,
    Symbol,
    Terminator,
    Var,
)
from porter.context_switch.structure import If, Node, Return, conditions_and_statements
from porter.context_switch.walk import defined, rewrite, used

_CONDITIONAL = "the context is saved or restored under a condition, or in one arm of it"
_FRAME = (*CORE, "LR")
_FRAMES = (_FRAME, CORE)
_FPU_REGISTERS = tuple(map(Var, FPU))
_HAS_FPU = Condition("eq", Const(2), Binary("&", Var("LR"), Const(0x10)), Const(0))


@dataclass(frozen=True)
class Pick:
    """`nodes` use the local `parameter` as the saved stack pointer and leave the chosen one in
    `result`. `short`: the frame has no EXC_RETURN."""

    nodes: tuple[Node, ...]
    parameter: str
    result: str
    short: bool = False


@dataclass(frozen=True)
class Running:
    """The variable that points to the running task's control block, or has its stack pointer
    (`is_stack`), and the function that may change it."""

    variable: str
    choose: str
    is_stack: bool = False

    @property
    def saved(self) -> Expr:
        """The stack pointer."""
        place = Symbol(self.variable)
        return Load(place) if self.is_stack else Load(Load(place))


def find_pick(nodes: tuple[Node, ...]) -> Pick | str:
    """The pick of a handler, or the reason why there is none."""
    save = _index(nodes, lambda node: isinstance(node, BlockStore) and _saves(node))
    restore = _index(nodes, lambda node: isinstance(node, BlockLoad) and _restores(node))
    if save is None or restore is None or restore < save:
        return _why_no_frame(nodes)
    saved, restored = nodes[save], nodes[restore]
    assert isinstance(saved, BlockStore) and isinstance(restored, BlockLoad)
    if saved.values != tuple(map(Var, restored.targets)):
        return "what is saved isn't what is restored"
    short = restored.targets == CORE
    if short and any(isinstance(node, If) for node in (*nodes[:save], *nodes[restore:])):
        return "the frame has FPU registers and no EXC_RETURN"
    early = [node for node in nodes[:save] if not _is_entry(node, saved.base)]
    late = [node for node in nodes[restore + 1 :] if not _is_leave(node, restored.base)]
    if any(saved.base in _touched(item) for item in conditions_and_statements(tuple(early))):
        if any(isinstance(node, BlockStore) and node.values == _FPU_REGISTERS for node in early):
            return "FPU registers are saved whatever EXC_RETURN says, a yield saves those in use"
        return "the frame has more in it than {r4-r11, EXC_RETURN} and S16-S31"
    if any(not isinstance(node, Note) for node in late):
        return "more than the stack pointer is written after the context is restored"
    if sum(isinstance(node, If) for node in nodes[:save]) != sum(
        isinstance(node, If) for node in nodes[restore:]
    ):
        return "as much isn't asked before the save as behind the restore (of FPU registers only)"
    middle = (*early, *nodes[save + 1 : restore])
    for node in middle:
        if isinstance(node, Return):
            return "the handler returns between saving and restoring"
    for item in conditions_and_statements(middle):
        if isinstance(item, Call) and item.moves_stack:
            return f"{item.function}(), or what it calls, reads or sets PSP"
    for item in conditions_and_statements(middle):
        if _touched(item) & set(CONTEXT):
            return "the choice of the next task reads the context of the last one"
    kept = tuple(node for node in middle if not isinstance(node, Note))
    return Pick(kept, saved.base, restored.base, short)


def _why_no_frame(nodes: tuple[Node, ...]) -> str:
    for item in conditions_and_statements(nodes):
        if (isinstance(item, BlockStore) and _saves(item) and item not in nodes) or (
            isinstance(item, BlockLoad) and _restores(item) and item not in nodes
        ):
            return _CONDITIONAL
    return "no single instruction saves or none restores {r4-r11, EXC_RETURN} or {r4-r11}"


def running_task(pick: Pick) -> Running | None:
    """What a pick is about, if it does no more than `*task = sp; choose(); sp = *task;`, or the
    same with a variable of the stack pointer's own."""
    values: dict[str, Expr] = {}

    def known(expr: Expr) -> Expr:
        return rewrite(expr, lambda variable: values.get(variable.name, variable))

    running: Running | None = None
    called = False
    for node in pick.nodes:
        if isinstance(node, Assign):
            values[node.target] = known(node.value)
        elif isinstance(node, Store) and node.size == 4 and running is None:
            running = _kept_at(known(node.address))
            if running is None or known(node.value) != Var(pick.parameter):
                return None
        elif isinstance(node, Call) and not node.arguments and running and not called:
            running, called = replace(running, choose=node.function), True
            values.clear()
        else:
            return None
    if running is None or not called or values.get(pick.result) != running.saved:
        return None
    return running


def _kept_at(address: Expr) -> Running | None:
    """Where a stack pointer is stored to: the running task's block, or a variable."""
    variable = address.address if isinstance(address, Load) else address
    if not isinstance(variable, Symbol):
        return None
    found = Running(variable.name, "", variable is address)
    return found if found.saved == Load(address) else None


def _touched(item: Statement | Terminator) -> set[str]:
    return used(item) | (set(defined(item)) if isinstance(item, Statement) else set())


def _index(nodes: tuple[Node, ...], wanted: object) -> int | None:
    found = [index for index, node in enumerate(nodes) if wanted(node)]  # type: ignore[operator]
    return found[0] if len(found) == 1 else None


def _saves(store: BlockStore) -> bool:
    frames = [tuple(map(Var, frame)) for frame in _FRAMES]
    return store.before and store.writeback and store.values in frames


def _restores(load: BlockLoad) -> bool:
    return not load.before and load.writeback and load.targets in _FRAMES


def _is_entry(node: Node, base: str) -> bool:
    """`sp = PSP`, and the FPU registers in front of the frame."""
    if isinstance(node, If):
        store = _with_fpu(node)
        return (
            isinstance(store, BlockStore)
            and store.values == _FPU_REGISTERS
            and (store.base == base and store.before and store.writeback)
        )
    return isinstance(node, Note) or (
        isinstance(node, Assign) and node.target == base and node.value == Var("SP")
    )


def _is_leave(node: Node, base: str) -> bool:
    """The FPU registers behind the frame, and `PSP = sp`."""
    if isinstance(node, If):
        load = _with_fpu(node)
        return (
            isinstance(load, BlockLoad)
            and load.targets == FPU
            and (load.base == base and not load.before and load.writeback)
        )
    return isinstance(node, Assign) and node.target == "SP" and node.value == Var(base)


def _with_fpu(node: If) -> Node | None:
    """All that happens where a task has the FPU, if it is one thing, and nothing where not."""
    inner = [item for item in node.then if not isinstance(item, Note)]
    is_alone = node.condition == _HAS_FPU and not node.otherwise and len(inner) == 1
    return inner[0] if is_alone else None
