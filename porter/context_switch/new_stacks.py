"""Whether a member that C reads has just been set there: to a new task's stack, without a frame
that a handler saved."""

from __future__ import annotations

from porter.context_switch.c_nodes import is_local
from porter.source.c_tree import Node, ancestors, enclosing_function, text_of, walk


def just_set(read: Node) -> bool:
    """Whether its function has just set this very member: to a stack without a saved frame."""
    field = read.child_by_field_name("field")
    if field is None:
        return False
    inside = read
    for around in ancestors(read):
        if around.type == "compound_statement":
            for earlier in around.named_children:
                if earlier.end_byte <= inside.start_byte and _sets(earlier, read, field):
                    return not _changes_between(earlier, read, around)
        if around.type == "function_definition":
            break
        inside = around
    return False


def _sets(statement: Node, read: Node, field: Node) -> bool:
    """Whether a statement gives a member a value that isn't one it had."""
    inner = statement.named_children[0] if statement.named_child_count else statement
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    sign = inner.child_by_field_name("operator")
    if inner.type != "assignment_expression" or left is None or right is None or sign is None:
        return False
    if text_of(sign) != b"=" or _bare(left) != _bare(read):
        return False
    return all(text_of(node) != text_of(field) for node in walk(right))


def _changes_between(setting: Node, read: Node, block: Node) -> bool:
    """Whether the member may be another's by then: its owner's name, or what a call may change."""
    owner = read.child_by_field_name("argument")
    names = {text_of(node) for node in walk(owner) if node.type == "identifier"} if owner else set()
    function = enclosing_function(block)
    is_own = function is not None and all(is_local(function, name) for name in names)
    for node in walk(block):
        if not setting.end_byte <= node.start_byte < read.start_byte:
            continue
        if node.type == "call_expression" and node.end_byte <= read.start_byte and not is_own:
            return True
        left = node.child_by_field_name("left") or node.child_by_field_name("argument")
        is_set = node.type in ("assignment_expression", "update_expression")
        if is_set and left is not None and left.type == "identifier" and text_of(left) in names:
            return True
    return False


def _bare(node: Node) -> bytes:
    return b"".join(text_of(node).split())
