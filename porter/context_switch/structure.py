"""From a control-flow graph to nested ifs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from porter.context_switch.ir import (
    Block,
    Branch,
    Call,
    Condition,
    Exit,
    Expr,
    Jump,
    Load,
    Origin,
    Program,
    Statement,
    Symbol,
)
from porter.context_switch.result import WAITS, NotTranscribable
from porter.context_switch.walk import reads, subexpressions

_INVERSE = {
    "eq": "ne",
    "hs": "lo",
    "mi": "pl",
    "vs": "vc",
    "hi": "ls",
    "ge": "lt",
    "gt": "le",
}
INVERSE = {**_INVERSE, **{value: key for key, value in _INVERSE.items()}}


@dataclass(frozen=True)
class If:
    """Both arms; `otherwise` may be empty."""

    condition: Expr
    then: tuple[Node, ...]
    otherwise: tuple[Node, ...]
    origin: Origin


@dataclass(frozen=True)
class Return:
    """An end of the function that isn't the last line, or that returns a value."""

    origin: Origin
    value: Expr | None = None


Node = Statement | If | Return


def flatten(nodes: tuple[Node, ...]) -> list[Statement | If]:
    """All statements and ifs, outer ones first."""
    found: list[Statement | If] = []
    for node in nodes:
        if isinstance(node, If):
            found.extend([node, *flatten(node.then), *flatten(node.otherwise)])
        elif isinstance(node, Statement):
            found.append(node)
    return found


def conditions_and_statements(nodes: tuple[Node, ...]) -> list[Statement | Branch | Exit]:
    """The same with each if as the branch it came from, and returns, for the readers of `walk`."""
    found: list[Statement | Branch | Exit] = []
    for node in nodes:
        if isinstance(node, If):
            inner = conditions_and_statements((*node.then, *node.otherwise))
            found += [Branch(node.condition, 0, 0, node.origin), *inner]
        elif isinstance(node, Return):
            found.append(Exit(node.origin, node.value))
        else:
            found.append(node)
    return found


def structure(program: Program) -> tuple[Node, ...]:
    """The program as a list of statements and ifs.

    Raises NotTranscribable for a loop: nothing says here that it ends.
    """
    _refuse_loops(program)
    return _Structurer(program).run()


class _Structurer:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._order = {key: place for place, key in enumerate(program.order())}
        self._reach: dict[int, frozenset[int]] = {}

    def run(self) -> tuple[Node, ...]:
        return self._sequence(self._program.entry, None)

    def _sequence(self, key: int | None, stop: int | None) -> tuple[Node, ...]:
        nodes: list[Node] = []
        while key is not None and key != stop:
            block = self._program.blocks[key]
            nodes.extend(block.statements)
            match block.end:
                case Jump(target):
                    key = target
                case Branch():
                    more, key = self._branch(block.end, stop)
                    nodes.extend(more)
                case Exit(origin, value):
                    if stop is not None or value is not None:
                        nodes.append(Return(origin, value))
                    key = None
        return tuple(nodes)

    def _branch(self, end: Branch, stop: int | None) -> tuple[list[Node], int | None]:
        """The if of a branch and the block where its arms meet again."""
        meeting = self._meeting(end.taken, end.otherwise)
        if meeting is None:
            # One arm leaves: it becomes the body of the if, the other goes on below it.
            short, long, condition = end.taken, end.otherwise, end.condition
            if len(self._reachable(long)) < len(self._reachable(short)):
                short, long, condition = long, short, inverse(condition)
            body = self._sequence(short, None)
            ended = body and isinstance(body[-1], Return)
            if not ended and (
                not isinstance(self._program.blocks[long].end, Exit)
                or self._program.blocks[long].statements
                or stop is not None
            ):
                body = (*body, Return(()))
            return [If(condition, body, (), end.origin)], long
        then = self._sequence(end.taken, meeting)
        otherwise = self._sequence(end.otherwise, meeting)
        condition = end.condition
        if not then:
            then, otherwise, condition = otherwise, (), inverse(condition)
        return [If(condition, then, otherwise, end.origin)], meeting

    def _reachable(self, key: int) -> frozenset[int]:
        if key not in self._reach:
            found = {key}
            for successor in self._program.blocks[key].successors():
                found |= self._reachable(successor)
            self._reach[key] = frozenset(found)
        return self._reach[key]

    def _meeting(self, left: int, right: int) -> int | None:
        """The first block that every path from both arms passes, None if they part for good."""
        common = sorted(self._reachable(left) & self._reachable(right), key=self._order.__getitem__)
        for key in common:
            if not self._avoidable(left, key) and not self._avoidable(right, key):
                return key
        return None

    def _avoidable(self, start: int, key: int) -> bool:
        """Whether some path from start ends without passing key."""
        if start == key:
            return False
        successors = self._program.blocks[start].successors()
        return not successors or any(self._avoidable(successor, key) for successor in successors)


def inverse(condition: Expr) -> Expr:
    """The opposite condition."""
    if not isinstance(condition, Condition):
        raise NotTranscribable("a branch on something that is no condition")
    return Condition(INVERSE[condition.code], condition.kind, condition.left, condition.right)


def _refuse_loops(program: Program) -> None:
    order = program.order()
    place = {key: index for index, key in enumerate(order)}
    for key in place:
        back = [place[it] for it in program.blocks[key].successors() if place[it] <= place[key]]
        if not back:
            continue
        if any(looks_at_memory(program.blocks[it]) for it in order[min(back) : place[key] + 1]):
            raise NotTranscribable(
                "has a loop whose end nothing guarantees: a wait in VCT would starve the tasks; "
                "resume an idle task that calls hyp_vct_wait() and requests the switch again",
                WAITS,
            )
        raise NotTranscribable(
            "has a loop over registers whose end can't be shown: search in a C function that it "
            "calls, or with a bound"
        )


def looks_at_memory(block: Block) -> bool:
    """Whether a block reads any."""
    return any(
        isinstance(part, Load)
        for item in (*block.statements, block.end)
        for expr in reads(item)
        for part in subexpressions(expr)
    )


def only_compared(nodes: tuple[Node, ...]) -> frozenset[str]:
    """Names whose address a condition asks for, and nothing else."""
    compared, accessed = set[str](), set[str]()
    for item in conditions_and_statements(nodes):
        for expr in reads(item):
            if isinstance(item, Branch):
                compared |= _named([expr])
                loads = [it for it in subexpressions(expr) if isinstance(it, Load)]
                accessed |= _named(it.address for it in loads)
            else:
                accessed |= _named([expr])
    return frozenset(compared - accessed)


def _named(exprs: Iterable[Expr]) -> set[str]:
    return {it.name for expr in exprs for it in subexpressions(expr) if isinstance(it, Symbol)}


def symbols(nodes: tuple[Node, ...]) -> set[str]:
    """Every name that the C mentions: of variables, places and functions."""
    found: set[str] = set()
    for item in conditions_and_statements(nodes):
        found |= _named(reads(item))
        if isinstance(item, Call):
            found.add(item.function)
    return found
