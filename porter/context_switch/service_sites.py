"""Asm statements of a C file that make supervisor calls, and the function that each of them names.

`register word f asm("r12") = (word)take;` is no C that a parser of C has: the text is read by its
tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.source.c_lexer import Token, lex
from porter.source.c_strings import decode_strings
from porter.source.token_tools import matching

_ASM = frozenset({b"asm", b"__asm", b"__asm__"})
_HIDES = frozenset({b"__attribute__", b"__attribute", b"__declspec", b"__typeof__", *_ASM})
_RAISES = re.compile(r"\bsvc", re.IGNORECASE)
_CALL = re.compile(r"(?:ldr\s+r12\s*,\s*=\s*(\w+)\s*[\n;]\s*)?svc\s+#?0", re.IGNORECASE)
_R12 = re.compile(rb'"(?:r12|ip)"', re.IGNORECASE)
_ADDRESS = re.compile(rb"(?:\(\s*[A-Za-z_][\w\s*]*\)\s*)*&?\s*([A-Za-z_]\w*)")


@dataclass(frozen=True)
class ServiceSite:
    """A supervisor call in a function of C, `caller`; `function` is what r12 holds, "" where that
    isn't known, or where more than a call with number 0 is made; `in_template`: the assembler's
    text says it."""

    caller: str
    function: str
    text: str
    in_template: bool


def service_sites(text: bytes) -> Iterator[ServiceSite]:
    """Those of a file, which the preprocessor is done with."""
    if b"svc" not in text.lower():
        return
    tokens = lex(text).tokens
    for caller, body in _bodies(tokens):
        yield from _in(caller, body, text)


def uses_in(text: bytes, name: bytes) -> int:
    """How often a file has a function's name, but to define or declare it."""
    if name not in text:
        return 0
    count = 0
    for _, body in _bodies(lex(text).tokens):
        inside = bool(body) and body[0].text == b"{"
        for index, token in enumerate(body):
            declares = not inside and [it.text for it in body[index + 1 : index + 2]] == [b"("]
            count += token.text == name and not declares
    return count


def function_around(tokens: Sequence[Token], offset: int) -> str:
    """The function in whose body an offset lies; "" for none."""
    found = (caller for caller, body in _bodies(tokens)
             if body and body[0].start <= offset < body[-1].end)  # fmt: skip
    return next(found, "")


def _bodies(tokens: Sequence[Token]) -> Iterator[tuple[str, Sequence[Token]]]:
    """Blocks that stand in no other, by the name of their function; what is in none, by ""."""
    start = index = 0
    while index < len(tokens):
        if tokens[index].text == b";":
            yield "", tokens[start:index]
            start = index + 1
        elif tokens[index].text == b"{":
            end = matching(tokens, index)
            end = len(tokens) - 1 if end is None else end
            yield _name(tokens[start:index]), tokens[index : end + 1]
            index, start = end, end + 1
        index += 1
    yield "", tokens[start:]


def _name(head: Sequence[Token]) -> str:
    """Of the function whose body comes behind a head."""
    index = 0
    while index + 1 < len(head):
        here = head[index]
        if head[index + 1].text == b"(" and here.kind == "identifier":
            if here.text not in _HIDES:
                return here.text.decode("latin-1")
            index = matching(head, index + 1) or len(head)
        index += 1
    return ""


def _in(caller: str, body: Sequence[Token], text: bytes) -> Iterator[ServiceSite]:
    for index, token in enumerate(body):
        if token.text not in _ASM:
            continue
        opening = next((it for it in range(index + 1, len(body)) if body[it].text == b"("), None)
        closing = None if opening is None else matching(body, opening)
        if opening is None or closing is None:
            continue
        colon = next(
            (it for it in range(opening, closing) if body[it].text in (b":", b"::")), closing
        )
        template = body[opening + 1 : colon]
        said = decode_strings(template).text.decode("latin-1")
        if not _RAISES.search(said):
            continue
        match = _CALL.fullmatch(said.strip())
        plain = match is not None and all(it.kind == "string" for it in template)
        written = text[token.start : body[closing].end].decode("latin-1")
        name = (match[1] or _in_register(body, colon, closing)) if match and plain else ""
        in_template = match is not None and bool(match[1])
        yield ServiceSite(caller, name, " ".join(written.split()), in_template)


def _in_register(body: Sequence[Token], colon: int, closing: int) -> str:
    """What the variable in r12 begins with, if it is an operand and nothing else becomes of it; ""
    where that is no name."""
    found = [
        index
        for index in range(1, len(body) - 4)
        if body[index].text in _ASM
        and body[index + 1].text == b"("
        and _R12.fullmatch(body[index + 2].text)
        and body[index + 4].text == b"="
    ]
    if len(found) != 1:
        return ""
    (at,) = found
    variable = body[at - 1].text
    uses = [index for index, it in enumerate(body) if it.text == variable]
    if len(uses) != 2 or not colon < uses[1] < closing:
        return ""
    end = next(it for it in range(at, len(body)) if body[it].text in (b";", b","))
    value = b" ".join(it.text for it in body[at + 5 : end])
    match = _ADDRESS.fullmatch(value)
    return match[1].decode("latin-1") if match else ""
