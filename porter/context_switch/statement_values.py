"""Expressions that have the value of another in them. GNU's statement expressions, too:
`({ f(); x; })` has that of its last statement."""

from __future__ import annotations

from collections.abc import Iterator

from porter.source.c_tree import PARENTHESES, Node, parts_of

_SAME = frozenset({"cast_expression", "extension_expression", "update_expression"})


def whole_of(node: Node, statement: Node) -> Node | None:
    """The statement expression that has the value of an expression, which is a whole statement;
    None where it is any other statement, whose value nobody gets."""
    block = statement.parent
    around = block.parent if block is not None and block.type == "compound_statement" else None
    if block is None or around is None or around.type not in (*PARENTHESES, "argument_list"):
        return None  # an argument list: a parser that knows no types took a cast for a call
    return around if last_of(block) == node else None


def last_of(block: Node) -> Node | None:
    """The expression that a block ends with."""
    statements = [it for it in parts_of(block) if not it.type.startswith("preproc")]
    last = statements[-1] if statements else None
    while last is not None and last.type == "labeled_statement":
        last = last.named_children[-1]
    if last is None or last.type != "expression_statement" or not last.named_children:
        return None
    return last.named_children[0]


def values_of(node: Node) -> Iterator[Node]:
    """The expressions that another has the value of."""
    names = {
        "conditional_expression": ("consequence", "alternative"),
        "comma_expression": ("right",),
        "assignment_expression": ("right",),
    }.get(node.type, ())
    parts = [node.child_by_field_name(name) for name in names]
    if node.type in _SAME:
        parts = [node.child_by_field_name("value") or node.named_children[-1]]
    elif node.type == "compound_statement":
        parts = [last_of(node)]
    if None not in parts:
        yield from (it for it in parts if it is not None)
