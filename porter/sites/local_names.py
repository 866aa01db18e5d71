"""What the names of a function and of a file's own variables stand for."""

from __future__ import annotations

from collections.abc import Iterator

from porter.project.knowledge import CText
from porter.sites.fixed_values import is_fixed
from porter.source.arithmetic import converted
from porter.source.c_tree import Node, captured, query, text_of, walk
from porter.source.declared import declared_name
from porter.source.evaluate import Scope, typed_place
from porter.source.possible import one_of
from porter.source.values import Initial, Number, Pointer, Value

_ASSIGNMENTS = query("(assignment_expression) @it")


def declarations(node: Node, file_level: bool = False) -> Iterator[tuple[Node, Node, Node | None]]:
    """(type, declarator, initialiser) of every declaration and parameter in a node.

    `file_level`: only those outside functions.
    """
    for item in node.children if file_level else walk(node):
        kind = item.child_by_field_name("type")
        if kind is None or item.type not in ("declaration", "parameter_declaration"):
            continue
        for declarator in item.children_by_field_name("declarator"):
            if declarator.type == "init_declarator":
                inner = declarator.child_by_field_name("declarator")
                if inner is not None:
                    yield kind, inner, declarator.child_by_field_name("value")
            else:
                yield kind, declarator, None


def assignments(root: Node) -> dict[bytes, list[Node]]:
    """What is assigned to names in a node."""
    found: dict[bytes, list[Node]] = {}
    for node in captured(root, _ASSIGNMENTS, "it"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None and left.type == "identifier":
            found.setdefault(text_of(left), []).append(right)
    return found


def scope_of(root: Node, text: CText, outer: Scope, file_level: bool = False) -> Scope:
    """A scope of the declarations in `root`: constants by value, the rest by type.

    What another file may write is no constant, nor is a name with another value in another block
    or #if arm. A pointer to a register is taken to stay one, so that accesses through it are found.
    """
    evaluator = text.evaluator
    written = text.written.inside(root)
    known: dict[bytes, Value | None] = {}
    pending: dict[bytes, list[tuple[Node, Node, Node | None]]] = {}
    given: dict[bytes, list[Node]] = {}
    for kind, declarator, value in declarations(root, file_level):
        name = declared_name(declarator)
        if name is not None:
            pending.setdefault(text_of(name), []).append((kind, declarator, value))

    def assigned(name: bytes) -> list[Node]:
        """What an integer is given that may be an address, if it begins with none."""
        if not given:
            given.update(assignments(root))
        return given.get(name, [])

    def first(kind: Node, declarator: Node, value: Node | None) -> Value | None:
        """What a declaration gives to its name."""
        begins = evaluator.value(value, look_up) if value is not None else None
        if isinstance(begins, Number):
            return converted(begins, evaluator.types.of(kind, declarator))
        return begins

    def look_up(name: bytes) -> Value | None:
        if name in pending:
            (kind, declarator, value), *others = pending.pop(name)
            known[name] = None
            declared = typed_place(evaluator.types.of(kind, declarator))
            begins = first(kind, declarator, value) if name not in written else None
            if isinstance(begins, Number):
                agreed = all(first(*other) == begins for other in others)
                if not agreed or not is_fixed(text, kind, declarator, file_level):
                    begins = Initial(begins.value)
            known[name] = begins if isinstance(begins, Number | Initial | Pointer) else declared
            if known[name] is None and name in written:
                known[name] = one_of(evaluator.value(it, look_up) for it in assigned(name))
        if name in known:
            return known[name]
        return outer(name)

    return look_up
