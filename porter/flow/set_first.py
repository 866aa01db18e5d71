"""Which fields of a local struct hold what was there before: nobody sets them before it is used."""

from __future__ import annotations

from collections.abc import Iterator

from porter.flow.static_types import StaticTypes
from porter.source.c_tree import Node, strip_parentheses, text_of, walk
from porter.source.c_types import CType

_Path = tuple[bytes, ...]
_NEW_WAYS_IN = ("labeled_statement", "case_statement")


def unset_fields(
    declaration: Node, name: bytes, kind: CType, types: StaticTypes, is_set: bool
) -> Iterator[tuple[bytes, bytes]]:
    """Struct and field, for all that a declaration and the statements right behind it leave out."""
    done: set[_Path] = set()
    following = declaration.next_named_sibling
    if is_set:
        done |= set() if _is_jumped_over(declaration) else {()}
        following = None
    while following is not None and following.type not in _NEW_WAYS_IN:
        if any(it.type == "identifier" and text_of(it) == name for it in walk(following)):
            path = _assigned(following, name)
            if path is None:
                break
            done.add(path)
        elif any(it.type == "labeled_statement" for it in walk(following)):
            break
        following = following.next_named_sibling
    if () not in done:
        yield from _left(kind, (), done, types)


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
