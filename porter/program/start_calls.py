"""What start-up code calls, and with which of that the program begins."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from porter.program.functions import functions_in
from porter.project.vectors import RESET
from porter.source.asm_text import dialect_of, instructions
from porter.source.balanced import balanced
from porter.source.c_lexer import LexedSource
from porter.source.source_file import SourceFile

_JUMPS = frozenset({"b", "bl", "blx", "call", "j", "jal", "tail", "la"})


class StartCall(NamedTuple):
    """A name at [start, end) of a file."""

    name: str
    start: int
    end: int


def calls_in_assembler(file: SourceFile, served: Mapping[str, int]) -> Iterator[StartCall]:
    """Those that no handler makes; `served`: exceptions by the names of their handlers."""
    around = RESET
    for it in instructions(file.data, dialect_of(file.data)):
        around = served.get(it.label or "", around)
        if around != RESET:
            continue
        name = it.operands[-1] if it.operands else ""
        is_loaded = it.base == "ldr" and name.startswith("=")  # for blx
        if it.base in _JUMPS or is_loaded:
            yield StartCall(name.lstrip("= "), it.start, it.end)


def calls_in_c(lexed: LexedSource, served: Mapping[str, int]) -> Iterator[StartCall]:
    """Names in the function that starts the program."""
    tokens = balanced(lexed)
    for name, start, end in functions_in(tokens):
        if served.get(name.decode("latin-1")) == RESET:
            for token in tokens[start:end]:
                if token.kind == "identifier":
                    yield StartCall(token.text.decode("latin-1"), token.start, token.end)


def entry_of(calls: Iterable[str], defined: Collection[str]) -> str:
    """The function with which a program begins: main, or without a call of it the last that the
    project has; "" for none."""
    names = [it for it in calls if it in defined or it == "main"]
    return "main" if "main" in names else names[-1] if names else ""
