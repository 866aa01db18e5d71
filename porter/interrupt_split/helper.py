"""Gives the record to a helper of the handler's file: a parameter more, an argument more."""

from __future__ import annotations

from collections.abc import Iterator

from porter.interrupt_split.functions import Function
from porter.interrupt_split.record import VmNames
from porter.interrupt_split.refusal import At
from porter.interrupt_split.statement import Callee
from porter.source.c_lexer import Token
from porter.source.edit import Edit
from porter.source.token_tools import matching


def thread_record(function: Function, callee: Callee, names: VmNames) -> list[Edit]:
    """Edits at the helper's definition, its prototypes and its one call.

    Raises At when anything else uses the helper.
    """
    return list(_edits(function, callee, names))


def _edits(function: Function, callee: Callee, names: VmNames) -> Iterator[Edit]:
    tokens = function.text.lexed.tokens
    name = callee.name.encode("latin-1")
    called = callee.call.span
    record = f"const struct {names.record} *{names.parameter}"
    depth = calls = 0
    for index, token in enumerate(tokens):
        depth += (token.text == b"{") - (token.text == b"}")
        if token.text != name or token.kind != "identifier":
            continue
        opening = index + 1
        closing = matching(tokens, opening) if opening < len(tokens) else None
        if closing is None or tokens[opening].text != b"(":
            raise At(
                callee.call.line,
                f"{callee.name} is also used in line {function.text.file.line(token.start)}: "
                "write its body into the handler",
            )
        if depth == 0:
            yield _given(tokens, opening, closing, record)
        elif called is not None and called[0] <= token.start < called[1] and not calls:
            calls += 1
            yield _given(tokens, opening, closing, names.parameter)
        else:
            raise At(
                callee.call.line,
                f"{callee.name} is also called in line {function.text.file.line(token.start)}: "
                "write its body into the handler",
            )
    in_macro = any(
        token.text == name
        for directive in function.text.lexed.directives
        for token in directive.tokens
    )
    if in_macro:
        raise At(callee.call.line, f"{callee.name} is also used in a macro: write its body into "
                 "the handler")  # fmt: skip


def _given(tokens: list[Token], opening: int, closing: int, what: str) -> Edit:
    inside = tokens[opening + 1 : closing]
    start, end = tokens[opening].end, tokens[closing].start
    if not inside or [token.text for token in inside] == [b"void"]:
        return Edit(start, end, what.encode())
    return Edit(start, start, f"{what}, ".encode())
