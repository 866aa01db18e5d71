"""What an asm statement writes: a variable that it doesn't read there has nothing any more of what
it was, `register word r0 asm("r0") = a; asm("svc 0" : "=r"(r0) : "r"(f)); return r0;` for one.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.source.c_tree import Node, captured, query, text_of

_JUMPS = query("[(goto_statement) (labeled_statement)] @it")


def before_asm_writes(name: Node, place: Node, uses: list[Node]) -> list[Node]:
    """Uses of a local variable in its function without those behind an asm statement that has
    written it since a place set it, in the same block."""
    statement = place.parent
    block = statement.parent if statement is not None else None
    if statement is None or block is None or block.type != "compound_statement":
        return uses
    if captured(block, _JUMPS, "it"):
        return uses
    later = (it for it in block.named_children if it.start_byte >= statement.end_byte)
    writes = next((it for it in later if text_of(name) in set(_written_by(it))), None)
    if writes is None:
        return uses
    return [it for it in uses if not writes.end_byte <= it.start_byte < block.end_byte]


def _written_by(statement: Node) -> Iterator[bytes]:
    """Variables that an asm statement only writes."""
    if statement.type != "expression_statement" or statement.named_child_count != 1:
        return
    asm = statement.named_children[0]
    outputs = asm.child_by_field_name("output_operands")
    if asm.type != "gnu_asm_expression" or outputs is None:
        return
    for it in outputs.named_children:
        constraint, value = it.child_by_field_name("constraint"), it.child_by_field_name("value")
        if constraint is None or not text_of(constraint).startswith(b'"='):
            continue
        if value is not None and value.type == "identifier":
            yield text_of(value)
