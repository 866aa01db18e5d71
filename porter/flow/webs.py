"""Splits a local variable into webs: an assignment and the uses that only its value reaches.

Vendor code reuses one `temp` for ten registers. A web is known where every use stands after its
assignment in the same block or deeper, with no loop that could bring in another value. Where
that isn't so for any use, the variable stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence

from porter.flow.statements import LOOPS
from porter.source.c_tree import Node, ancestors, text_of, walk

WHOLE = -1
_JUMPS = frozenset({"goto_statement", "labeled_statement"})


def split(uses: Sequence[Node], declarators: Sequence[Node], function: Node) -> dict[int, int]:
    """Web of each use by node id: the start byte of its assignment, or WHOLE for all of them."""
    whole = {use.id: WHOLE for use in uses}
    if any(node.type in _JUMPS for node in walk(function)):
        return whole
    events: list[tuple[int, Node, Node | None]] = []
    for use in uses:
        parent = use.parent
        if (
            parent is not None
            and parent.type == "pointer_expression"
            and (text_of(parent).startswith(b"&"))
        ):
            return whole
        statement = _assignment(use)
        key = use.start_byte if statement is None else statement.end_byte
        events.append((key, use, statement))
    for declarator in declarators:
        if declarator.type == "init_declarator" and declarator.parent is not None:
            events.append((declarator.end_byte, declarator, declarator.parent))
    webs: dict[int, int] = {}
    current: tuple[int, Node] | None = None
    definitions: list[tuple[Node, int]] = []
    for _, node, definition in sorted(events, key=lambda event: event[0]):
        if definition is not None:
            block = definition.parent or definition
            current = (node.start_byte, block)
            definitions.append((definition, node.start_byte))
        elif current is None or not _inside(node, current[1]):
            return whole
        webs[node.id] = current[0]
    return whole if _mixed_by_a_loop(uses, webs, definitions) else webs


def _assignment(use: Node) -> Node | None:
    """The statement `use = value;`, if the use is its left side."""
    assignment = use.parent
    statement = assignment.parent if assignment is not None else None
    if (
        assignment is None
        or statement is None
        or assignment.type != "assignment_expression"
        or statement.type != "expression_statement"
        or assignment.child_by_field_name("left") != use
    ):
        return None
    sign = assignment.child_by_field_name("operator")
    return statement if sign is not None and text_of(sign) == b"=" else None


def _inside(node: Node, block: Node) -> bool:
    return block.start_byte <= node.start_byte and node.end_byte <= block.end_byte


def _mixed_by_a_loop(
    uses: Sequence[Node], webs: dict[int, int], definitions: list[tuple[Node, int]]
) -> bool:
    """Whether the next round of a loop brings one web's value to another web's use."""
    loops_of = {
        web: [a for a in ancestors(statement) if a.type in LOOPS] for statement, web in definitions
    }
    for use in uses:
        for web, loops in loops_of.items():
            if web == webs[use.id]:
                continue
            own = {loop.id for loop in loops_of[webs[use.id]]}
            if any(loop.id not in own and _inside(use, loop) for loop in loops):
                return True
    return False
