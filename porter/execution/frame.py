"""A call while it runs."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.execution.program import FunctionText, Where
from porter.execution.words import Memory, Value
from porter.source.c_tree import Node, text_of
from porter.source.c_types import CType
from porter.source.declarations import parameter_list
from porter.source.declared import declared_name


@dataclass(eq=False)
class Frame:
    """A call. `called_at`: the line of the call, None for an entry point."""

    function: FunctionText
    arguments: tuple[Value, ...]
    caller: Frame | None
    called_at: Where | None
    variables: dict[str, tuple[Memory, CType]] = field(default_factory=dict)
    results: list[Value] = field(default_factory=list)
    exits: list[bool] = field(default_factory=list)  # of each loop: whether a break was seen


def parameters_of(function: FunctionText) -> list[tuple[str, Node, Node]]:
    """Name, type and declarator of each parameter."""
    parameters = parameter_list(function.node)
    found = []
    for item in parameters.named_children if parameters is not None else ():
        kind = item.child_by_field_name("type")
        inner = item.child_by_field_name("declarator")
        name = declared_name(inner) if inner is not None else None
        if kind is not None and inner is not None and name is not None:
            found.append((text_of(name).decode("latin-1"), kind, inner))
    return found
