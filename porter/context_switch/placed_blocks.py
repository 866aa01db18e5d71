"""Tasks' blocks that C may reach by other names than those of their variables: the ends of a
section (`__start_tcbs`, a script's symbols around it), or another name of the same object (an asm
label, an alias)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import is_declarator
from porter.context_switch.c_words import aliases, declared_as
from porter.source.c_tree import ancestors, enclosing_function, text_of

_SECTION = re.compile(rb"\b_*section_*\s*\(")
_BEHIND = re.compile(rb"[^;{}=,]*?\b_*section_*\s*\(")  # a parser takes none there


def otherwise_reached(types: Iterable[bytes], kept: Iterable[bytes], units: CUnits) -> str:
    """How, of variables that have blocks of these types or lead to them, or that are `kept`; ""
    where nothing tells of another way."""
    own = {name for kind in types for name in aliases(kind, units)}
    places = [it for kind in sorted(own) for it in declared_as(kind, units)]
    names = {text_of(it) for it in places if enclosing_function(it) is None}
    for name in sorted({*kept, *(it for it in names if _is_variable(it, units))}):
        if units.is_another_ones(name):
            return f"{name.decode('latin-1')} has a second name"
        if any(_SECTION.search(it) for it in _declarations(name, units)):
            return f"{name.decode('latin-1')} lies in a section of its own, whose ends have names"
    return ""


def _is_variable(name: bytes, units: CUnits) -> bool:
    return any(it.type == "identifier" and is_declarator(it) for it in units.named(name))


def _declarations(name: bytes, units: CUnits) -> Iterable[bytes]:
    """Texts of the declarations of a variable, with what stands behind it."""
    for node in units.named(name):
        if is_declarator(node) and enclosing_function(node) is None:
            around = list(ancestors(node))
            yield from (text_of(it) for it in around if it.type == "declaration")
            behind = _BEHIND.match(text_of(around[-1]), node.end_byte - around[-1].start_byte)
            yield behind.group() if behind is not None else b""
