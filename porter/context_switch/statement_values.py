"""GNU's statement expressions: `({ f(); x; })` has the value of its last statement."""

from __future__ import annotations

from porter.source.c_tree import PARENTHESES, Node, parts_of


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
