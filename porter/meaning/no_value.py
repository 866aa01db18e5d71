"""Whether anybody takes the value of a write: not of a statement, nor of the whole body of a macro
that is only used as one."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from porter.judging.unit import Unit
from porter.program.macro_uses import MacroUse
from porter.sites.access import Access
from porter.sites.objects import TRANSPARENT
from porter.source.c_lexer import Token
from porter.source.token_tools import matching

_HEADS = frozenset({b"if", b"while", b"for"})
_BEFORE = frozenset({b";", b"{", b"}", b":", b"else", b"do"})


def has_no_value(unit: Unit, access: Access) -> bool:
    """Whether a call may stand there whose value is another one."""
    if access.is_alone:
        return True
    name = unit.region(access.site).name
    if name is None or not _is_body(access) or unit.is_in_assembler:
        return False
    uses = list(unit.places_of_macro(name))
    by_others = any(it.text.file.data[it.start : it.end] != name for it in uses)
    return bool(uses) and not by_others and all(map(_is_statement, uses))


def _is_body(access: Access) -> bool:
    """Whether a macro's body is this operation, or one that chooses between it and others."""
    node, parent = access.whole, access.whole.parent
    while parent is not None and (
        parent.type in TRANSPARENT or parent.type in ("conditional_expression", "comma_expression")
    ):
        if parent.type != "comma_expression" and parent.child_by_field_name("condition") == node:
            return False
        node, parent = parent, parent.parent
    return parent is not None and parent.type == "init_declarator"


def _is_statement(use: MacroUse) -> bool:
    """`UP();`, or in a place where only a statement can stand."""
    tokens = use.text.lexed.tokens
    index = bisect_left(tokens, use.start, key=lambda token: token.start)
    if index == 0 or index == len(tokens) or tokens[index].start != use.start:
        return False
    end = _behind(tokens, index)
    ends = end < len(tokens) and tokens[end].text == b";"
    return ends and (tokens[index - 1].text in _BEFORE or _is_head(tokens[:index]))


def _is_head(tokens: list[Token]) -> bool:
    """Whether they end with `if (...)` and the like, which a statement follows."""
    depth = 0
    for token, before in pairwise(reversed(tokens)):
        depth += (token.text == b")") - (token.text == b"(")
        if depth == 0:
            return token.text == b"(" and before.text in _HEADS
    return False


def _behind(tokens: list[Token], index: int) -> int:
    """Where a use with what it is given ends."""
    if index + 1 < len(tokens) and tokens[index + 1].text == b"(":
        closing = matching(tokens, index + 1)
        return closing + 1 if closing is not None else len(tokens)
    return index + 1
