"""What the name of a function is another name of: by attributes, pragmas, the name that C gives it
for the linker, and linker scripts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import is_declarator
from porter.project.linker_symbols import LinkerAlias
from porter.source.c_tree import ancestors, text_of

_ALIAS = re.compile(
    rb'\b_*(?:alias|ifunc|weakref)_*\s*\(\s*"(\w+)"|\b_*asm_*\s*\((?:\s*"")*\s*"(\w+)"\s*\)'
)


class OtherNames:
    """Looks at declarations, and at what linker scripts make of names."""

    def __init__(self, units: CUnits, aliases: Iterable[LinkerAlias]) -> None:
        self._units, self._aliases = units, list(aliases)
        self.of = cache(self._of)

    def is_renamed(self, name: str) -> bool:
        """Whether something may be another name for this one: a script has it, or a text in C."""
        return self.is_linked(name) or self._units.is_quoted(name.encode())

    def is_linked(self, name: str) -> bool:
        """Whether a linker script or an option calculates another name from this one."""
        return any(it.of == name for it in self._aliases)

    def linked(self) -> Iterator[tuple[str, str]]:
        """Names that these calculate, each with what from."""
        return ((it.name, it.of) for it in self._aliases)

    def _of(self, name: str) -> frozenset[str]:
        """What a name stands for, beside what it defines itself."""
        found = {it.of for it in self._aliases if it.name == name}
        found |= {it.decode("latin-1") for it in self._declared(name.encode("latin-1"))}
        return frozenset(found - {name})

    def _declared(self, name: bytes) -> Iterator[bytes]:
        for node in self._units.named(name):
            if is_declarator(node):
                around = next((it for it in ancestors(node) if it.type == "declaration"), None)
                text = text_of(around) if around is not None else b""
                yield from (it for found in _ALIAS.findall(text) for it in found if it)
        yield from self._units.weak_as(name)
        yield from self._units.labelled(name)
