"""The cooperative half of a switch handler: what lies between saving and restoring the context.

A yield that is a function call has its registers on the stack already, so it needs only this:
store the stack pointer, let the RTOS choose, fetch the chosen stack pointer. The guest library
does so (see virt_yield_task in <fvm/guest.h>) where the handler's frame is one that it builds,
r4-r11 and EXC_RETURN, above them S16-S31 if bit 4 of EXC_RETURN is 0, or r4-r11 alone, and where
the stack pointer is kept as most RTOSes do: in the first word of the running task's control block,
to which a variable points that a function changes, or in a variable.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from porter.context_switch.ir import (
    CONTEXT,
    CORE,
    FPU,
    Assign,
    Binary,
    BlockLoad,
    BlockStore,
    Branch,
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
from porter.context_switch.structure import If, Node, Return, conditions_and_statements, flatten
from porter.context_switch.walk import defined, rewrite, used

_READS_CONTEXT = "the choice of the next task reads the context of the last one"
_FRAME = (*CORE, "LR")
_FRAMES = (_FRAME, CORE)
_FPU_REGISTERS = tuple(map(Var, FPU))
_HAS_FPU = Condition("eq", Const(2), Binary("&", Var("LR"), Const(0x10)), Const(0))


@dataclass(frozen=True)
class Pick:
    """`nodes` are the handler's without the context: SP is the yielding task's saved stack pointer,
    where they set it the chosen one's. `short`: the frame has no EXC_RETURN."""

    nodes: tuple[Node, ...]
    short: bool = False

    def choosing(self, variable: str) -> tuple[Node, ...]:
        """The same with a variable of that name for SP."""
        return tuple(_over(node, Symbol(variable)) for node in self.nodes)


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
    found = _Contexts()
    try:
        kept = found.without(nodes)
    except _NoPick as reason:
        return str(reason)
    return Pick(kept, found.short)


class _NoPick(Exception):
    """str() is the reason."""


class _Contexts:
    """Takes saving and restoring out of a handler. What isn't done on some way through it makes no
    difference: a yield has saved its frame before, and goes on in it where no other is chosen."""

    def __init__(self) -> None:
        self.short = False
        self._frame: tuple[str, ...] = ()
        self._fpu = [0, 0]  # saved, restored

    def without(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        """These nodes without it, with SP in its place."""
        kept = tuple(self._kept(nodes))
        saves, restores = self._counted(nodes)
        if not saves or not restores:
            raise _NoPick("no instruction saves or none restores {r4-r11, EXC_RETURN} or {r4-r11}")
        self.short = self._frame == CORE
        if self.short and any(self._fpu):
            raise _NoPick("the frame has FPU registers and no EXC_RETURN")
        if any(self._fpu) and self._fpu != [saves, restores]:
            raise _NoPick(
                "as much isn't asked before the save as behind the restore (of FPU registers only)"
            )
        return kept

    def _found(self, frame: tuple[str, ...]) -> None:
        if self._frame not in ((), frame):
            raise _NoPick("what is saved isn't what is restored")
        self._frame = frame

    def _counted(self, nodes: tuple[Node, ...]) -> tuple[int, int]:
        flat = flatten(nodes)
        return sum(map(_saves, flat)), sum(map(_restores, flat))

    def _kept(self, nodes: tuple[Node, ...]) -> Iterator[Node]:
        save, restore = _index(nodes, _saves), _index(nodes, _restores)
        for index, node in enumerate(nodes):
            if save is not None and index <= save:
                yield from self._saving(node, nodes[save], index == save)
            elif restore is not None and index >= restore:
                yield from self._restoring(node, nodes[restore], index == restore)
            else:
                yield from self._between(node)

    def _saving(self, node: Node, store: Node, is_store: bool) -> Iterator[Node]:
        assert isinstance(store, BlockStore)
        if is_store:
            self._found(tuple(it.name for it in store.values if isinstance(it, Var)))
            yield Assign(store.origin, store.base, Var("SP"))
        elif _is_entry(node, store.base):
            self._fpu[0] += isinstance(node, If)
        elif store.base in _touched_in(node):
            fpu = isinstance(node, BlockStore) and node.values == _FPU_REGISTERS
            raise _NoPick(
                "FPU registers are saved whatever EXC_RETURN says, a yield saves those in use"
                if fpu
                else "the frame has more in it than {r4-r11, EXC_RETURN} and S16-S31"
            )
        else:
            yield from self._between(node)

    def _restoring(self, node: Node, load: Node, is_load: bool) -> Iterator[Node]:
        assert isinstance(load, BlockLoad)
        if is_load:
            self._found(load.targets)
            yield Assign(load.origin, "SP", Var(load.base))
        elif _is_leave(node, load.base):
            self._fpu[1] += isinstance(node, If)
        elif not isinstance(node, Note):
            raise _NoPick("more than the stack pointer is written after the context is restored")

    def _between(self, node: Node) -> Iterator[Node]:
        if isinstance(node, If):
            then, otherwise = (tuple(self._kept(arm)) for arm in (node.then, node.otherwise))
            if _touched(Branch(node.condition, 0, 0, node.origin)) & set(CONTEXT):
                raise _NoPick(_READS_CONTEXT)
            yield replace(node, then=then, otherwise=otherwise)
        elif isinstance(node, Call) and node.moves_stack:
            raise _NoPick(f"{node.function}(), or what it calls, reads or sets PSP")
        elif not isinstance(node, Note | Return) and _touched(node) & set(CONTEXT):
            if not _says_thread(node):
                raise _NoPick(_READS_CONTEXT)
        elif not isinstance(node, Note):
            yield node


def _over(node: Node, kept: Symbol) -> Node:
    """A node of a pick with the word at `kept` for SP."""
    if isinstance(node, If):
        then, otherwise = (
            tuple(_over(it, kept) for it in arm) for arm in (node.then, node.otherwise)
        )
        return replace(node, then=then, otherwise=otherwise)
    if isinstance(node, Assign) and node.target == "SP":
        return Store(node.origin, kept, node.value)
    if isinstance(node, Assign) and node.value == Var("SP"):
        return replace(node, value=Load(kept))
    return node


def _says_thread(node: Node) -> bool:
    """`LR |= 4`: the task is resumed on PSP, as one that yields is anyway."""
    return node == Assign(node.origin, "LR", Binary("|", Var("LR"), Const(4)))


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
            if running is None or known(node.value) != Var("SP"):
                return None
        elif isinstance(node, Call) and not node.arguments and running and not called:
            running, called = replace(running, choose=node.function), True
            values.clear()
        else:
            return None
    if running is None or not called or values.get("SP") != running.saved:
        return None
    return running


def own_choice(handler: str) -> Running:
    """What a yield is over where the pick of a handler is more: a variable and a function that the
    port adds."""
    return Running(f"{handler}_sp", f"{handler}_choose", is_stack=True)


def _kept_at(address: Expr) -> Running | None:
    """Where a stack pointer is stored to: the running task's block, or a variable."""
    variable = address.address if isinstance(address, Load) else address
    if not isinstance(variable, Symbol):
        return None
    found = Running(variable.name, "", variable is address)
    return found if found.saved == Load(address) else None


def _touched(item: Statement | Terminator) -> set[str]:
    return used(item) | (set(defined(item)) if isinstance(item, Statement) else set())


def _touched_in(node: Node) -> set[str]:
    return {name for item in conditions_and_statements((node,)) for name in _touched(item)}


def _index(nodes: tuple[Node, ...], wanted: Callable[[Node], bool]) -> int | None:
    found = [index for index, node in enumerate(nodes) if wanted(node)]
    if len(found) > 1:
        raise _NoPick("several instructions in a row save or restore {r4-r11}")
    return found[0] if found else None


def _saves(node: Node) -> bool:
    frames = [tuple(map(Var, frame)) for frame in _FRAMES]
    if not isinstance(node, BlockStore):
        return False
    return node.before and node.writeback and node.values in frames


def _restores(node: Node) -> bool:
    if not isinstance(node, BlockLoad):
        return False
    return not node.before and node.writeback and node.targets in _FRAMES


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
