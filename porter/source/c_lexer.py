"""Preprocessing tokens of C and C++, with byte offsets; directives and their conditions apart.

The lexer accepts anything: what is no token becomes a one-byte `other`. Comments are kept as
spans, line splices count as white space, but within a name or a number as nothing. White space may
stand between the backslash and the end of its line, as GCC and Clang have it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_TOKEN = re.compile(
    rb"""
    (?:[ \t\f\v\r]|\\[^\S\n]*\n)*
    (?:
    (?P<newline>\n)
  | (?P<comment>//(?:\\[^\S\n]*\n|[^\n])*|/\*.*?(?:\*/|\Z))
  | (?P<string>(?:u8|[LuU])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)"
             | (?:u8|[LuU])?"(?:\\(?:[^\S\n]*\n|.)|[^"\\\n])*")
  | (?P<char>(?:u8|[LuU])?'(?:\\(?:[^\S\n]*\n|.)|[^'\\\n])*')
  | (?P<identifier>[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\\[^\S\n]*\n)+[A-Za-z0-9_$]+)*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|'[A-Za-z0-9_]|[A-Za-z0-9_.])*
               (?:(?:\\[^\S\n]*\n)+[A-Za-z0-9_.]+)*)
  | (?P<punctuator>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[^\s])
  | (?P<end>\Z)
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_SPELT: dict[bytes, bytes] = {}
SPLICE = re.compile(rb"\\[^\S\n]*\n")
_RAW_TEXT_DIRECTIVES = frozenset({b"error", b"warning", b"pragma"})


class Token(NamedTuple):
    """`kind` is identifier, number, string, char or punctuator."""

    kind: str
    start: int
    end: int
    text: bytes


class Directive(NamedTuple):
    """A preprocessor line: `name` without #, `tokens` what follows; [start, end) without EOL."""

    name: bytes
    start: int
    end: int
    tokens: tuple[Token, ...]


@dataclass
class LexedSource:
    """Code tokens, directives and comments of one file, each in order of their offsets."""

    tokens: list[Token] = field(default_factory=list)
    directives: list[Directive] = field(default_factory=list)
    comments: list[tuple[int, int]] = field(default_factory=list)

    def directives_within(self, start: int, end: int) -> list[Directive]:
        """Those that begin behind `start` and before `end`."""
        return [it for it in self.directives if start < it.start < end]


def lex(data: bytes) -> LexedSource:
    """Split a whole file."""
    result = LexedSource()
    code, comments, directives = result.tokens, result.comments, result.directives
    directive: list[Token] | None = None  # what a preprocessor line has so far, and its #
    line_is_empty = True
    for match in _TOKEN.finditer(data):
        kind = match.lastgroup
        if kind == "newline":
            line_is_empty = True
            if directive is not None:
                directives.append(_directive(directive))
                directive = None
        elif kind == "comment":
            comments.append(match.span(kind))
        elif kind is not None and kind != "end":
            token = _token(kind, match)
            if directive is not None:
                directive.append(token)
            elif line_is_empty and token.text == b"#":
                directive = [token]
            else:
                line_is_empty = False
                code.append(token)
    if directive is not None:
        directives.append(_directive(directive))
    return result


def lex_fragment(data: bytes) -> tuple[Token, ...]:
    """Tokens of a piece of text that holds no directives, such as a macro body."""
    return tuple(
        _token(kind, match)
        for match in _TOKEN.finditer(data)
        if (kind := match.lastgroup or "end") not in ("newline", "comment", "end")
    )


def _token(kind: str, match: re.Match[bytes]) -> Token:
    text = match[kind]
    if b"\n" in text and kind in ("identifier", "number"):
        text = SPLICE.sub(b"", text)
    start, end = match.span(kind)
    # As Token() does, at half the price: there are millions. Equal spellings are one object.
    return tuple.__new__(Token, (kind, start, end, _SPELT.setdefault(text, text)))


def _directive(line: Sequence[Token]) -> Directive:
    """A preprocessor line, from its # on."""
    name = line[1].text if len(line) > 1 else b""
    tokens = () if name in _RAW_TEXT_DIRECTIVES else tuple(line[2:])
    return Directive(name, line[0].start, line[-1].end, tokens)
