"""Macros of a project that say that a function is naked, and others that only qualify it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from porter.context_switch.assemble import macros
from porter.project.compile_options import CompileOptions
from porter.source.blanking import Expanded
from porter.source.c_lexer import lex
from porter.source.macros import MacroTable, parse_define

_NAKED = frozenset({b"naked", b"__naked__"})
_AROUND = frozenset({b"__attribute__", b"__attribute", b"(", b")"})


@dataclass(frozen=True)
class AttributeMacros:
    """`naked`: names that stand for the naked attribute and nothing else; `calls`: those with
    arguments that stand for some attribute."""

    naked: frozenset[bytes] = frozenset()
    calls: frozenset[bytes] = frozenset()


NONE = AttributeMacros()


def attribute_macros(source: Path, options: CompileOptions) -> AttributeMacros:
    """Those that a file sees. Raises CompileError where it can't be preprocessed."""
    table = MacroTable()
    found = macros(source, options)
    text = "".join(f"#define {name}{rest}\n" for name, rest in found.items())
    for directive in lex(text.encode("latin-1", "replace")).directives:
        if (macro := parse_define(directive)) is not None:
            table.define(macro)
    naked, calls = set(), set()
    for name in map(str.encode, found):
        macro = table.get(name)
        if macro is None:
            continue
        made = Expanded(table.expanded(macro.text), macro.parameters)
        if made.is_attribute:
            calls.add(name)
        words = set(made.texts) - _AROUND
        if not made.takes_arguments and words and words <= _NAKED:
            naked.add(name)
    return AttributeMacros(frozenset(naked), frozenset(calls))
