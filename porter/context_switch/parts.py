"""Functions of an assembler file that are parts of its handlers: only these and the start of the
first task come to them, by C between them or not.

Such a part saves or fetches S16-S31 of the task or asks for its stack, from a hook in C for
example. As C it does so in USR_REG. That takes knowing every way that leads to it, for elsewhere
USR_REG is nobody's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from porter.context_switch.assemble import Assembly
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name
from porter.context_switch.calls_made import CallsMade
from porter.context_switch.codes import code_of
from porter.context_switch.object_file import Function
from porter.context_switch.register_flow import RegisterFlow
from porter.context_switch.result import (
    ROLE_OTHER,
    ROLE_START,
    ROLE_SVC,
    ROLE_SWITCH,
    NotTranscribable,
)
from porter.context_switch.resumers import is_handler
from porter.project.vectors import RESET, Vectors
from porter.source.c_tree import enclosing_function

_ROOTS = frozenset({ROLE_SWITCH, ROLE_SVC, ROLE_START})
_OF_STACK = re.compile(r"\b(?:mrs\w*\b[^\n]*\bpsp\b|msr\w*\s+psp\b)", re.IGNORECASE)
_CORE = re.compile(r"\br\d")


@dataclass(frozen=True)
class Part:
    """A function by its names, and the handlers and starts that come to it."""

    names: tuple[str, ...]
    roots: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """What holds together: its name and those of its roots."""
        return self.roots | {self.names[0]}


class Parts:
    """Looks for them. `taken`: functions whose address something has; `named`: whether a text
    of the project or a linker script has a name in another way than C and assembler call it."""

    def __init__(
        self,
        made: CallsMade,
        taken: Callable[[], list[str]],
        units: CUnits,
        named: Callable[[str], bool],
    ) -> None:
        self._made, self._taken = made, taken
        self._units, self._named = units, named
        self.names: set[str] = set()  # of all that were found

    def of(self, assembly: Assembly, vectors: Vectors) -> list[Part]:
        """Those of an assembler file."""
        functions = assembly.object.functions
        if "s16" not in assembly.object.machine.calls.kept:
            return []  # a trap of RV32 saves nothing: no hook could
        roots = {name: it for it in functions for name in it.names
                 if _role(assembly, it, vectors) in _ROOTS}  # fmt: skip
        found = []
        for function in functions:
            is_apart = _role(assembly, function, vectors) in (None, ROLE_OTHER)
            if roots and is_apart and _is_of_task(assembly, function):
                leading = self._roots_of(function, roots, vectors)
                if leading:
                    found.append(Part(function.names, leading))
        self.names |= {name for part in found for name in part.names}
        return found

    def _roots_of(
        self, function: Function, roots: dict[str, Function], vectors: Vectors
    ) -> frozenset[str]:
        """All that comes to a function, where these do and nothing else; empty otherwise."""
        found: set[str] = set()
        seen, waiting = set(function.names), list(function.names)
        for name in waiting:
            callers = self._callers(name, vectors)
            if callers is None or (not callers and name not in function.names):
                return frozenset()
            found |= {roots[it].name for it in callers & roots.keys()}
            between = callers - roots.keys() - seen
            if not all(self._made.body(it).is_in_c_alone for it in between):
                return frozenset()
            seen |= between
            waiting += sorted(between)
        return frozenset(found)

    def _callers(self, name: str, vectors: Vectors) -> set[str] | None:
        """Functions that call one by its name; None where something else may lead to it."""
        known = name.encode("latin-1")
        if known in (b"main", self._units.entry) or name in self._taken():
            return None
        if vectors.served_by([name]) - {RESET}:
            return None
        if self._units.cplusplus_naming(known) or self._named(name):
            return None
        if next(self._units.jumps(known), None) is not None:
            return None
        found = {it for it in self._made.all_by_hand() if name in self._made.of(it).names}
        for use in self._units.calls(known):
            around = enclosing_function(use)
            if use.type != "call_expression" or around is None:
                return None
            found.add(function_name(around).decode("latin-1"))
        return found


def _role(assembly: Assembly, function: Function, vectors: Vectors) -> str | None:
    try:
        return code_of(assembly, function).role(is_handler(function.names, vectors))
    except NotTranscribable:
        return "unknown"


def _is_of_task(assembly: Assembly, function: Function) -> bool:
    """Whether it does something with S16-S31 of its caller or with PSP, and leaves the caller's
    r4-r11 alone, which C on the way may have changed."""
    with suppress(NotTranscribable):
        told = RegisterFlow(assembly, lambda _: None, "").of_callers(function)
        if told is not None and not _CORE.search(told):
            on_stack = _OF_STACK.search(code_of(assembly, function).decoded())
            return bool(told) or on_stack is not None
    return False
