"""Which fields of a local struct hold what was there before: nobody sets them before it is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from porter.flow.static_types import StaticTypes
from porter.source.c_tree import Node, strip_parentheses, text_of, walk
from porter.source.c_types import CType

_Path = tuple[bytes, ...]
_NEW_WAYS_IN = ("labeled_statement", "case_statement")
_BRANCHES = {
    "if_statement": ("consequence", "alternative"),
    "while_statement": ("body",),
    "for_statement": ("body",),
    "do_statement": ("body",),
}


def unset_fields(
    declaration: Node, name: bytes, kind: CType, types: StaticTypes, is_set: bool
) -> Iterator[tuple[bytes, bytes]]:
    """Struct and field, for all that may not be set where a declared object is first used."""
    used: list[set[_Path]]
    if is_set:
        used = [set() if _is_jumped_over(declaration) else {()}]
    else:
        way = _Way(name)
        way.follow(_behind(declaration), set())
        used = way.used
    for done in used:
        if () not in done:
            yield from _left(kind, (), done, types)


class _Way:
    """Follows what is done with one variable. `used`: what was set at the first use of each way."""

    def __init__(self, name: bytes) -> None:
        self._name = name
        self.used: list[set[_Path]] = []

    def follow(self, statements: Iterable[Node], done: set[_Path]) -> set[_Path] | None:
        """What is set behind some statements of which `done` was before; None behind a use."""
        for statement in statements:
            here = statement.type in _NEW_WAYS_IN or _has_label(statement)
            if here or (after := self._behind(statement, done)) is None:
                self.used.append(set() if here else done)
                return None
            done = after
        return done

    def _behind(self, statement: Node, done: set[_Path]) -> set[_Path] | None:
        if not _mentions(statement, self._name):
            return done
        if (path := _assigned(statement, self._name)) is not None:
            return done | {path}
        if statement.type == "compound_statement":
            return self._branch(statement, done)
        names = _BRANCHES.get(statement.type, ())
        branches = [it for name in names if (it := statement.child_by_field_name(name))]
        if sum(_mentions(it, self._name) for it in statement.named_children) > sum(
            _mentions(it, self._name) for it in branches
        ):
            return None  # in a condition, or whatever this is
        ends = [self._branch(it, done) for it in branches]
        if len(branches) < 2:  # there is a way around it
            ends.append(done)
        known = [end for end in ends if end is not None]
        return set.intersection(*known) if known else done

    def _branch(self, node: Node, done: set[_Path]) -> set[_Path] | None:
        if node.type == "else_clause":
            node = node.named_children[0]
        inside = node.named_children if node.type == "compound_statement" else [node]
        return self.follow(inside, done)


def _behind(declaration: Node) -> Iterator[Node]:
    following = declaration.next_named_sibling
    while following is not None:
        yield following
        following = following.next_named_sibling


def _has_label(statement: Node) -> bool:
    return any(it.type == "labeled_statement" for it in walk(statement))


def _mentions(node: Node, name: bytes) -> bool:
    return any(it.type == "identifier" and text_of(it) == name for it in walk(node))


def _is_jumped_over(declaration: Node) -> bool:
    """Whether a label behind a declaration leads past its value."""
    following = declaration.next_named_sibling
    is_jumped = declaration.parent is not None and declaration.parent.type == "case_statement"
    while following is not None and not is_jumped:
        is_jumped = following.type == "case_statement"
        is_jumped = is_jumped or any(it.type == "labeled_statement" for it in walk(following))
        following = following.next_named_sibling
    return is_jumped


def _assigned(statement: Node, name: bytes) -> _Path | None:
    """What `x.a.b = value;` sets of x; () for all of it; None for any other statement."""
    part = statement.named_children[0] if statement.named_child_count == 1 else None
    if statement.type != "expression_statement" or part is None:
        return None
    if part.type == "call_expression":
        is_whole = text_of(part).replace(b" ", b"").startswith(b"memset(&%s,0" % name)
        return () if is_whole and b"sizeof" in text_of(part) else None
    left, right = part.child_by_field_name("left"), part.child_by_field_name("right")
    sign = part.child_by_field_name("operator")
    if left is None or right is None or sign is None or text_of(sign) != b"=":
        return None
    if any(it.type == "identifier" and text_of(it) == name for it in walk(right)):
        return None
    path: list[bytes] = []
    left = strip_parentheses(left)
    while left.type == "field_expression" and any(it.type == "." for it in left.children):
        field, inner = left.child_by_field_name("field"), left.child_by_field_name("argument")
        if field is None or inner is None:
            return None
        path.insert(0, text_of(field))
        left = strip_parentheses(inner)
    return tuple(path) if left.type == "identifier" and text_of(left) == name else None


def _left(
    kind: CType, path: _Path, done: set[_Path], types: StaticTypes
) -> Iterator[tuple[bytes, bytes]]:
    while kind.kind == "array" and kind.target is not None:
        kind = kind.target
    for name, member in types.types.members(kind).items() if kind.kind == "struct" else ():
        here = (*path, name)
        if here in done:
            continue
        yield types.shown(kind), name
        yield from _left(member.type, here, done, types)
