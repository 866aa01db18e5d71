"""Macros that head a statement: `list_for_each(p, &all) {` reads as a loop.

A grammar knows no call in front of a block. The name and the parentheses give way to those of a
loop of equal length whose condition nobody knows, `while(_(&p, &all)) {`: what stands in it may run
any number of times, and what the macro may write is handed on by its address. A use that has no
room for that stays as it is, and the function around it can't be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from porter.source.c_lexer import Token
from porter.source.comments import blank
from porter.source.token_tools import matching, split_arguments

_KEYWORDS = frozenset({b"for", b"while", b"if", b"switch"})
_LOOP = b"while(_("
_ENDLESS = (b"for", b"(", b";", b";", b")")
_STEPS = frozenset({b"++", b"--"})
_ASSIGNS = frozenset({b"=", b"+=", b"-=", b"*=", b"/=", b"%=", b"&=", b"|=", b"^=", b"<<=", b">>="})


def is_head(texts: Sequence[bytes]) -> bool:
    """Whether tokens are a statement but for its last part: `for (...)`, `if (...) {} else`."""
    return len(texts) > 2 and texts[0] in _KEYWORDS and texts[-1] in (b")", b"else")


def read_as_loop(
    tokens: Sequence[Token],
    index: int,
    texts: Sequence[bytes],
    parameters: Sequence[bytes] | None,
    buffer: bytearray,
) -> None:
    """Rewrite the use at `index` of a macro that is a head, if something follows that it heads.
    `texts` are its tokens, with its `parameters` as such; None if it takes no arguments."""
    name = tokens[index]
    if parameters is None:
        if tuple(texts) == _ENDLESS and len(name.text) >= len(text := b"".join(_ENDLESS)):
            buffer[name.start : name.end] = text.ljust(name.end - name.start)
        return
    closing = matching(tokens, index + 1) if index + 1 < len(tokens) else None
    if closing is None or closing + 1 >= len(tokens) or tokens[index + 1].text != b"(":
        return
    if tokens[closing + 1].text == b";" or not _begins_statement(tokens, index):
        return
    begin, end = tokens[index + 1].end, tokens[closing].end
    room = begin - name.start - len(_LOOP)
    if room < 0 or not buffer[end : end + 1].isspace():
        return
    changed = bytearray(buffer[begin : end + 1])
    written = _written(texts, parameters)
    for number, argument in enumerate(split_arguments(tokens[index + 2 : closing])):
        if not argument:
            continue
        first, last = argument[0].start - begin, argument[-1].end - begin
        if not _is_expression(argument):
            changed[first:last] = b"0" + blank(bytes(changed[first:last]))[1:]
        elif number < len(parameters) and parameters[number] in written:
            if first > 0 and changed[first - 1 : first].isspace():
                changed[first - 1] = ord("&")
            elif first == 0 and room > 0:
                room = -1
            else:
                return
    changed[-1] = ord(")")
    head = _LOOP if room >= 0 else _LOOP + b"&"
    buffer[name.start : begin] = head.rjust(begin - name.start)
    buffer[begin : end + 1] = changed


def _begins_statement(tokens: Sequence[Token], index: int) -> bool:
    before = tokens[index - 1] if index else None
    return before is not None and before.text in (b";", b"{", b"}", b")", b":", b"else", b"do")


def _written(texts: Sequence[bytes], parameters: Sequence[bytes]) -> set[bytes]:
    """Parameters that what the macro stands for may write, in parentheses or not."""
    found: set[bytes] = set()
    for one, other in pairwise(text for text in texts if text not in (b"(", b")")):
        if one in parameters and (other in _ASSIGNS or other in _STEPS):
            found.add(one)
        if other in parameters and (one in _STEPS or one == b"&"):
            found.add(other)
    return found


def _is_expression(argument: Sequence[Token]) -> bool:
    """Not a type, nor a declaration: no two names stand side by side."""
    return not any(one.kind == other.kind == "identifier" for one, other in pairwise(argument))
