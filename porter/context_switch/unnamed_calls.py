"""What C comes to without a word of it in its text: functions that the compiler calls by itself,
and those of the project that libraries call.

`a = b` of two structs is a call of memcpy() for one compiler and not for the next, `n / 10` one of
__aeabi_idiv(), options bring others. What the project's compiler made of a file says it. A library
asks for what a project may define, `_write()` for printf().
"""

from __future__ import annotations

import re
from collections.abc import Callable

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name
from porter.project.toolchain import library_calls, library_functions
from porter.source.c_tree import Node, text_of

_WORD = re.compile(rb"[A-Za-z_$]\w*")
_PRIVATE = re.compile(rb"\bstatic\b")
_RUNS_FOR_EXCEPTIONS = re.compile(r"__aeabi_unwind_cpp_pr\d|__(?:gxx|gcc)_personality\w*")


class UnnamedCalls:
    """`has_body`: whether the project defines a function, which is then the one that runs."""

    def __init__(self, units: CUnits, has_body: Callable[[str], bool]) -> None:
        self._units, self._has_body = units, has_body

    def of(self, definition: Node) -> frozenset[str]:
        """Functions of the project that one in C may come to so."""
        named = {it.decode("latin-1") for it in _WORD.findall(text_of(definition))}
        mentioned = self._units.compiled_names(definition, function_name(definition))
        if mentioned is None:  # the file can't be compiled: whatever compilers call
            mentioned = {it for it in self._library if it.startswith(("__", "mem"))}
        called = {it for it in mentioned - named if it in self._library or self._is_shared(it)}
        own = {it for it in called if self._has_body(it)}
        return frozenset(own).union(*map(self.hooks, called - own))

    def hooks(self, name: str) -> frozenset[str]:
        """Functions of the project that one of a library may come to."""
        if name not in self._library:
            return frozenset()
        calls, found = library_calls(self._units.compiler), set[str]()
        seen, waiting = {name}, [name]
        while waiting:
            asked_for = calls.get(waiting.pop(), frozenset()) - seen
            further = {it for it in asked_for if not _RUNS_FOR_EXCEPTIONS.fullmatch(it)}
            seen |= further
            own = set(filter(self._has_body, further))
            found |= own
            waiting += further - own
        return frozenset(found)

    def _is_shared(self, name: str) -> bool:
        """Whether it is a name of compilers' that others than the file with its body may use: what
        a header has for each file (`static inline void __WFI(void)`) isn't called unasked."""
        definitions = self._units.definitions(name.encode("latin-1"))
        heads = (text_of(it).partition(b"{")[0] for it in definitions)
        return name.startswith("__") and not any(map(_PRIVATE.search, heads))

    @property
    def _library(self) -> frozenset[str]:
        return library_functions(self._units.compiler)
