"""Functions that a project keeps in RAM, where no machine runs code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.program.functions import head_of
from porter.project.linker_sections import LinkerSections
from porter.sites.site import Site, SiteKind
from porter.source.asm_text import dialect_of, instructions
from porter.source.c_lexer import Token
from porter.source.macros import MacroTable
from porter.source.source_file import SourceFile
from porter.source.token_tools import matching

RULE = "ram-function"
_WHY = (
    "RAM of a machine isn't executable: take the section away, and the function runs in flash like "
    "the rest; what it was in RAM for, speed or work while the flash is written, goes with it"
)
_WORDS = frozenset({b"section", b"__section__"})
_OF_COMPILERS = frozenset({b"__ramfunc", b"ramfunc"})  # IAR's and TI's
_FLAGS = re.compile(r'"(\w*)"')


def judge_ram_functions(docket: Docket) -> None:
    """A verdict at each definition of one, in C and in assembler files."""
    project = docket.project
    sections = LinkerSections(project.scripts)
    declared: dict[bytes, str] = {}
    for unit in docket.units.values():
        for name, section in _declared(unit):
            declared.setdefault(name, section)
    for unit in docket.units.values():
        docket.add(unit.file, list(_in_c(unit, sections, declared)))
    for source in project.live:
        if source.is_asm:
            docket.add(source, list(_in_asm(source, sections)))


def _in_c(unit: Unit, sections: LinkerSections, declared: dict[bytes, str]) -> Iterator[Verdict]:
    tokens = unit.text.balanced
    macros = unit.text.evaluator.macros
    for name, body, end in unit.text.with_members:
        head = _seen(unit, head_of(tokens, body))
        section = _section(head, macros) or declared.get(name, "")
        why = _why(section, sections)
        place = next((it for it in head if it.text == name), None)
        if not why or place is None or not unit.is_compiled(place.start, tokens[end - 1].end):
            continue
        what = name.decode("latin-1")
        site = Site(unit.file.name, place.start, place.end, SiteKind.ATTRIBUTE, what, what)
        unlinked = unit.why_not_linked(what)
        status = Status.ESCALATED if unlinked is None else Status.LEFT
        reason = why if unlinked is None else f"{unlinked}; else: {why}"
        yield Verdict(site, status, RULE, reason)


def _declared(unit: Unit) -> Iterator[tuple[bytes, str]]:
    """Functions that are given a section where they are declared."""
    tokens = unit.text.balanced
    macros = unit.text.evaluator.macros
    words = {it.text for it in tokens if it.kind == "identifier"}
    if not any(_brings(word, macros) for word in words):
        return
    first = index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text == b"{":
            index = (matching(tokens, index) or len(tokens) - 1) + 1
            first = index
            continue
        if token.text == b";":
            head = _seen(unit, tokens[first:index])
            name = next((it.text for it, behind in pairwise(head)
                         if it.kind == "identifier" and behind.text == b"("), b"")  # fmt: skip
            if (section := _section(head, macros)) and not _brings(name, macros):
                yield name, section
            first = index + 1
        index += 1


def _in_asm(file: SourceFile, sections: LinkerSections) -> Iterator[Verdict]:
    for it in instructions(file.data, dialect_of(file.data)):
        if it.mnemonic not in (".section", ".pushsection") or not it.operands:
            continue
        flags = _FLAGS.search(", ".join(it.operands[1:]))
        if flags is None or "x" not in flags[1]:
            continue
        section = it.operands[0].strip('"')
        if why := _why(section, sections):
            site = Site(file.name, it.start, it.end, SiteKind.ATTRIBUTE, f"{it}")
            yield Verdict(site, Status.ESCALATED, RULE, why)


def _why(section: str, sections: LinkerSections) -> str:
    if not section:
        return ""
    if section.encode() in _OF_COMPILERS:
        return f"{section}: {_WHY}"
    found = sections.why_in_ram(section)
    return f"{found}: {_WHY}" if found else ""


def _section(head: Sequence[Token], macros: MacroTable) -> str:
    """The section that a declaration is given; "" for none."""
    if not any(it.text in _WORDS | _OF_COMPILERS or it.text in macros for it in head):
        return ""
    texts = list(macros.expand(head))
    for index, text in enumerate(texts):
        if text in _OF_COMPILERS:
            return text.decode()
        if text in _WORDS and texts[index + 1 : index + 2] == [b"("]:
            name = b""
            for part in texts[index + 2 :]:
                if not part.startswith(b'"'):
                    break
                name += part.strip(b'"')
            return name.decode("latin-1")
    return ""


def _brings(word: bytes, macros: MacroTable) -> bool:
    """Whether a word, or what a macro of its name stands for, gives a section."""
    if word in _WORDS | _OF_COMPILERS or word == b"__attribute__":
        return True
    macro = macros.get(word)
    telling = _WORDS | _OF_COMPILERS
    return macro is not None and not telling.isdisjoint(macros.expanded(macro.text))


def _seen(unit: Unit, tokens: Sequence[Token]) -> list[Token]:
    """Those that some build of the project may have."""
    return [
        it
        for it in tokens
        if unit.is_compiled(it.start, it.end) and unit.false_condition(it.start) is None
    ]
