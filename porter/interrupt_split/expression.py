"""Expressions of a handler with every register access, macro and inline function seen through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from porter.interrupt_split.device import DeviceRegister

Kind = Literal[
    "const",  # a number
    "read",  # of a register of the device
    "write",  # to a register of the device
    "local",  # a variable of the handler that lives in a processor register
    "set",  # an assignment to a local
    "pure",  # computes with its parts
    "and",
    "or",
    "choice",  # ?:
    "expansion",  # a macro or an inline function: its one part is what it stands for
    "memory",  # the VM's memory, read or written
    "call",
    "hardware",  # a register of another block, or one that can't be told
    "asm",
]
ALL_BITS = 0xFFFF_FFFF


@dataclass(eq=False)
class Expr:
    """`pieces` are its text with its parts in their places; `span` is where it stands in the
    file, None inside an expansion; `line` is where a reader looks for it."""

    kind: Kind
    pieces: list[str | Expr]
    line: int
    span: tuple[int, int] | None = None
    register: DeviceRegister | None = None
    possible: DeviceRegister | None = None  # what it is if the pointer leads to the device
    operator: str = ""
    value: Expr | None = None  # what is written
    name: str = ""  # of a local or a function, or the text of memory
    owner: int = 0  # tells the locals of one function from those of another
    number: int = 0
    constants: dict[str, int] = field(default_factory=dict)  # names in the text of a constant
    parent: Expr | None = None
    indirect: bool = False  # a call through a pointer

    @property
    def parts(self) -> list[Expr]:
        """Sub-expressions in the order of evaluation."""
        inner = [piece for piece in self.pieces if isinstance(piece, Expr)]
        if self.value is not None and self.value not in inner:
            inner.append(self.value)
        return inner

    @property
    def variable(self) -> tuple[int, str]:
        """Identity of a local."""
        return self.owner, self.name

    def walk(self) -> Iterator[Expr]:
        """The expression and all below it, in order."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def is_visible(self) -> bool:
        """Whether the value depends on registers, constants and locals only."""
        return all(item.kind not in ("memory", "call", "hardware", "asm") for item in self.walk())

    @property
    def text(self) -> str:
        """As written, expansions as what they stand for."""
        return "".join(p if isinstance(p, str) else p.text for p in self.pieces)


def adopt(expr: Expr) -> Expr:
    """Tell the parts who they belong to."""
    for part in expr.parts:
        part.parent = expr
    return expr


def peeled(expr: Expr) -> Expr:
    """Without parentheses, casts and expansions around it."""
    while True:
        if expr.kind == "expansion" or (expr.kind == "pure" and expr.operator in ("()", "cast")):
            expr = expr.parts[0]
        else:
            return expr
