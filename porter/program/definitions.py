"""Where functions of given names are defined, also under macro names and by macros."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from porter.program.c_text import CText
from porter.program.functions import head_of
from porter.source.asm_text import dialect_of, instructions, weak_names
from porter.source.c_lexer import Token, lex, lex_fragment
from porter.source.macros import MacroTable
from porter.source.source_file import SourceFile
from porter.source.token_tools import body_behind, matching

_PRAGMA = re.compile(rb"\s*#\s*pragma\s+weak\s+(\w+)")
_WEAK = frozenset({b"weak", b"__weak", b"__weak__", b"__WEAK"})


@dataclass(frozen=True)
class Definition:
    """A function definition: the place of the name in its file."""

    file: SourceFile
    start: int
    end: int


def defined_in_c(text: CText, names: Iterable[str]) -> Iterator[tuple[str, Definition]]:
    """Functions among `names` that a C file defines, weak ones excepted."""
    macros = text.evaluator.macros
    wanted = {name.encode(): name for name in names}
    for alias, target in macros.aliases().items():
        if target in wanted:
            wanted.setdefault(alias, wanted[target])
    tokens = text.balanced
    yield from _pasted(text.file, tokens, macros, wanted)
    if wanted.keys().isdisjoint([token.text for token in tokens]):
        return
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text == b"{") - (token.text == b"}")
        if token.kind != "identifier" or token.text not in wanted:
            continue
        place = Definition(text.file, token.start, token.end)
        defined = body_behind(tokens, index) is not None and not _is_weak(tokens, index)
        if depth == 0 and (defined or _is_generated(tokens, index, macros)):
            yield wanted[token.text], place


def declared_weak(text: CText) -> Iterator[str]:
    """Functions that a C file declares and can do without: undefined, they are at address 0."""
    for directive in text.lexed.directives:
        found = _PRAGMA.match(text.file.data, directive.start, directive.end)
        if found is not None:
            yield found[1].decode("latin-1")
    if not any(word in text.file.data for word in _WEAK):
        return
    tokens = text.balanced
    depth = 0
    for index, token in enumerate(tokens[:-1]):
        depth += (token.text == b"{") - (token.text == b"}")
        if depth or token.kind != "identifier" or tokens[index + 1].text != b"(":
            continue
        is_declared = token.text not in _WEAK and body_behind(tokens, index) is None
        if is_declared and _is_weak(tokens, index):
            yield token.text.decode("latin-1")


def does_nothing(definition: Definition) -> bool:
    """Whether the body of a C function is empty, comments aside."""
    if definition.file.is_asm:
        return False
    tokens = lex(definition.file.data).tokens
    index = bisect_left(tokens, definition.start, key=lambda token: token.start)
    if index + 1 >= len(tokens) or tokens[index + 1].text != b"(":
        return False
    closing = matching(tokens, index + 1)
    return closing is not None and [t.text for t in tokens[closing + 1 : closing + 3]] == [
        b"{", b"}"
    ]  # fmt: skip


def defined_in_asm(file: SourceFile, names: Iterable[str]) -> Iterator[tuple[str, Definition]]:
    """Labels among `names` in an assembler file, weak ones excepted."""
    wanted = {name for name in names if name.encode() in file.data}
    if not wanted:
        return
    found = list(instructions(file.data, dialect_of(file.data)))
    weak = weak_names(found)
    for part in found:
        if part.label in wanted and part.label not in weak:
            yield part.label, Definition(file, part.start, part.start + len(part.label))


def _is_weak(tokens: list[Token], index: int) -> bool:
    last = index
    while last < len(tokens) and tokens[last].text not in (b";", b"{"):
        last += 1
    return any(token.text in _WEAK for token in (*head_of(tokens, index), *tokens[index:last]))


def _pasted(
    file: SourceFile, tokens: list[Token], macros: MacroTable, wanted: Mapping[bytes, str]
) -> Iterator[tuple[str, Definition]]:
    """Functions whose names a macro puts together: `ISR(TIM2) {` for TIM2_IRQHandler."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.text == b"{") - (token.text == b"}")
        if depth or token.kind != "identifier" or tokens[index + 1 : index + 2] == []:
            continue
        macro = macros.get(token.text)
        if macro is None or macro.parameters is None or tokens[index + 1].text != b"(":
            continue
        closing = matching(tokens, index + 1)
        if closing is None or _is_weak(tokens, index):
            continue
        body = (
            [b"{"] if tokens[closing + 1 : closing + 2] and tokens[closing + 1].text == b"{" else []
        )
        written = {part.text for part in tokens[index : closing + 1]}
        expanded = list(
            lex_fragment(b" ".join([*macros.expand(tokens[index : closing + 1]), *body]))
        )
        for number, part in enumerate(expanded):
            if (
                part.text in wanted
                and part.text not in written
                and body_behind(expanded, number) is not None
                and not _is_weak(expanded, number)
            ):
                yield wanted[part.text], Definition(file, token.start, tokens[closing].end)


def _is_generated(tokens: list[Token], index: int, macros: MacroTable) -> bool:
    """A name given to a macro that makes a function of it: `HANDLER(EXTI0_IRQHandler, ...)`."""
    opening = index
    while opening and tokens[opening].text not in (b"(", b";", b"}"):
        opening -= 1
    macro = macros.get(tokens[opening - 1].text) if opening else None
    closing = matching(tokens, opening) if tokens[opening].text == b"(" else None
    if macro is None or macro.parameters is None or closing is None:
        return False
    expanded = lex_fragment(b" ".join(macros.expand(tokens[opening - 1 : closing + 1])))
    return any(
        token.text == tokens[index].text and body_behind(expanded, number) is not None
        for number, token in enumerate(expanded)
    )
