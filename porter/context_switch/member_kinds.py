"""What structs declare their members as: those of one name that are declared otherwise in one
struct than in another are two, however little is known of their objects.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import declared_name, is_local, local_declarations
from porter.context_switch.c_words import bodies
from porter.source.c_tree import Node, enclosing_function, one_line, strip_parentheses, text_of

_Declared = tuple[Node, Node]
"""A type, and what is declared of it."""


class MemberKinds:
    """Answers for members as they are written where they are used."""

    def __init__(self, units: CUnits) -> None:
        self._units = units
        self._bodies_of = cache(
            lambda name: list({it.id: it for it in bodies(name, units)}.values())
        )

    def are_two(self, one: Node, other: Node) -> bool:
        """Whether what stands in front of each says which structs these are members of, and all of
        the one declare it otherwise than all of the other."""
        here = self._said(one)
        return bool(here) and bool(there := self._said(other)) and not here & there

    def _said(self, member: Node) -> set[str]:
        return {f"{one_line(kind)} {one_line(it)}" for kind, it in self._declared(member)}

    def _declared(self, member: Node) -> Iterator[_Declared]:
        member = strip_parentheses(member)
        field = member.child_by_field_name("field")
        argument = member.child_by_field_name("argument")
        if member.type == "field_expression" and field is not None and argument is not None:
            for body in self._bodies(argument):
                yield from _in(body, text_of(field))

    def _bodies(self, node: Node) -> Iterator[Node]:
        """Members of the struct that an expression is, or leads to."""
        node = strip_parentheses(node)
        if node.type == "field_expression":
            kinds = [kind for kind, _ in self._declared(node)]
        elif node.type == "identifier":
            kinds = list(self._kinds(node))
        elif (argument := node.child_by_field_name("argument")) is not None:
            yield from self._bodies(argument)
            return
        else:
            return
        for kind in kinds:
            body = kind.child_by_field_name("body")
            named = kind.child_by_field_name("name") or kind
            if body is not None:
                yield body
            elif named.type == "type_identifier":
                yield from self._bodies_of(text_of(named))

    def _kinds(self, name: Node) -> Iterator[Node]:
        """What a variable is declared as."""
        around = enclosing_function(name)
        if around is not None and is_local(around, text_of(name)):
            found = [it for it, _ in local_declarations(around, text_of(name))]
        else:
            found = [it for it in map(_declaration, self._units.named(text_of(name))) if it]
        yield from (kind for it in found if (kind := it.child_by_field_name("type")) is not None)


def _in(body: Node, member: bytes) -> Iterator[_Declared]:
    for declaration in body.named_children:
        kind = declaration.child_by_field_name("type")
        for declarator in declaration.children_by_field_name("declarator"):
            name = declared_name(declarator)
            if kind is not None and name is not None and text_of(name) == member:
                yield kind, declarator


def _declaration(name: Node) -> Node | None:
    """What declares a variable of all functions by this name."""
    found = name.parent
    while found is not None and found.type.endswith("declarator"):
        found = found.parent
    if found is None or found.type != "declaration" or enclosing_function(found) is not None:
        return None
    declared = map(declared_name, found.children_by_field_name("declarator"))
    return found if name in declared else None
