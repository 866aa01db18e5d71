"""What a handler that resumes a task at a supervisor call uses of its caller: neither its mask nor
the registers that it passes something in.

The call of a guest goes through its library (`virt_svc`): where the original finds the caller's
r0 to r3 and the address behind its `svc`, a port finds that library's.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.context_switch.c_flow import CUnits
from porter.context_switch.caller_frame import name_of, words_read
from porter.context_switch.handler import Handler
from porter.context_switch.ir import (
    Assign,
    Binary,
    BlockLoad,
    BlockStore,
    Call,
    Const,
    Expr,
    Load,
    Statement,
    Var,
)
from porter.context_switch.notes import written
from porter.context_switch.project_data import ProjectData
from porter.context_switch.result import (
    DISPATCHES,
    ROLE_SVC,
    ROLE_SWITCH,
    NotTranscribable,
)
from porter.context_switch.structure import If, Node, Return
from porter.context_switch.supervisor import serves_calls
from porter.context_switch.walk import defined, reads, subexpressions
from porter.project.vectors import Vectors
from porter.source.c_tree import one_line

_OWN = 28  # bytes of r0-r3, r12, lr and pc: the caller's, or the address behind its svc
_WHY = (
    "arguments of a supervisor call don't come that way, for a guest's goes through its library. "
    "Let the caller call C instead"
)


def refuse_callers_state(handler: Handler, vectors: Vectors, project: ProjectData) -> None:
    """NotTranscribable where the handler, or C that it hands the frame to, uses them, unless all
    calls are of the kind that brings its caller's registers."""
    if handler.role not in (ROLE_SWITCH, ROLE_SVC):
        return
    if serves_calls(handler.role, handler.names, vectors):
        _refuse_mask(handler)
        if project.services.problem or not project.serves_calls_alone(handler.names):
            _refuse_registers(handler, project.units)


def _refuse_mask(handler: Handler) -> None:
    """BASEPRI doesn't hold supervisor calls, so it may be set by the caller. A switch is taken for
    PendSV's, which finds it clear."""
    uses = any("basepri" in text.lower() for _, text in handler.texts)
    if handler.role == ROLE_SWITCH and uses:
        raise NotTranscribable(
            "switches tasks at a supervisor call and uses BASEPRI, which may be its caller's then: "
            "keep BASEPRI out of it, or let PendSV switch"
        )


def _refuse_registers(handler: Handler, units: CUnits) -> None:
    frame = _Frame()
    frame.run(handler.nodes, {"SP": 0})
    for item in frame.read:
        told = f"'{written(item.origin)}' reads a register of its caller: {_WHY}"
        raise NotTranscribable(told, DISPATCHES)
    for call, place, offset in frame.handed_on:
        starts = units.parameter_uses(call.function.encode(), place)
        for read in words_read(starts, units, range(-offset // 4, (_OWN - offset) // 4)):
            what = f"{name_of(read)}() reads '{one_line(read)}'"
            raise NotTranscribable(f"{what}, a register of its caller: {_WHY}", DISPATCHES)


class _Frame:
    """Follows pointers to the frame at PSP through statements in their order."""

    def __init__(self) -> None:
        self.read: list[Statement | If | Return] = []
        self.handed_on: list[
            tuple[Call, int, int]
        ] = []  # argument, and bytes behind the frame's start

    def run(self, nodes: tuple[Node, ...], known: dict[str, int]) -> dict[str, int]:
        """`known`: how many bytes behind the frame's start a variable points; returns the same
        behind the nodes."""
        for node in nodes:
            for offset in self._offsets(node, known):
                if 0 <= offset < _OWN:
                    self.read.append(node)
            if isinstance(node, If):
                ends = [self.run(arm, dict(known)) for arm in (node.then, node.otherwise)]
                known = {name: at for name, at in ends[0].items() if ends[1].get(name) == at}
            elif not isinstance(node, Return):
                for place, argument in enumerate(node.arguments if isinstance(node, Call) else ()):
                    if isinstance(node, Call) and (at := _offset(argument, known)) is not None:
                        self.handed_on.append((node, place, at))
                known = _behind(node, known)
        return known

    def _offsets(self, node: Node, known: dict[str, int]) -> Iterator[int]:
        """Of what a statement or a condition reads."""
        read: tuple[Expr, ...] = (node.condition,) if isinstance(node, If) else ()
        read = reads(node) if isinstance(node, Statement) else read
        for expr in read:
            for part in subexpressions(expr):
                at = _offset(part.address, known) if isinstance(part, Load) else None
                yield from () if at is None else (at,)
        if isinstance(node, BlockLoad) and node.base in known:
            first = known[node.base] - (4 * len(node.targets) if node.before else 0)
            yield from (first + 4 * number for number in range(len(node.targets)))


def _behind(statement: Statement, known: dict[str, int]) -> dict[str, int]:
    after = {name: at for name, at in known.items() if name not in defined(statement)}
    match statement:
        case Assign(target=target, value=value):
            at = _offset(value, known)
            return after if at is None else after | {target: at}
        case BlockStore(base=base, values=words, before=before, writeback=True) if base in known:
            return after | {base: known[base] + (-4 if before else 4) * len(words)}
        case BlockLoad(base=base, targets=words, before=before, writeback=True) if base in known:
            if base not in words:
                return after | {base: known[base] + (-4 if before else 4) * len(words)}
    return after


def _offset(expr: Expr, known: dict[str, int]) -> int | None:
    match expr:
        case Var(name):
            return known.get(name)
        case Binary("+" | "-" as sign, left, Const(step)):
            at = _offset(left, known)
            step = step - (1 << 32) if step >= 1 << 31 else step
            return None if at is None else at + (step if sign == "+" else -step)
    return None
