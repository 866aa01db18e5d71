"""Where things stand in a C source file, by bytes, without understanding all of C.

Works on the file as it is on disk: any encoding, any line ends, `#if` in all places. Comments,
strings and preprocessor lines are blanked to spaces of the same length first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.context_switch.attribute_macros import NONE, AttributeMacros

_TOKENS = re.compile(
    rb"""//(?:\\[^\S\n]*\n|[^\r\n])*|/\*.*?(?:\*/|\Z)|"(?:\\.|[^"\\\r\n])*"|'(?:\\.|[^'\\\r\n])*'"""
    rb"""|(?<![^\r\n])[ \t]*\#(?:\\[^\S\n]*\n|/\*.*?\*/|[^\r\n])*""",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(rb"__attribute(?:__)?\s*\(\s*\((?:[^()]|\([^()]*\))*\)\s*\)")
_NAKED = re.compile(
    rb"[ \t]*(?:__attribute(?:__)?[ \t]*\(\s*\(\s*(?:__)?naked(?:__)?\s*\)\s*\)|__naked\b"
    rb"|__(?:asm|ASM)\b(?=\s+[A-Za-z_]))"
)
_NAKED_IN_LIST = re.compile(
    rb"\b(?:__)?naked(?:__)?[ \t]*,[ \t]*|[ \t]*,[ \t]*(?:__)?naked(?:__)?\b"
)
_SAYS_NAKED = re.compile(rb"naked|__(?:asm|ASM)\b(?=\s+[A-Za-z_])")
_ARGUMENTS = rb"\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_CONDITION = re.compile(rb"[ \t]*#[ \t]*(if|el|endif)")  # its first letters
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include[^\r\n]*(?:\r\n|\r|\n|\Z)", re.MULTILINE)


@dataclass(frozen=True)
class Definition:
    """A function definition: [start, end) is all of it, body its braces and what is between."""

    start: int
    body: int
    end: int
    name: str


class SourceText:
    """One C file. `macros` are attributes in it."""

    def __init__(self, data: bytes, macros: AttributeMacros = NONE) -> None:
        self.data = data
        self._naked = _words(macros.naked)
        self._calls = re.compile(_words(macros.calls).pattern + _ARGUMENTS)
        self._conditions: list[tuple[int, bytes]] = []
        self.code = _TOKENS.sub(self._blanked, data)
        self.eol = b"\r\n" if b"\r\n" in data else b"\n"

    def _blanked(self, token: re.Match[bytes]) -> bytes:
        if condition := _CONDITION.match(token.group()):
            self._conditions.append((token.start(), condition.group(1)))
        return _blank(token.group())

    def offset(self, line: int) -> int:
        """First byte of a line, counted from 1."""
        place = 0
        for _ in range(line - 1):
            place = self.data.index(b"\n", place) + 1
        return place

    def definition_at(self, offset: int) -> Definition | None:
        """The function definition whose body holds an offset."""
        depth = 0
        body = -1
        before: list[int] = []  # depth at the #if around
        braces = [(match.start(), match.group()) for match in re.finditer(rb"[{}]", self.code)]
        for place, mark in sorted((*self._conditions, *braces)):
            if mark == b"if":
                before.append(depth)
            elif mark == b"el" and before:
                depth = before[-1]
            elif mark == b"endif" and before:
                before.pop()
            elif mark == b"{" and not (depth == 0 and self._is_linkage(place)):
                body = place if depth == 0 else body
                depth += 1
            elif mark == b"}" and depth > 0:  # a closing one of linkage is at 0
                depth -= 1
                if depth == 0 and body <= offset <= place:
                    return self._definition(body, place + 1)
        return None

    def _is_linkage(self, brace: int) -> bool:
        """Whether a brace opens `extern "C" {`; strings are blank here."""
        return re.search(rb"\bextern\s*\Z", self.code[:brace]) is not None

    def _definition(self, body: int, end: int) -> Definition | None:
        head = self.code[:body]
        marks = (head.rfind(mark) for mark in (b";", b"}", b"{"))
        start = max(*marks, _last_directive(self.data, head)) + 1
        while start < body and self.code[start : start + 1].isspace():
            start += 1
        signature = self._calls.sub(b"", _ATTRIBUTE.sub(b"", self.code[start:body]))
        match = re.search(rb"([A-Za-z_]\w*)\s*\(", signature)
        return Definition(start, body, end, match.group(1).decode()) if match else None

    def without_naked(self, start: int, end: int) -> bytes:
        """The bytes of a range without the naked attribute."""
        text = self._naked.sub(b"", _NAKED.sub(b"", self.data[start:end]))
        return _NAKED_IN_LIST.sub(b"", text)

    def naked_prototypes(self, name: str) -> list[tuple[int, int]]:
        """[start, end) of each declaration of a function that says naked, up to its `;`."""
        found = []
        for match in re.finditer(rb"\b" + re.escape(name.encode()) + rb"\s*\(", self.code):
            end = self.code.find(b";", match.end())
            brace = self.code.find(b"{", match.end())
            if end < 0 or 0 <= brace < end:
                continue
            head = self.code[: match.start()]
            start = max(head.rfind(b";"), head.rfind(b"}"), head.rfind(b"{")) + 1
            start = max(start, _last_directive(self.data, head) + 1)
            while self.code[start : start + 1].isspace():
                start += 1
            said = self.code[start:end]
            if _SAYS_NAKED.search(said) or self._naked.search(said):
                found.append((start, end + 1))
        return found

    def after_includes(self, before: int) -> int:
        """Where one more #include belongs: behind the last that no #if guards, before an offset."""
        place = 0
        depth = 0
        for match in re.finditer(rb"^[ \t]*#[ \t]*(\w+)[^\r\n]*", self.data[:before], re.MULTILINE):
            word = match.group(1)
            if word.startswith(b"if"):
                depth += 1
            elif word == b"endif":
                depth -= 1
            elif word == b"include" and depth == 0:
                line = _INCLUDE.match(self.data, match.start())
                place = line.end() if line else place
        return place

    def spaced(self) -> bool:
        """Whether the file writes `( x )` rather than `(x)`."""
        wide = len(re.findall(rb"\([ \t]+\S", self.code))
        return wide > len(re.findall(rb"\([^\s)]", self.code))


def _words(names: frozenset[bytes]) -> re.Pattern[bytes]:
    """Any of some names, with the space in front; nothing if there are none."""
    one_of = b"|".join(map(re.escape, sorted(names))) or rb"(?!)"
    return re.compile(rb"[ \t]*\b(?:" + one_of + rb")\b")


def _blank(token: bytes) -> bytes:
    return re.sub(rb"[^\r\n]", b" ", token)


def _last_directive(data: bytes, head: bytes) -> int:
    """End of the last preprocessor line in front of a definition, -1 if there is none."""
    last = -1
    for match in re.finditer(
        rb"^[ \t]*#(?:\\[^\S\n]*\n|[^\r\n])*", data[: len(head)], re.MULTILINE
    ):
        last = match.end() - 1
    return last
