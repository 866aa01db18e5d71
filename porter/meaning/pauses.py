"""A timer or counter that is stopped: only to be set up and started again, or for good?"""

from __future__ import annotations

from porter.sites.access import Access
from porter.source.c_tree import text_of, walk

_LATER = frozenset(  # between a stop and a start these let time pass, or never come to the start
    {"return_statement", "goto_statement", "break_statement", "continue_statement",
     "while_statement", "for_statement", "do_statement", "labeled_statement"}
)  # fmt: skip


def leads_to(stop: Access, start: Access | None) -> bool:
    """Whether a timer is stopped only to be set up: in the same block, before it is started, with
    nothing between that takes time or leaves."""
    if start is None or stop.statement is None or start.statement is None:
        return False
    if stop.statement.parent != start.statement.parent:
        return False
    node = stop.statement.next_named_sibling
    while node is not None and node != start.statement:
        for it in walk(node):
            called = text_of(it.child_by_field_name("function") or it)
            if it.type in _LATER or (it.type == "call_expression" and b"NVIC_" not in called):
                return False
        node = node.next_named_sibling
    return node is not None
