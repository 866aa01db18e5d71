"""What a handler may come to by its calls: through C, assembler, aliases and pointers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from porter.context_switch.asm_statements import text_in
from porter.context_switch.assemble import Assembly
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import calls_in, function_name
from porter.context_switch.codes import code_of
from porter.context_switch.object_file import Function
from porter.context_switch.result import NotTranscribable
from porter.context_switch.resumers import Resumers
from porter.project.vectors import FAULT_HANDLERS, Vectors
from porter.source.c_tree import ancestors, enclosing_function, text_of

_CALL = re.compile(rb"\b(?:blx?|call|tail|jal)\s+\w", re.IGNORECASE)
_CALLED = re.compile(r"\b(?:blx?|call|tail|jal)\s+(?:ra\s*,\s*)?([A-Za-z_]\w*)", re.IGNORECASE)
_ALIAS = re.compile(rb'\b_*(?:alias|ifunc)_*\s*\(\s*"(\w+)"')
_ADDRESS = re.compile(rb"(?:=\s*|\.(?:word|long|4byte|int)\s+|\bDC(?:D|32)\s+)(\w+)", re.IGNORECASE)


@dataclass(frozen=True)
class _Leaving:
    """Where a function in assembler goes: `names`, and `anywhere` if it also goes by a register."""

    names: frozenset[str]
    anywhere: bool


class Callees:
    """Follows calls through a project."""

    def __init__(self, resumers: Resumers, units: CUnits, vectors: Vectors) -> None:
        self._resumers, self._units, self._vectors = resumers, units, vectors

    def roads(self, called: Iterable[str], ends: Collection[str]) -> Iterator[tuple[str, str]]:
        """Each function that these calls may come to, with the road there, for a person. A call
        through a pointer may come to those of `ends` whose address somebody has."""
        way = dict.fromkeys(called, "")  # and who leads there
        waiting = list(way)
        while waiting:
            name = waiting.pop(0)
            yield name, _road(name, way)
            for callee in self._next(name, ends):
                if callee not in way:
                    way[callee] = name
                    waiting.append(callee)

    def _next(self, name: str, ends: Collection[str]) -> Iterator[str]:
        leaving = self._by_hand.get(name)
        anywhere = leaving is not None and leaving.anywhere
        yield from sorted(leaving.names) if leaving is not None else ()
        definitions = self._units.definitions(name.encode())
        for definition in definitions:
            for call, callee in calls_in(definition):
                function = call.child_by_field_name("function")
                if function is not None and function.type == "identifier":
                    yield callee.decode("latin-1")
                else:
                    anywhere = True
        yield from self._in_asm.get(name, ())
        if not definitions and leaving is None:
            yield from self._aliased(name)
            anywhere = self._is_variable(name) or self.in_cplusplus(name) is not None
        if anywhere:
            yield from sorted(it for it in ends if self._is_taken(it))

    def in_cplusplus(self, name: str) -> tuple[Path, bytes] | None:
        """A C++ file that has a name which has no body in C or assembler, with its text."""
        if name in self._by_hand or self._units.definitions(name.encode()):
            return None
        return self._units.cplusplus_naming(name.encode())

    @cached_property
    def _by_hand(self) -> dict[str, _Leaving]:
        """Functions in assembler, by the names that the linker knows them by."""
        found = {}
        by_hand = (*self._resumers.by_hand(_CALL), *self._resumers.outside(_CALL))
        for _, assembly, function in by_hand:
            leaving = _leaving(assembly, function)
            found.update(dict.fromkeys(function.names, leaving))
        return found

    @cached_property
    def _in_asm(self) -> dict[str, set[str]]:
        """What asm statements in functions of C call."""
        found: dict[str, set[str]] = {}
        for _, statement in self._resumers.statements(_CALL):
            around = enclosing_function(statement)
            if around is not None:
                name = function_name(around).decode("latin-1")
                found.setdefault(name, set()).update(_CALLED.findall(text_in(statement)))
        return found

    def _aliased(self, name: str) -> Iterator[str]:
        """What a declaration says that a name without a body is another name of."""
        for node in self._units.named(name.encode()):
            around = next((it for it in ancestors(node) if it.type == "declaration"), None)
            for other in _ALIAS.findall(text_of(around)) if around is not None else ():
                yield other.decode("latin-1")

    def _is_variable(self, name: str) -> bool:
        """Whether a name without a body isn't declared as a function: it is a pointer to one."""
        nodes = self._units.named(name.encode())
        return not any(
            node.parent is not None
            and node.parent.type == "function_declarator"
            and node.parent.child_by_field_name("declarator") == node
            for node in nodes
        )

    def _is_taken(self, name: str) -> bool:
        """Whether somebody has a function's address: a vector table aside."""
        if name in FAULT_HANDLERS or self._vectors.may_be_in(name.encode()):
            return False
        uses = self._units.calls(name.encode())
        return name in self._in_words or any(it.type != "call_expression" for it in uses)

    @cached_property
    def _in_words(self) -> set[str]:
        texts = self._resumers.assembler_texts()
        return {found.decode("latin-1") for text in texts for found in _ADDRESS.findall(text)}


def _leaving(assembly: Assembly, function: Function) -> _Leaving:
    try:
        steps = code_of(assembly, function).steps().values()
    except NotTranscribable:
        return _Leaving(frozenset(), True)
    leaving = [it for it in steps if it.calls or it.leaves]
    return _Leaving(
        frozenset(it.target for it in leaving if it.target), any(not it.target for it in leaving)
    )


def _road(name: str, way: dict[str, str]) -> str:
    first = name
    while way[first]:
        first = way[first]
    return f"calls {first}()" + (f", which leads to {name}()" if name != first else "")
