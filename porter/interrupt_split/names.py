"""What names stand for, and where nodes stand, while expressions are built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from porter.interrupt_split.expression import Expr
from porter.interrupt_split.functions import Function
from porter.source.c_tree import Node, SyntaxTree
from porter.source.evaluate import Scope
from porter.source.values import Value


@dataclass
class Names:
    """What the names of one function stand for. `scalars`: locals in processor registers, with
    the type that the mid-section writes; `values`: parameters that an argument gives a value;
    `arguments`: parameters that stand for an expression."""

    owner: int
    scope: Scope
    scalars: Mapping[str, str]
    values: Mapping[bytes, Value] = field(default_factory=dict)
    arguments: Mapping[bytes, Expr] = field(default_factory=dict)

    def look_up(self, name: bytes) -> Value | None:
        """As the evaluator asks."""
        return self.values[name] if name in self.values else self.scope(name)


@dataclass(frozen=True)
class Source:
    """Where nodes stand: a file's tree, or text that took the place of line `line`."""

    tree: SyntaxTree | None
    function: Function | None
    line: int = 0

    def span(self, node: Node) -> tuple[int, int] | None:
        """Offsets in the file."""
        return None if self.tree is None else (self.tree.start(node), self.tree.end(node))

    def line_of(self, node: Node) -> int:
        """Line for a reader."""
        if self.tree is None or self.function is None:
            return self.line
        return self.function.text.file.line(self.tree.start(node))
