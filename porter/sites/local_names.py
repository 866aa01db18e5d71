"""What the names of a function and of a file's own variables stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set

from porter.program.c_text import CText
from porter.sites.fixed_values import is_fixed
from porter.source.arithmetic import binary
from porter.source.c_tree import Node, ancestors, captured, query, text_of, walk
from porter.source.c_types import UNKNOWN
from porter.source.declared import declared_name
from porter.source.evaluate import Scope
from porter.source.possible import one_of
from porter.source.scoped_values import typed_place
from porter.source.values import Initial, Number, Place, Pointer, Value

_DECLARING = frozenset(
    {"declaration", "parameter_declaration", "optional_parameter_declaration", "for_range_loop"}
)

_BLOCKS = frozenset(
    {"compound_statement", "for_statement", "for_range_loop", "if_statement", "while_statement",
     "switch_statement", "lambda_expression", "catch_clause"}
)  # fmt: skip

_ASSIGNMENTS = query("(assignment_expression) @it")
_TAGGED = query(
    "[(struct_specifier name: (_) body: (_)) (union_specifier name: (_) body: (_))] @it"
)


def declarations(node: Node, file_level: bool = False) -> Iterator[tuple[Node, Node, Node | None]]:
    """(type, declarator, initialiser) of every declaration and parameter in a node.

    `file_level`: only those outside functions.
    """
    yield from _declared_by(node.children if file_level else walk(node))


def _declared_by(items: Iterable[Node]) -> Iterator[tuple[Node, Node, Node | None]]:
    for item in items:
        kind = item.child_by_field_name("type")
        if kind is None or item.type not in _DECLARING:
            continue
        for declarator in item.children_by_field_name("declarator"):
            if declarator.type == "init_declarator":
                inner = declarator.child_by_field_name("declarator")
                if inner is not None:
                    yield kind, inner, declarator.child_by_field_name("value")
            else:  # `if (auto x = f())` has its value beside the declarator
                yield kind, declarator, item.child_by_field_name("value")


def assignments(root: Node) -> dict[bytes, list[Node]]:
    """What names are given in a node; not what is calculated with them (`x &= ~MASK`)."""
    found: dict[bytes, list[Node]] = {}
    for node in captured(root, _ASSIGNMENTS, "it"):
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if sign is not None and text_of(sign) != b"=":
            continue
        if left is not None and right is not None and left.type == "identifier":
            found.setdefault(text_of(left), []).append(right)
    return found


class BlockScopes:
    """The scopes of a function's blocks: each hides what is outside."""

    def __init__(self, function: Node, text: CText, outer: Scope) -> None:
        self._function, self._text = function, text
        self._written = text.written.inside(function)
        for tagged in captured(function, _TAGGED, "it"):
            text.evaluator.types.add_inside(tagged)
        self._known: dict[int, Scope] = {}
        self._whole = self._of(function, outer)

    def at(self, place: Node) -> Scope:
        """What names mean at a place in the function."""
        scope = self._whole
        for block in reversed(list(blocks_around(place, self._function))):
            scope = self._of(block, scope)
        return scope

    def _of(self, block: Node, outer: Scope) -> Scope:
        if block.id not in self._known:
            declared = list(_own(block))
            self._known[block.id] = _scope(
                self._function, declared, self._text, outer, self._written
            )
        return self._known[block.id]


def blocks_around(place: Node, function: Node) -> Iterator[Node]:
    """What a place in a function stands in that may declare names of its own, innermost first."""
    for node in (place, *ancestors(place)):
        if node == function:
            return
        if node.type in _BLOCKS:
            yield node


def _own(block: Node) -> Iterator[Node]:
    """A block, for a loop over a range declares something itself, and what is in it, but not what
    is in blocks there."""
    yield block
    waiting = list(reversed(block.children))
    while waiting:
        node = waiting.pop()
        if node.type not in _BLOCKS:
            yield node
            waiting += reversed(node.children)


def scope_of(root: Node, text: CText, outer: Scope, file_level: bool = False) -> Scope:
    """A scope of all declarations in `root`, whatever blocks they are in."""
    for tagged in () if file_level else captured(root, _TAGGED, "it"):
        text.evaluator.types.add_inside(tagged)
    declared = root.children if file_level else list(walk(root))
    return _scope(root, declared, text, outer, text.written.inside(root), file_level)


def _scope(
    root: Node,
    items: Sequence[Node],
    text: CText,
    outer: Scope,
    written: Set[bytes],
    file_level: bool = False,
) -> Scope:
    """A scope of what is declared in some nodes of `root`: constants by value, the rest by type.

    What another file may write is no constant, nor is a name with another value in another #if
    arm. A pointer to a register is taken to stay one, so that accesses through it are found.
    """
    evaluator = text.evaluator
    known: dict[bytes, Value | None] = {}
    pending: dict[bytes, list[tuple[Node, Node, Node | None]]] = {}
    given: dict[bytes, list[Node]] = {}
    for kind, declarator, value in _declared_by(items):
        name = declared_name(declarator)
        if name is not None:
            pending.setdefault(text_of(name), []).append((kind, declarator, value))
    listed: dict[bytes, tuple[Node | None, int] | None] = {}
    for constant, counted in () if file_level else _enumerators(items):
        listed[constant] = None if constant in listed else counted  # of two blocks

    def assigned(name: bytes) -> list[Node]:
        """What an integer is given that may be an address, if it begins with none."""
        if not given:
            given.update(assignments(root))
        return given.get(name, [])

    def first(kind: Node, declarator: Node, value: Node | None) -> Value | None:
        """What a declaration gives to its name."""
        if value is None and kind.parent is not None and kind.parent.type == "for_range_loop":
            return _element(kind.parent, look_up)
        return evaluator.initial(evaluator.types.of(kind, declarator), value, look_up)

    def _element(loop: Node, scope: Scope) -> Value | None:
        """A pointer that is one of those that a loop goes over."""
        items = loop.child_by_field_name("right")
        if items is None or items.type != "initializer_list":
            return None
        values = [evaluator.value(item, scope) for item in items.named_children]
        kinds = {it.type if isinstance(it, Pointer) else None for it in values}
        kind = kinds.pop() if len(kinds) == 1 else None
        return Pointer(None, kind) if kind is not None else None

    def look_up(name: bytes) -> Value | None:
        if name in listed:
            counts = listed.pop(name)
            known[name] = Place(None, UNKNOWN)  # unless it is a number
            if counts is not None:
                first_one, steps = counts
                number = Number(0) if first_one is None else evaluator.value(first_one, look_up)
                if isinstance(number, Number):
                    known[name] = binary(b"+", number, Number(steps))
        if name in pending:
            found = pending.pop(name)
            if file_level:  # `extern` says nothing that a definition doesn't
                found = [it for it in found if it[2] is not None] or found
            (kind, declarator, value), *others = found
            if file_level and value is None and evaluator.keeps_address(name):
                known[name] = evaluator.name(name)  # another file defines it
                return known[name]
            known[name] = None
            declared = typed_place(evaluator.types.of(kind, declarator))
            refers = declarator.type == "reference_declarator"  # a write goes to what it refers to
            begins = first(kind, declarator, value) if refers or name not in written else None
            if isinstance(begins, Number):
                agreed = all(first(*other) == begins for other in others)
                if not agreed or not is_fixed(text, kind, declarator, file_level):
                    begins = Initial(begins.value)
            is_known = isinstance(begins, Number | Initial | Pointer)
            known[name] = begins if is_known or (refers and begins is not None) else declared
            if known[name] is None and name in written:
                known[name] = one_of(evaluator.value(it, look_up) for it in assigned(name))
            if known[name] is None and not file_level:
                known[name] = Place(None, UNKNOWN)  # it hides what else has this name
        if name in known:
            return known[name]
        return outer(name)

    return look_up


def _enumerators(items: Iterable[Node]) -> Iterator[tuple[bytes, tuple[Node | None, int]]]:
    """Constants that enums in a function list: what each begins with, and how many are between."""
    for node in items:
        body = node.child_by_field_name("body") if node.type == "enum_specifier" else None
        begins: Node | None = None
        steps = 0
        for it in body.named_children if body is not None else ():
            name = it.child_by_field_name("name") if it.type == "enumerator" else None
            if name is None:
                continue
            if (value := it.child_by_field_name("value")) is not None:
                begins, steps = value, 0
            yield text_of(name), (begins, steps)
            steps += 1
