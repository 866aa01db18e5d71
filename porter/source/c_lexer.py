"""C preprocessing tokens of a file, with byte offsets; directives and their conditions apart.

The lexer accepts anything: what is no token becomes a one-byte `other`. Comments are kept as
spans, line splices count as white space.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

_TOKEN = re.compile(
    rb"""
    (?P<space>(?:[ \t\f\v\r]|\\\r?\n)+)
  | (?P<newline>\n)
  | (?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
  | (?P<string>(?:u8|[LuU])?"(?:\\(?:\r\n|.)|[^"\\\n])*")
  | (?P<char>(?:u8|[LuU])?'(?:\\(?:\r\n|.)|[^'\\\n])*')
  | (?P<identifier>[A-Za-z_$][A-Za-z0-9_$]*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*)
  | (?P<punctuator>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[^\s])
    """,
    re.VERBOSE | re.DOTALL,
)
_RAW_TEXT_DIRECTIVES = frozenset({b"error", b"warning", b"pragma"})


class Token(NamedTuple):
    """`kind` is identifier, number, string, char or punctuator."""

    kind: str
    start: int
    end: int
    text: bytes


@dataclass(frozen=True)
class Directive:
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


def lex(data: bytes) -> LexedSource:
    """Split a whole file."""
    result = LexedSource()
    line_is_empty = True
    position = 0
    while (match := _TOKEN.match(data, position)) is not None:
        kind = match.lastgroup or ""
        position = match.end()
        if kind == "newline":
            line_is_empty = True
        elif kind == "comment":
            result.comments.append(match.span())
        elif kind != "space":
            if line_is_empty and match.group() == b"#":
                position = _directive(data, match.start(), result)
                continue
            line_is_empty = False
            result.tokens.append(Token(kind, match.start(), match.end(), match.group()))
    return result


def lex_fragment(data: bytes) -> tuple[Token, ...]:
    """Tokens of a piece of text that holds no directives, such as a macro body."""
    return tuple(
        Token(kind, match.start(), match.end(), match.group())
        for match in _TOKEN.finditer(data)
        if (kind := match.lastgroup or "") not in ("space", "newline", "comment")
    )


def _directive(data: bytes, start: int, result: LexedSource) -> int:
    """Read the directive whose # is at `start`; returns the offset of its newline or the end."""
    name = b""
    tokens: list[Token] = []
    position = end = start + 1
    while (match := _TOKEN.match(data, position)) is not None and match.lastgroup != "newline":
        kind = match.lastgroup or ""
        position = match.end()
        if kind == "comment":
            result.comments.append(match.span())
        elif kind != "space":
            end = position
            if not name:
                name = match.group()
                if name in _RAW_TEXT_DIRECTIVES:
                    newline = data.find(b"\n", position)
                    position = end = newline if newline != -1 else len(data)
            else:
                tokens.append(Token(kind, match.start(), match.end(), match.group()))
    result.directives.append(Directive(name, start, end, tuple(tokens)))
    return position
