"""A call of a library's function as what it does: its body with the call's arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise

from porter.libraries.data import Body, Known, is_parameter
from porter.source.arithmetic import literal
from porter.source.c_lexer import Token, lex, lex_fragment
from porter.source.c_types import TypeTable
from porter.source.evaluate import Evaluator
from porter.source.macros import MacroTable, parse_define
from porter.source.token_tools import split_arguments
from porter.source.values import Place

_REGISTER = re.compile(r"\b([A-Z]\w*)->(\w+)(\[)?")
_EFFECTS = frozenset({b"++", b"--", b"="})
_BEFORE_WHOLE = frozenset({b"(", b",", b"=", b"*("})
_AFTER_WHOLE = frozenset({b")", b",", b";", b"]"})


class Unfit(Exception):
    """A call that no signature fits; str() is the reason for a person."""


def body_of(known: Known, arguments: Sequence[Token] | None, is_statement: bool) -> bytes:
    """What a call does, as C. `arguments`: what stands in its parentheses, None without any;
    `is_statement`: nobody uses its value. Raises Unfit."""
    parts = None if arguments is None else split_arguments(arguments)
    fitting = [body for body in known.bodies if _fits(body, parts)]
    reason = known.ask or "the data on it has nothing for a call with these arguments"
    for body in fitting:
        if body.is_statement and not is_statement and body.gives is None:
            reason = known.ask or "its value is used, which the data on it doesn't tell"
            continue
        bound = _bound(body, parts or [])
        if _loses_effect(body, bound):
            reason = "an argument does something, and what the function does with it isn't told"
            continue
        return _written(body, bound, is_statement)
    raise Unfit(reason)


def _fits(body: Body, parts: list[list[Token]] | None) -> bool:
    if body.parameters is None or parts is None:
        return body.parameters is None and parts is None
    return len(body.parameters) == len(parts) and all(
        is_parameter(word) or _is_same(word, part)
        for word, part in zip(body.parameters, parts, strict=True)
    )


def _is_same(word: str, part: list[Token]) -> bool:
    if len(part) != 1:
        return False
    if part[0].kind != "number":
        return part[0].text == word.encode()
    wanted, found = literal(word.encode()), literal(part[0].text)
    return wanted is not None and found is not None and wanted.value == found.value


def _bound(body: Body, parts: list[list[Token]]) -> dict[bytes, list[Token]]:
    return {
        word.encode(): part
        for word, part in zip(body.parameters or (), parts, strict=True)
        if is_parameter(word)
    }


def _loses_effect(body: Body, bound: dict[bytes, list[Token]]) -> bool:
    """Whether an argument that may do something is evaluated otherwise than once."""
    words = [token.text for token in lex_fragment(body.text.encode())]
    return any(_may_do_something(part) for name, part in bound.items() if words.count(name) != 1)


def _may_do_something(part: Sequence[Token]) -> bool:
    for token, following in zip(part, [*part[1:], None], strict=True):
        assigns = token.text.endswith(b"=") and token.text not in (b"==", b"!=", b"<=", b">=")
        is_call = token.kind == "identifier" and following is not None and following.text == b"("
        if token.text in _EFFECTS or assigns or is_call:
            return True
    return False


def _written(body: Body, bound: dict[bytes, list[Token]], is_statement: bool) -> bytes:
    text = with_addresses(body.text).encode()
    if is_statement:
        text = text.removesuffix(b";")
    elif body.is_statement:
        text = b"(" + text.removesuffix(b";") + b", " + (body.gives or "").encode() + b")"
    return b"".join(_pieces(lex_fragment(text), text, bound))


def _pieces(
    tokens: Sequence[Token], text: bytes, bound: dict[bytes, list[Token]]
) -> Iterator[bytes]:
    position = 0
    for index, token in enumerate(tokens):
        part = bound.get(token.text)
        if part is None:
            continue
        before = tokens[index - 1].text if index else b"("
        after = tokens[index + 1].text if index + 1 < len(tokens) else b";"
        written = joined(part)
        is_whole = before in _BEFORE_WHOLE and after in _AFTER_WHOLE
        yield text[position : token.start]
        yield written if is_whole or len(part) == 1 else b"(" + written + b")"
        position = token.end
    yield text[position:]


def joined(tokens: Sequence[Token]) -> bytes:
    """Tokens as text on one line, with space where there was any."""
    pieces = [token.text for token in tokens[:1]]
    for before, token in pairwise(tokens):
        pieces.append((b" " if token.start > before.end else b"") + token.text)
    return b"".join(pieces)


@cache
def with_addresses(text: str) -> str:
    """A body with the core's registers by address: no header of the project need have their
    names."""
    return _REGISTER.sub(lambda match: _address(match[1], match[2]) + (match[3] or ""), text)


def _address(block: str, name: str) -> str:
    value = _core().text(f"{block}->{name}".encode())
    if not isinstance(value, Place) or value.address is None:
        return f"{block}->{name}"
    size = value.type.target.size if value.type.target is not None else value.type.size
    kind = {1: "unsigned char", 2: "unsigned short"}.get(size or 4, "unsigned")
    pointer = f"((volatile {kind} *)0x{value.address:08X})"
    return pointer if value.type.kind == "array" else f"(*{pointer[1:-1]})"  # of a register alone


@cache
def _core() -> Evaluator:
    """The core's blocks as CMSIS names them."""
    macros, types = MacroTable(), TypeTable()
    text = files("porter").joinpath("registers/cmsis_names.h").read_bytes()
    for directive in lex(text).directives:
        if (macro := parse_define(directive)) is not None:
            macros.define(macro)
    types.add_text(text)
    return Evaluator(macros, types)
