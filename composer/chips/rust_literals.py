"""Reads Rust `static NAME: Type = &[Struct { field: value, .. }, ..];` tables into plain values.

Only what such tables use: struct literals, slices, `Some(x)`, `None`, strings, numbers, paths.
A struct becomes a dict, a slice a list, `None` None, a path its last part as a string, and a call
such as `Clock("PCLK2")` its argument.
"""

from __future__ import annotations

import re
from typing import Any

from scanner.report.errors import FvmError

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>0x[0-9a-fA-F_]+|[0-9][0-9_]*)
    |(?P<path>&?[A-Za-z_][A-Za-z0-9_]*(?:::[A-Za-z_][A-Za-z0-9_]*)*)|(?P<mark>&?\[|[\](){},:])""",
    re.VERBOSE,
)


def read_static(text: str, name: str) -> Any:
    """The value of `static <name>: ... = <value>;` in `text`."""
    match = re.search(rf"static {name}: [^=]*=", text)
    if match is None:
        raise FvmError(f"no table '{name}' in this file", hint="is it the expected crate version?")
    return _Reader(text, match.end()).value()


class _Reader:
    """A recursive-descent reader over one literal."""

    def __init__(self, text: str, position: int) -> None:
        self.text = text
        self.position = position

    def peek(self) -> tuple[str, str, int]:
        """Kind, text and end of the next token."""
        position = self.position
        while True:
            match = _TOKEN.match(self.text, position)
            if match is None or match.lastgroup is None:
                raise FvmError(f"unexpected text at offset {position} of a Rust table")
            if match.lastgroup != "space":
                return match.lastgroup, match.group(), match.end()
            position = match.end()

    def take(self, expected: str | None = None) -> tuple[str, str]:
        """Consume the next token; with `expected`, it must have this text."""
        kind, text, self.position = self.peek()
        if expected is not None and text != expected:
            raise FvmError(f"expected '{expected}', found '{text}' in a Rust table")
        return kind, text

    def value(self) -> Any:
        """One value of any form."""
        kind, text = self.take()
        if kind == "string":
            return text[1:-1]
        if kind == "number":
            return int(text.replace("_", ""), 0)
        if text in ("&[", "["):
            return self.items("]")
        if kind != "path":
            raise FvmError(f"unexpected '{text}' in a Rust table")
        following = self.peek()[1]
        if following == "{":
            self.take("{")
            return self.fields()
        if following == "(":
            self.take("(")
            return self.items(")")[0]
        return None if text == "None" else text.split("::")[-1].lstrip("&")

    def items(self, end: str) -> list[Any]:
        """Values separated by commas up to `end`."""
        found = []
        while self.peek()[1] != end:
            found.append(self.value())
            if self.peek()[1] == ",":
                self.take(",")
        self.take(end)
        return found

    def fields(self) -> dict[str, Any]:
        """`name: value` pairs up to the closing brace."""
        found: dict[str, Any] = {}
        while self.peek()[1] != "}":
            name = self.take()[1]
            self.take(":")
            found[name] = self.value()
            if self.peek()[1] == ",":
                self.take(",")
        self.take("}")
        return found
