"""Assembler text cut into instructions: GNU as, and the comment rules of ARMASM and IAR.

A tokenizer, not an assembler: it finds mnemonics, operands and labels and where they stand.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from porter.source.comments import blank
from porter.source.mnemonics import split

Dialect = Literal["gnu", "armasm"]

# Whichever begins first. What C's preprocessor takes out, the assembler doesn't see.
_C_COMMENT = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ARMASM_COMMENT = re.compile(rb";[^\n]*|" + _C_COMMENT.pattern, re.DOTALL)
_GNU_LINE = re.compile(rb"@[^\n]*|(?m:^[ \t]*#[^\n]*)")
_DIRECTIVE_LINE = re.compile(rb"(?m)^[ \t]*#[^\n]*")
# GNU as: numbers and `55$` are local; %= is a template's number, %l0 a label of `asm goto`.
_LABEL = re.compile(rb"\s*((?:%=|[\w.$%\x80-\xff])+)\s*:")
_ARMASM_LABEL = re.compile(rb"([A-Za-z_|][\w|.$]*|\d+\w*)(?=\s|\Z)")
_STATEMENT = re.compile(rb"\s*([A-Za-z_.][\w.]*)\s*(.*?)\s*\Z", re.DOTALL)
_ARMASM_MARK = re.compile(
    rb"(?m)^\s+(?:AREA|PRESERVE8|RSEG|SECTION\s+\S+:CODE|EXPORT|PUBLIC|EXTERN|IMPORT)\b"
)
_GNU_MARK = re.compile(rb"(?m)^[ \t]*\.(?:syntax|thumb|thumb_func|text|section|globa?l|type)\b")
# `X = 5`, and X EQU 5 in what a file of Arm's takes in, which has no directive that says so.
_NAMING = re.compile(rb"\s*([A-Za-z_.$][\w.$]*)\s*(?:(==?)(?!=)|(?<=\s)(equ|set)\s)\s*(.*?)\s*\Z",
                     re.DOTALL | re.IGNORECASE)  # fmt: skip
EQUATES = frozenset({".set", ".equ", ".equiv", "="})
"""Directives of GNU's assembler that give a number a name, their first operand."""
_WEAK, _GLOBAL = (".weak", "pubweak"), (".global", ".globl", "public")
_SIZE_SUFFIX = re.compile(r"\.(?:w|n)$")


@dataclass(frozen=True)
class Instruction:
    """One instruction or directive; `mnemonic` in lower case without .w/.n, operands in order."""

    mnemonic: str
    operands: tuple[str, ...]
    start: int
    end: int
    label: str | None = None

    @property
    def base(self) -> str:
        """Which instruction of Arm's it is, whether or not it has a condition and sets flags."""
        return split(self.mnemonic).base

    @property
    def condition(self) -> str:
        """Of an instruction of Arm's; "" for always."""
        return split(self.mnemonic).condition

    def __str__(self) -> str:
        if self.mnemonic == "=":
            return " = ".join(self.operands)
        return f"{self.mnemonic} {', '.join(self.operands)}".strip()


def dialect_of(data: bytes) -> Dialect:
    """ARMASM and IAR sources give themselves away by their directives. A file for several
    assembler programs, with an #if for each, is read as GNU's: its own compiler takes that arm."""
    text = blank_comments(data, "armasm") if _ARMASM_MARK.search(data) else b""
    return "armasm" if _ARMASM_MARK.search(text) and not _GNU_MARK.search(text) else "gnu"


def instructions(text: bytes, dialect: Dialect = "gnu") -> Iterator[Instruction]:
    """Instructions of a text; offsets are into it. A label alone has an empty mnemonic."""
    clean = blank_comments(text, dialect)
    separators = b"\n" if dialect == "armasm" else b"\n;"
    start = 0
    for end in _statement_ends(clean, separators):
        yield from _statement(clean, start, end, dialect)
        start = end + 1


def weak_names(parts: Iterable[Instruction]) -> set[str]:
    """Labels that another file's outrank: `.weak NAME`, `EXPORT NAME [WEAK]`, `PUBWEAK NAME`."""
    return {name for part in parts for name, is_weak in _seen_outside(part) if is_weak}


def global_names(parts: Iterable[Instruction]) -> set[str]:
    """Labels that other files may name."""
    return {name for part in parts for name, _ in _seen_outside(part)}


def _seen_outside(part: Instruction) -> Iterator[tuple[str, bool]]:
    """Names that a directive shows to other files, and whether they are weak."""
    if part.mnemonic in _WEAK or part.mnemonic in _GLOBAL:
        yield from ((name, part.mnemonic in _WEAK) for name in part.operands)
    elif part.mnemonic == "export" and part.operands:
        is_weak = any("[weak]" in text.lower() for text in part.operands)
        yield part.operands[0].split()[0], is_weak


def blank_comments(text: bytes, dialect: Dialect) -> bytes:
    """The text with white space for its comments and preprocessor lines, every offset kept."""
    passes = (_C_COMMENT, _GNU_LINE)
    if dialect == "armasm":
        passes = (_ARMASM_COMMENT, _DIRECTIVE_LINE)
    for pattern in passes:
        text = pattern.sub(lambda match: blank(match.group()), text)
    return text


def without_remarks(text: bytes, dialect: Dialect) -> bytes:
    """The text with white space for what its preprocessor takes out, every offset kept."""
    pattern = _ARMASM_COMMENT if dialect == "armasm" else _C_COMMENT
    return pattern.sub(lambda match: blank(match.group()), text)


def _statement_ends(text: bytes, separators: bytes) -> Iterator[int]:
    quoted = False
    for position, character in enumerate(text):
        if character == 0x22:
            quoted = not quoted
        elif character == 0x0A:
            quoted = False
            yield position
        elif character in separators and not quoted:
            yield position
    yield len(text)


def _statement(text: bytes, start: int, end: int, dialect: Dialect) -> Iterator[Instruction]:
    position = start
    while (label := _LABEL.match(text, position, end)) is not None:
        yield Instruction("", (), label.start(1), label.end(), label.group(1).decode("latin-1"))
        position = label.end()
    if dialect == "armasm" and (label := _ARMASM_LABEL.match(text, position, end)) is not None:
        yield Instruction("", (), label.start(1), label.end(), label.group(1).decode("latin-1"))
        position = label.end()
    if dialect == "gnu" and (naming := _NAMING.match(text[position:end])) is not None:
        yield from _naming(naming, position)
        return
    statement = _STATEMENT.match(text[position:end])
    if statement is None:
        return
    mnemonic = _SIZE_SUFFIX.sub("", statement.group(1).decode("latin-1").lower())
    yield Instruction(
        mnemonic,
        _operands(statement.group(2).decode("latin-1")),
        position + statement.start(1),
        position + max(statement.end(1), statement.end(2)),
    )


def _naming(found: re.Match[bytes], offset: int) -> Iterator[Instruction]:
    """A name for a number; `offset`: where what was matched begins."""
    name, value = (found[group].decode("latin-1") for group in (1, 4))
    start, end = offset + found.start(1), offset + max(found.end(4), found.end(1))
    if found[2]:
        yield Instruction("=", (name, value), start, end)
        return
    yield Instruction("", (), start, offset + found.end(1), name)
    word = found[3].decode("latin-1").lower()
    yield Instruction(word, _operands(value), offset + found.start(3), end)


def _operands(text: str) -> tuple[str, ...]:
    parts: list[str] = []
    depth = 0
    current = ""
    for character in text:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += character
    if current.strip():
        parts.append(current.strip())
    return tuple(parts)
