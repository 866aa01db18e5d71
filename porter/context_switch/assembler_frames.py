"""Whether assembler of a project, in files of its own or in C, may look into saved frames.

Nobody says what its pointers lead to, so whatever follows one as far as to a saved stack pointer
may be doing that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from porter.context_switch.asm_statements import as_function, at_file_scope, text_in
from porter.context_switch.assemble import Assembly
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import base_variable, function_name, is_local
from porter.context_switch.c_words import contained_in
from porter.context_switch.followed_pointers import PLACE, FollowedPointers
from porter.context_switch.object_file import Function
from porter.context_switch.pick import Pick
from porter.context_switch.result import NotTranscribable
from porter.context_switch.resumers import Resumers, is_apart
from porter.context_switch.saved_places import saved_in
from porter.context_switch.saved_words import blocks_behind, saved_words
from porter.source.c_tree import Node, enclosing_function, one_line, text_of

_LOADS = re.compile(r"\b(?:ldr|ldm|lda)", re.IGNORECASE)
_FETCHES = re.compile(rb"\b(?:ldr|ldm|lda)\w*\b[^;\n]*[\[{%]", re.IGNORECASE)
_GOES_ON = re.compile(r"\b(?:v?ld|v?st|b[lx]*\s)", re.IGNORECASE)


class AssemblerFrames:
    """Asks all of a project, for a handler with a pick."""

    def __init__(self, pick: Pick, resumers: Resumers, units: CUnits) -> None:
        self._resumers, self._units = resumers, units
        self._blocks = blocks_behind(pick, units)
        self._holders = {*saved_in(pick), *_keeping(pick, units)}

    def look(self) -> str:
        """Which may, and by which instruction; "" for none."""
        for file, assembly, function in self._resumers.by_hand(_FETCHES):
            if is_apart(assembly, function) and (found := self._follows(assembly, function, ())):
                return f"{function.name}() of {file.name} is assembler {found}"
        seen: set[tuple[bytes, bytes]] = set()
        for file, statement in self._resumers.statements(_FETCHES):
            around = enclosing_function(statement)
            name = function_name(around) if around is not None else b""
            if (name, text_of(statement)) not in seen:
                seen.add((name, text_of(statement)))
                if found := self._looks(file, statement, around):
                    where = f"{name.decode('latin-1')}() of {file.name}" if name else file.name
                    return f"{where} has asm {found}"
        return ""

    def _follows(self, assembly: Assembly, function: Function, addresses: Iterable[str]) -> str:
        flow = FollowedPointers(assembly, self._units, self._holds)
        try:
            found = flow.found(function, dict.fromkeys(addresses, PLACE))
        except NotTranscribable as reason:
            return f"that can't be read ({reason}): does it look into frames?"
        if found is None:
            return ""
        return f"and finds tasks by {found[0]}, '{found[1]}': does it look into frames?"

    def _looks(self, file: Path, statement: Node, around: Node | None) -> str:
        text = text_in(statement)
        if not _LOADS.search(text) or len(_GOES_ON.findall(text)) < 2:
            return ""
        if around is not None and self._resumers.is_naked(file, around):
            return ""
        unread = f"that can't be read, '{one_line(statement)}': does it look into frames?"
        if around is None:
            alone = at_file_scope(text, self._resumers.options)
            if alone is None:
                return unread
            every = (
                self._follows(alone, it, ()) for it in alone.object.functions if is_apart(alone, it)
            )
            return next((it for it in every if it), "")
        made = as_function(statement, self._resumers.options)
        if made is None:
            return unread
        return self._follows(made.assembly, made.function, made.addresses)

    def _holds(self, variable: str) -> bool:
        """Whether a variable has a stack pointer in itself, or a block with one."""
        name = variable.encode()
        return variable in self._holders or contained_in(name, self._blocks, self._units)


def _keeping(pick: Pick, units: CUnits) -> Iterator[str]:
    """Variables in which C keeps a saved stack pointer."""
    for node, parent, _ in units.steps(saved_words(pick, units)):
        if parent.type == "assignment_expression" and parent.child_by_field_name("right") == node:
            variable = base_variable(parent.child_by_field_name("left"))
            around = enclosing_function(parent)
            local = around is None or variable is None or is_local(around, text_of(variable))
            if variable is not None and not local:
                yield text_of(variable).decode("latin-1")
