"""Registers that a linker script names: no address stands where the text uses them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from porter.judging.docket import Docket
from porter.judging.verdict import Status, Verdict
from porter.project.linker_symbols import LinkerSymbol, NearestScripts
from porter.sites.site import Site, SiteKind
from porter.source.asm_text import blank_comments, dialect_of
from porter.source.c_lexer import lex
from porter.source.macros import MacroTable, parse_define
from porter.source.source_file import SourceFile

RULE = "linker-symbol"
_NAME = re.compile(rb"(?<![\w.$])[A-Za-z_.$][\w.$]*")

Describe = Callable[[int], str | None]
"""What nobody owns at an address, None for what may be a domain's."""

IsMacro = Callable[[bytes], bool]
"""Whether the preprocessor makes something else of a name in a file: no linker sees it then."""


def judge_linker_symbols(docket: Docket) -> None:
    """A verdict for each use of a register by a name from a linker script, in files that are
    built; what the transcriber read is its own affair."""
    project = docket.project
    texts = [source.data for source in project.live if not source.is_asm]
    nearest = NearestScripts(project.scripts)

    @cache
    def declared(name: bytes) -> bool:
        return is_declared(name, texts)

    for source in project.live:
        evaluator = project.knowledge.evaluator(source.path)

        def is_macro(
            name: bytes, file: SourceFile = source, macros: MacroTable = evaluator.macros
        ) -> bool:
            if file.is_asm:
                return names_itself(name, file.data)
            return name in macros and not declared(name)

        scripts = nearest.of(source.path.parent)
        linked = [symbol for symbol in project.linked if symbol.script in scripts]
        switches = project.switches.get(source.path, [])
        describe = project.registers_of(evaluator).describe
        docket.add(source, [
            verdict
            for verdict in uses_of(source, linked, describe, is_macro)
            if not any(it.start <= verdict.site.start < it.end for it in switches)
        ])  # fmt: skip


def uses_of(
    file: SourceFile, symbols: Iterable[LinkerSymbol], describe: Describe, is_macro: IsMacro
) -> Iterator[Verdict]:
    """Verdicts on one file."""
    wanted = {
        symbol.name.encode("latin-1"): (symbol, what)
        for symbol in symbols
        if (what := describe(symbol.value)) is not None
        and symbol.name.encode("latin-1") in file.data
    }
    macros = {name for name in wanted if is_macro(name)}
    for start, name, is_text in _mentions(file) if wanted else ():
        if name in wanted and (is_text or name not in macros):
            symbol, what = wanted[name]
            site = Site(
                file.name, start, start + len(name), SiteKind.REGISTER, name.decode("latin-1")
            )
            reason = (
                f"the linker script ({symbol}) gives this name the address {symbol.value:#010x}, "
                f"{what}: no use of it can be followed; define it in C as a macro, "
                f"*(volatile uint32_t *){symbol.value:#010X}, and take it out of the script"
            ).replace("0X", "0x")
            yield Verdict(site, Status.ESCALATED, RULE, reason)


def is_declared(name: bytes, texts: Iterable[bytes]) -> bool:
    """Whether C declares a symbol, as it must before it uses one."""
    declaration = re.compile(rb"\bextern\b[^;{}]*(?<!\w)%s(?!\w)" % re.escape(name))
    return any(name in text and declaration.search(text) for text in texts)


def names_itself(name: bytes, text: bytes) -> bool:
    """Whether an assembler file gives a name a value of its own."""
    word = re.escape(name)
    return bool(re.search(
        rb"(?mi)^[ \t]*(?:\.(?:equ|set)[ \t]+%s\b|#[ \t]*define[ \t]+%s\b|%s[ \t]+EQU\b|%s[ \t]*=)"
        % (word, word, word, word), text,
    ))  # fmt: skip


def _mentions(file: SourceFile) -> Iterator[tuple[int, bytes, bool]]:
    """Names in code, in macros and in assembler strings, save in declarations of C, where they
    stand, and whether in a string, which no preprocessor reads."""
    if file.is_asm:
        text = blank_comments(file.data, dialect_of(file.data))
        for match in _NAME.finditer(text):
            line = text[text.rfind(b"\n", 0, match.start()) + 1 : match.start()].split()
            if not line or line[0].lstrip(b".").lower() not in _DECLARES:
                yield match.start(), match.group(), False
        return
    lexed = lex(file.data)
    for directive in lexed.directives:
        if (macro := parse_define(directive)) is not None:
            hidden = {macro.name, *(macro.parameters or ())}
            for token in macro.body:
                if token.kind == "identifier" and token.text not in hidden:
                    yield token.start, token.text, False
    declares = False
    for token in lexed.tokens:
        if token.text in (b";", b"{", b"}"):
            declares = False
        elif token.text == b"extern":
            declares = True
        elif token.kind == "identifier" and not declares:
            yield token.start, token.text, False
        elif token.kind == "string":
            for match in _NAME.finditer(token.text):
                yield token.start + match.start(), match.group(), True


_DECLARES = frozenset({b"extern", b"import", b"global", b"globl", b"weak"})
