"""Lines of source around a line that debug information names: a statement is one place, and a
compiler may say any of its lines; of what a macro does it says the line of the use."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from porter.source.source_file import SourceFile

_STRING = re.compile(rb'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.DOTALL)
_DEFINE = re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n]*\\[^\S\n]*\n)*[^\n]*)")
_NAME = re.compile(rb"[A-Za-z_]\w*")
_DIRECTIVE = re.compile(rb"(?m)^[ \t]*#(?:[^\n]*\\[^\S\n]*\n)*[^\n]*")
_TOKEN = re.compile(rb"\w+|[^\w\s]")
_ENDS = re.compile(rb"[;{}]")
_FAR = 200


@dataclass(frozen=True)
class Definition:
    """A macro: the lines of its definition, and the names in it."""

    file: str
    first: int
    last: int
    names: frozenset[bytes]


class SourceLines:
    """The sources of a project, for whoever comes from a compiled program."""

    def __init__(self, files: Iterable[SourceFile]) -> None:
        self._files = {file.name: file for file in files}
        self._by_base: dict[str, list[str]] = {}
        for name in self._files:
            self._by_base.setdefault(PurePosixPath(name).name, []).append(name)
        self._blank: dict[str, list[bytes]] = {}
        self._functions: dict[str, list[tuple[str, int, int]]] = {}

    def named(self, path: str) -> list[str]:
        """Files of the project that a path of the compiler's may mean: one path ends as the other
        does. The project may have been built in another place."""
        parts = [part for part in PurePosixPath(path.replace("\\", "/")).parts if part != "."]
        while ".." in parts:
            at = parts.index("..")
            del parts[max(at - 1, 0) : at + 1]
        found = []
        for name in self._by_base.get(parts[-1] if parts else "", ()):
            own = PurePosixPath(name).parts
            shared = min(len(own), len(parts))
            if tuple(parts[-shared:]) == own[-shared:]:
                found.append((shared, name))
        longest = max((shared for shared, _ in found), default=0)
        return [name for shared, name in found if shared == longest]

    def text(self, file: str, line: int) -> str:
        """A line."""
        lines = self._files[file].data.split(b"\n")
        return lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""

    def statement(self, file: str, line: int) -> tuple[int, int]:
        """The lines of the statement that a line is part of; of assembler, the line."""
        if self._files[file].is_asm:
            return line, line
        lines = self._plain(file)
        if not 0 < line <= len(lines):
            return line, line
        first = last = line
        while first > 1 and line - first < _FAR and not _is_end(lines[first - 2]):
            first -= 1
        depth = 0
        while last < len(lines) and last - line < _FAR:
            text = lines[last - 1]
            depth += text.count(b"(") - text.count(b")")
            if depth <= 0 and _ENDS.search(text):
                break
            last += 1
        return first, last

    def function(self, file: str, line: int) -> str:
        """The C function that a line is in; "" for none."""
        inside = (it for it in self._functions_of(file) if it[1] <= line <= it[2])
        return next((name for name, _, _ in inside), "")

    def begins_function(self, file: str, line: int) -> bool:
        """Whether a line belongs to the head of a C function, up to its brace."""
        if self._files[file].is_asm:
            return False
        last = self.statement(file, line)[1]
        return any(first == last < end for _, first, end in self._functions_of(file))

    def _functions_of(self, file: str) -> list[tuple[str, int, int]]:
        if file not in self._functions:
            self._functions[file] = list(_functions(b"\n".join(self._plain(file))))
        return self._functions[file]

    def names_in(self, file: str, first: int, last: int) -> frozenset[bytes]:
        """Names in some lines."""
        return frozenset(_NAME.findall(b"\n".join(self._plain(file)[first - 1 : last])))

    def macros(self, names: Iterable[bytes]) -> Iterator[Definition]:
        """Definitions of the macros among some names, and of those that they use."""
        seen: set[bytes] = set()
        ahead = list(names)
        while ahead:
            name = ahead.pop()
            if name in seen:
                continue
            seen.add(name)
            for definition in self._definitions.get(name, ()):
                yield definition
                ahead += definition.names

    @cached_property
    def _definitions(self) -> dict[bytes, list[Definition]]:
        found: dict[bytes, list[Definition]] = {}
        for file in self._files.values():
            if file.is_asm:
                continue
            starts = [0] + [match.end() for match in re.finditer(rb"\n", file.data)]
            for match in _DEFINE.finditer(file.data):
                first = bisect_right(starts, match.start(1))
                last = bisect_right(starts, max(match.end() - 1, match.start(1)))
                names = frozenset(_NAME.findall(match[2]))
                found.setdefault(match[1], []).append(Definition(file.name, first, last, names))
        return found

    def _plain(self, file: str) -> list[bytes]:
        """Lines without strings and comments, which keep their lines."""
        if file not in self._blank:
            data = _STRING.sub(lambda it: b" " * 1 + b"\n" * it[0].count(b"\n"),
                               self._files[file].data)  # fmt: skip
            self._blank[file] = data.split(b"\n")
        return self._blank[file]


def _functions(text: bytes) -> Iterator[tuple[str, int, int]]:
    """Name, first and last line of what looks like a function: `name (...) {` at file level."""
    text = _DIRECTIVE.sub(lambda it: b"\n" * it[0].count(b"\n"), text)
    braces = parentheses = first = 0
    name = before = ""
    for token in _TOKEN.finditer(text):
        word = token[0]
        if word == b"(":
            if not braces and not parentheses:
                name = before
            parentheses += 1
        elif word == b")":
            parentheses = max(parentheses - 1, 0)
        elif word == b"{":
            if not braces:
                first, parentheses = text.count(b"\n", 0, token.start()) + 1, 0
            braces += 1
        elif word == b"}":
            braces = max(braces - 1, 0)
            if not braces and name:
                yield name, first, text.count(b"\n", 0, token.start()) + 1
                name = ""
        elif word in (b";", b"=") and not braces and not parentheses:
            name = ""
        before = word.decode("latin-1")


def _is_end(line: bytes) -> bool:
    """Whether the next line begins a statement. A line that is empty tells nothing."""
    text = line.strip()
    return text.startswith(b"#") or (bool(text) and text[-1:] in b";{}:")
