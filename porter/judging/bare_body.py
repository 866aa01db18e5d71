"""Macros of several statements without braces: where one is the body of an `if` or a loop, only its
first statement depends on that."""

from __future__ import annotations

from porter.program.macro_callers import Uses, may_be_body
from porter.sites.context import Context
from porter.source.c_tree import Node
from porter.source.macros import MacroTable


def is_cut_off(context: Context, statement: Node, macros: MacroTable, uses: Uses) -> bool:
    """Whether a use of the macro may make a body of a statement and not of those behind it.

    What takes the statement's place must be one statement, and stay apart from them.
    """
    block = statement.parent
    if context.kind != "macro" or block is None or block.parent is None:
        return False
    if block.parent.type != "function_definition" or statement != block.named_children[0]:
        return False
    if statement.next_named_sibling is None:
        return False
    name = context.name.encode("latin-1")
    macro = macros.get(name)
    is_call = macro is not None and macro.parameters is not None
    return not is_call or may_be_body(name, uses)
