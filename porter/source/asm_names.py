"""Names of C in asm statements: those that a statement writes, and those that its text spells."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from porter.source.c_lexer import LexedSource, Token
from porter.source.c_tree import parse_expression, strip_parentheses, text_of
from porter.source.inline_asm import READS_FIRST, AsmStatement
from porter.source.token_tools import has_word

_ESCAPE = re.compile(rb"\\.")
_WORD = re.compile(rb"[A-Za-z_]\w*")


def written_by(statement: AsmStatement) -> Iterator[bytes]:
    """Variables that an asm statement writes.

    In a block of ARMCC each operand of an instruction may be one: two results, a pointer moved.
    """
    for operand in statement.outputs:
        node = parse_expression(operand.text)
        if node is not None and strip_parentheses(node).type == "identifier":
            yield text_of(strip_parentheses(node))
    if statement.form == "block":
        for instruction in statement.instructions:
            if instruction.base not in READS_FIRST:
                for operand_text in instruction.operands:
                    yield from _WORD.findall(operand_text.encode("latin-1"))


def asm_text(lexed: LexedSource, statements: Iterable[AsmStatement]) -> tuple[Token, ...]:
    """Tokens that are assembler text: of templates, of functions in assembler, of macros."""
    found: list[Token] = []
    for statement in statements:
        first, last = (
            bisect_left(lexed.tokens, offset, key=lambda token: token.start)
            for offset in (statement.start, statement.end)
        )
        for token in lexed.tokens[first:last]:
            if token.kind == "string" or statement.form == "function":
                found.append(token)
    for directive in lexed.directives:
        found += directive.strings
    return tuple(found)


def spells(token: Token, name: bytes) -> bool:
    """Whether a piece of assembler text has a name."""
    return has_word(_ESCAPE.sub(b" ", token.text), name)
