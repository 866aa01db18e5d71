"""C and C++ as words with their lines: an own reader, which shares nothing with the porter's."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_WORD = re.compile(
    r"""(?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)
      |(?P<raw>(?:u8|[uUL])?R"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)")
      |(?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"?)
      |(?P<character>'(?:\\.|[^'\\\n])+')
      |(?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
      |(?P<name>[A-Za-z_$][\w$]*)
      |(?P<line>\n)
      |(?P<hash>\#)
      |(?P<other>->|::|\S)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Word:
    """A token; `line` and `last` are lines of the file, whatever backslashes joined."""

    kind: str
    text: str
    line: int
    last: int


@dataclass(frozen=True)
class Macro:
    """A #define: whether it takes arguments, and the words that it stands for."""

    name: str
    has_arguments: bool
    body: tuple[Word, ...]
    line: int
    last: int


@dataclass(frozen=True)
class Text:
    """A file's code and its macros. Arms of #if 0 are in neither."""

    code: tuple[Word, ...]
    macros: tuple[Macro, ...]


def read_text(source: str) -> Text:
    """Take a file apart."""
    code: list[Word] = []
    macros: list[Macro] = []
    skipped = _Skipped()
    for is_directive, line in _lines(_words(source)):
        if not is_directive:
            if not skipped.now:
                code += line
            continue
        skipped.directive([word.text for word in line])
        if not skipped.now and len(line) > 1 and line[0].text == "define":
            macros.append(_macro(line))
    return Text(tuple(code), tuple(macros))


def _words(source: str) -> Iterator[Word]:
    """All tokens but comments; ends of line too, since they end directives."""
    joined, line_of = _joined(source)
    for found in _WORD.finditer(joined):
        kind = found.lastgroup or "other"
        if kind == "fence":
            kind = "raw"
        first, last = line_of(found.start()), line_of(max(found.end() - 1, found.start()))
        if kind != "comment":
            yield Word("string" if kind == "raw" else kind, found.group(), first, last)


def _joined(source: str) -> tuple[str, Callable[[int], int]]:
    """The text without backslashes at ends of line, and the line of a place in it."""
    parts: list[str] = []
    joints: list[int] = []
    position = size = 0
    for splice in _SPLICE.finditer(source):
        parts.append(source[position : splice.start()])
        size += len(parts[-1])
        joints.append(size)
        position = splice.end()
    joined = "".join([*parts, source[position:]])
    ends = [found.start() for found in re.finditer("\n", joined)]
    return joined, lambda offset: 1 + bisect_left(ends, offset) + bisect_right(joints, offset)


def _lines(words: Iterator[Word]) -> Iterator[tuple[bool, list[Word]]]:
    """Lines of words, and whether they are directives (then without the #)."""
    line: list[Word] = []
    for word in words:
        if word.kind != "line":
            line.append(word)
        elif line:
            yield line[0].kind == "hash", line[line[0].kind == "hash" :]
            line = []
    if line:
        yield line[0].kind == "hash", line[line[0].kind == "hash" :]


class _Skipped:
    """Whether an arm of #if 0 (or #else of #if 1) is read."""

    def __init__(self) -> None:
        self._arms: list[bool] = []

    @property
    def now(self) -> bool:
        return any(self._arms)

    def directive(self, words: list[str]) -> None:
        name = words[0] if words else ""
        if name in ("if", "ifdef", "ifndef"):
            self._arms.append(name == "if" and words[1:] in (["0"], ["(", "0", ")"], ["false"]))
        elif name == "endif" and self._arms:
            self._arms.pop()
        elif name in ("else", "elif") and self._arms:
            self._arms[-1] = False


def _macro(line: list[Word]) -> Macro:
    _, name, *rest = line
    end = 0
    # A parenthesis right behind the name opens arguments; a blank between makes it the body. Words
    # don't tell blanks, so what can't be a list of names is a body.
    if rest and rest[0].text == "(":
        closing = next((n for n, word in enumerate(rest) if word.text == ")"), None)
        inside = rest[1:closing] if closing is not None else []
        if closing is not None and all(
            word.kind == "name" or word.text in (",", ".") for word in inside
        ):
            end = closing + 1 if len(rest) > closing + 1 or not inside else 0
    return Macro(name.text, end > 0, tuple(rest[end:]), name.line, line[-1].last)
