"""What the mid-section does, before it is text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from porter.interrupt_split.device import DeviceRegister
from porter.interrupt_split.expression import Expr


@dataclass(eq=False)
class Field:
    """A word of the record: what one read gave. `reads` are the places in the handler that it
    stands for, none where only the mid-section looks."""

    name: str
    register: DeviceRegister
    line: int
    reads: list[Expr] = field(default_factory=list)


@dataclass(eq=False)
class Node:
    """A step; `line` is the handler's."""

    line: int


@dataclass(eq=False)
class Read(Node):
    """Read a register into the record."""

    field: Field


@dataclass(eq=False)
class Write(Node):
    """Acknowledge."""

    access: Expr


@dataclass(eq=False)
class Assign(Node):
    """A local of the handler; `type` where it is declared."""

    variable: tuple[int, str]
    type: str
    operator: str
    value: Expr | None


@dataclass(eq=False)
class Consumed(Node):
    """The cause is gone; with `field`, only if one of `bits` is in it."""

    field: Field | None = None
    bits: int = 0


@dataclass(eq=False)
class Leave(Node):
    """Nothing of what follows happens."""


@dataclass(eq=False)
class If(Node):
    """`condition` with every read in it in the record already."""

    condition: Expr
    body: list[Node]
    other: list[Node]


@dataclass(eq=False)
class Block(Node):
    """The body of a helper, with its own locals."""

    body: list[Node]


@dataclass(eq=False)
class Case:
    """`label` None: default; `falls` into the next one."""

    line: int
    label: Expr | None
    body: list[Node]
    falls: bool


@dataclass(eq=False)
class Switch(Node):
    """As in C."""

    value: Expr
    cases: list[Case]


def shape(nodes: list[Node]) -> tuple[object, ...]:
    """Equal for equal steps, wherever in the handler they come from."""
    return tuple(_shape(node) for node in nodes)


def _shape(node: Node) -> tuple[object, ...]:
    match node:
        case Read(field=found):
            return ("read", found.register)
        case Write(access=access):
            return ("write", access.register, access.text)
        case Assign(variable=(_, name), type=kind, operator=operator, value=value):
            return ("assign", name, kind, operator, value.text if value is not None else "")
        case Consumed(bits=bits):
            return ("consumed", bits)
        case If(condition=condition, body=body, other=other):
            return ("if", condition.text, shape(body), shape(other))
        case Block(body=body):
            return ("block", shape(body))
        case Switch(value=value, cases=cases):
            return ("switch", value.text, tuple(
                (c.label.text if c.label is not None else "", shape(c.body), c.falls)
                for c in cases
            ))  # fmt: skip
    return ("leave",)


def all_nodes(nodes: Sequence[Node]) -> Iterator[Node]:
    """All steps, in order."""
    for node in nodes:
        yield node
        match node:
            case If(body=body, other=other):
                yield from all_nodes([*body, *other])
            case Block(body=body):
                yield from all_nodes(body)
            case Switch(cases=cases):
                for case in cases:
                    yield from all_nodes(case.body)


def expressions_of(node: Node) -> list[Expr]:
    """Expressions of a step's own."""
    match node:
        case Write(access=access):
            return [access.value] if access.value is not None else []
        case Assign(value=value):
            return [value] if value is not None else []
        case If(condition=condition):
            return [condition]
        case Switch(value=value, cases=cases):
            return [value, *(case.label for case in cases if case.label is not None)]
    return []
