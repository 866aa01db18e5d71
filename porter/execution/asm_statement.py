"""An asm statement of a run: its instructions and operands."""

from __future__ import annotations

from collections.abc import Iterator

from porter.source.asm_text import Instruction, instructions
from porter.source.c_lexer import lex_fragment
from porter.source.c_strings import decode_strings
from porter.source.c_tree import Node, text_of, walk


def instructions_of(node: Node) -> list[Instruction]:
    """The instructions of the template, operands in lower case, directives and labels left out."""
    template = node.child_by_field_name("assembly_code")
    if template is None:
        return []
    strings = [token for token in lex_fragment(text_of(template)) if token.kind == "string"]
    return [
        part
        for part in instructions(decode_strings(strings).text.lower())
        if part.mnemonic and not part.mnemonic.startswith(".")
    ]


def operands(node: Node, kind: str) -> Iterator[Node]:
    """The expression of each `input` or `output`."""
    for item in walk(node):
        value = item.child_by_field_name("value")
        if item.type == f"gnu_asm_{kind}_operand" and value is not None:
            yield value
