"""Preprocessing tokens of C and C++, with byte offsets; directives and their conditions apart.

The lexer accepts anything: what is no token becomes a one-byte `other`. Comments are kept as
spans, line splices count as white space, but within a name or a number as nothing. White space may
stand between the backslash and the end of its line, as GCC and Clang have it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

_PUNCTUATOR = rb"\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[^\s]"
_TOKEN = (
    rb"""
    (?P<newline>\n)
  | (?P<comment>//(?:\\[^\S\n]*\n|[^\n])*|/\*.*?(?:\*/|\Z))
  | (?P<string>(?:u8|[LuU])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)"
             | (?:u8|[LuU])?"(?:\\(?:[^\S\n]*\n|.)|[^"\\\n])*")
  | (?P<char>(?:u8|[LuU])?'(?:\\(?:[^\S\n]*\n|.)|[^'\\\n])*')
  | (?P<identifier>[A-Za-z_$][A-Za-z0-9_$]*(?:(?:\\[^\S\n]*\n)+[A-Za-z0-9_$]+)*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|'[A-Za-z0-9_]|[A-Za-z0-9_.])*
               (?:(?:\\[^\S\n]*\n)+[A-Za-z0-9_.]+)*)
  | (?P<punctuator>"""
    + _PUNCTUATOR
    + rb""")
  | (?P<end>\Z)
"""
)
_PLAIN = rb"""
    \n[ \t\f\v\r]*(?P<define>\#[ \t\f\v\r]*define[ \t\f\v\r][^\n\\/"']*)(?=\n|/[*/]|\Z)
"""


def _each(alternatives: bytes) -> re.Pattern[bytes]:
    space = rb"(?:[ \t\f\v\r]|\\[^\S\n]*\n)*"
    return re.compile(space + b"(?:" + alternatives + b")", re.VERBOSE | re.DOTALL)


_PART = _each(_TOKEN)
_FILE = _each(_PLAIN + b"|" + _TOKEN)
_SPELLING = re.compile(
    rb"[A-Za-z_$][A-Za-z0-9_$]*|\.?[0-9](?:[eEpP][+-]|[A-Za-z0-9_.])*|" + _PUNCTUATOR
)
_SPELT: dict[bytes, bytes] = {}
_SPELT_LINES: dict[tuple[bytes, ...], tuple[bytes, ...]] = {}
SPLICE = re.compile(rb"\\[^\S\n]*\n")
_RAW_TEXT_DIRECTIVES = frozenset({b"error", b"warning", b"pragma"})


class Token(NamedTuple):
    """`kind` is identifier, number, string, char or punctuator."""

    kind: str
    start: int
    end: int
    text: bytes


class Directive:
    """A preprocessor line: `name` without #, [start, end) without EOL. Most are #defines of chips'
    headers that nobody uses, so the tokens of a plain one are made anew whenever somebody asks."""

    __slots__ = ("_text", "_tokens", "end", "macro", "name", "start")

    def __init__(
        self, name: bytes, start: int, end: int, tokens: tuple[Token, ...] | None, text: bytes = b""
    ) -> None:
        """`text`: the whole file, where the tokens are left in it."""
        self.name = name
        self.start = start
        self.end = end
        self.macro: Any = None
        """What `parse_define` made of it, which is asked for again and again."""
        self._tokens = tokens
        self._text = text

    @property
    def tokens(self) -> tuple[Token, ...]:
        """What follows the name."""
        if self._tokens is not None:
            return self._tokens
        return lex_within(self._text, self._behind, self.end)

    @property
    def subject(self) -> bytes:
        """The first of them as it is spelt: what a #define or an #ifdef is about; empty if there is
        none."""
        if self._tokens is not None:
            return self._tokens[0].text if self._tokens else b""
        found = _PART.match(self._text, self._behind, self.end)
        return found[found.lastgroup or 0] if found is not None else b""

    @property
    def strings(self) -> list[Token]:
        """Those of them that are strings. A line that was left in the text has none."""
        return [token for token in self._tokens or () if token.kind == "string"]

    def has(self, word: bytes) -> bool:
        """Whether one of them is a word."""
        if self._tokens is None and self._text.find(word, self._behind, self.end) < 0:
            return False
        return any(token.text == word for token in self.tokens)

    @property
    def is_plain(self) -> bool:
        """Whether its tokens were left in the text: a #define without strings."""
        return self._tokens is None

    @property
    def left(self) -> tuple[bytes, int, int]:
        """The text that a plain one was left in, and where there what follows the name is."""
        return self._text, self._behind, self.end

    @property
    def _behind(self) -> int:
        return self._text.index(self.name, self.start) + len(self.name)


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
    plain: range | None = None  # a #define that nothing was seen behind
    directive: list[Token] | None = None  # what another preprocessor line has so far, and its #
    line_is_empty = True
    for match in _FILE.finditer(data):
        kind = match.lastgroup
        if kind == "comment":
            comments.append(match.span(kind))
        elif kind in ("newline", "define", "end"):
            line_is_empty = True
            if plain is not None:
                directives.append(_plain(plain, data))
                plain = None
            elif directive is not None:
                directives.append(_directive(directive))
                directive = None
            if kind == "define":
                plain = range(*match.span(kind))
        elif kind is not None:
            token = _token(kind, match)
            if plain is not None:  # it goes on behind a comment
                directive = [*lex_within(data, plain.start, plain.stop), token]
                plain = None
            elif directive is not None:
                directive.append(token)
            elif line_is_empty and token.text == b"#":
                directive = [token]
            else:
                line_is_empty = False
                code.append(token)
    return result


def lex_fragment(data: bytes) -> tuple[Token, ...]:
    """Tokens of a piece of text that holds no directives, such as a macro body."""
    return lex_within(data, 0, len(data))


def lex_within(data: bytes, start: int, end: int) -> tuple[Token, ...]:
    """The same of [start, end) of a text."""
    return tuple(
        _token(kind, match)
        for match in _PART.finditer(data, start, end)
        if (kind := match.lastgroup or "end") not in ("newline", "comment", "end")
    )


def spelling(word: bytes) -> bytes:
    """The one object for equal spellings."""
    return _SPELT.setdefault(word, word)


def spelt_within(data: bytes, start: int, end: int) -> tuple[bytes, ...]:
    """How the tokens are spelt of a piece of text without strings, comments and splices. Headers of
    a family of chips say the same again and again, so equal ones are one object."""
    words = tuple(map(spelling, _SPELLING.findall(data, start, end)))
    return _SPELT_LINES.setdefault(words, words)


def _token(kind: str, match: re.Match[bytes]) -> Token:
    text = match[kind]
    if b"\n" in text and kind in ("identifier", "number"):
        text = SPLICE.sub(b"", text)
    start, end = match.span(kind)
    # As Token() does, at half the price: there are millions. Equal spellings are one object.
    return tuple.__new__(Token, (kind, start, end, _SPELT.setdefault(text, text)))


def _plain(line: range, data: bytes) -> Directive:
    """A #define of one line without comments and strings."""
    end = line.start + len(data[line.start : line.stop].rstrip())
    return Directive(b"define", line.start, end, None, data)


def _directive(line: Sequence[Token]) -> Directive:
    """A preprocessor line, from its # on."""
    name = line[1].text if len(line) > 1 else b""
    tokens = () if name in _RAW_TEXT_DIRECTIVES else tuple(line[2:])
    return Directive(name, line[0].start, line[-1].end, tokens)
