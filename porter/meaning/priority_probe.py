"""Code that writes a priority register only to see which bits stick, and puts the value back."""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.meaning.expressions import bare
from porter.sites.access import Access
from porter.source.c_tree import Node, outermost, text_of


def probes(accesses: list[Access], unit: Unit) -> list[Access]:
    """Accesses to priority registers that leave them as they were, and reads of them.

    In one function, one variable takes the register's value before the first write and gives it
    back in the last. Reads elsewhere count too: they go only if all that depends on them does.
    """
    found: list[Access] = []
    groups: dict[tuple[int, bytes], list[Access]] = {}
    for access in accesses:
        if access.register is None or access.register.name != "IP" or access.use == "address":
            continue
        key = (access.context.root.id, text_of(access.place))
        groups.setdefault(key, []).append(access)
    for group in groups.values():
        writes = [access for access in group if access.use == "write"]
        if not writes or _restores(group, writes, unit):
            found += group
    return found


def _restores(group: list[Access], writes: list[Access], unit: Unit) -> bool:
    first, last = writes[0], writes[-1]
    if len(writes) < 2 or last.value is None or bare(last.value).type != "identifier":
        return False
    between = range(first.whole.end_byte, last.whole.start_byte)
    if not any(access.use == "read" and access.place.start_byte in between for access in group):
        return False  # nobody looks: a line is more urgent for a while
    saved = text_of(bare(last.value))
    return any(
        access.use == "read"
        and access.place.start_byte < first.place.start_byte
        and _stored_in(access.whole) == saved
        and not any(_written_between(unit, saved, access, last))
        for access in group
    )


def _stored_in(read: Node) -> bytes | None:
    """The variable that a read goes straight into."""
    node = outermost(read)
    parent = node.parent
    if parent is None:
        return None
    if parent.type == "assignment_expression" and parent.child_by_field_name("right") == node:
        left = parent.child_by_field_name("left")
        return text_of(left) if left is not None else None
    if parent.type == "init_declarator":
        name = parent.child_by_field_name("declarator")
        return text_of(name) if name is not None else None
    return None


def _written_between(unit: Unit, name: bytes, read: Access, last: Access) -> list[bool]:
    """Whether the saved value is another one by the time it is given back."""
    tokens = unit.text.lexed.tokens
    start, end = read.context.start(read.whole), last.context.start(last.whole)
    return [
        tokens[index + 1].text.endswith(b"=") and tokens[index + 1].text not in (b"==", b"!=")
        for index, token in enumerate(tokens[:-1])
        if start < token.start < end and token.text == name
    ]
