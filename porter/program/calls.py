"""Where functions are called in a file, and with which constants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.program.c_text import CText
from porter.source.c_lexer import Token
from porter.source.declared_objects import DECLARES_NOTHING
from porter.source.token_tools import matching, split_arguments


@dataclass(frozen=True, eq=False)
class FunctionCall:
    """A call at [start, end) of a file; `arguments` as they are written."""

    text: CText
    start: int
    end: int
    arguments: tuple[bytes, ...]

    @property
    def place(self) -> str:
        """File and line, for people."""
        return f"{self.text.file.name}:{self.text.file.line(self.start)}"


def calls_of(text: CText, name: bytes) -> Iterator[FunctionCall]:
    """Calls of a function in the bodies of others; macros that call it are seen by name alone."""
    if name not in text.file.data:
        return
    tokens = text.balanced
    depth = 0
    for index, token in enumerate(tokens[:-1]):
        depth += (token.text == b"{") - (token.text == b"}")
        if not depth or token.text != name or tokens[index + 1].text != b"(":
            continue
        before = tokens[index - 1] if index else token
        if before.kind == "identifier" and before.text not in DECLARES_NOTHING:
            continue  # the type in a declaration
        closing = matching(tokens, index + 1)
        if closing is not None:
            parts = split_arguments(tokens[index + 2 : closing])
            yield FunctionCall(text, token.start, tokens[closing].end, tuple(map(_written, parts)))


def _written(part: Sequence[Token]) -> bytes:
    return b" ".join(token.text for token in part)
