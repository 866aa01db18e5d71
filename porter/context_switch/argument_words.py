"""How many words a call of a C function hands over. What assembler has on the stack where it calls
one is more arguments, registers of the task that it only means to keep among them.

No argument is said to take less than it may: what lies behind the last is then taken for one, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from porter.context_switch.c_flow import CUnits
from porter.source.c_tree import Node, text_of

ArgumentWords = Callable[[str], int]
"""By the name of what is called; "" for a call through a pointer."""

MANY = 1 << 16  # where any number may be
_WORD = re.compile(
    rb"void|(?:(?:unsigned|signed|char|short|int|long|_Bool|bool)\b\s*)+|enum\s+\w+"
    rb"|u?int(?:8|16|32|ptr)_t|s?size_t"
)
_LONGER = re.compile(rb"\blong\b.*\blong\b")


def no_words(_: str) -> int:
    """Of what takes none on the stack, as whoever asks knows."""
    return 0


class CArgumentWords:
    """Looks at definitions. `taken`: functions to which a call through a pointer may come."""

    def __init__(self, units: CUnits, taken: Callable[[], list[str]]) -> None:
        self._units, self._taken = units, taken
        self.of = cache(self._of)

    def _of(self, name: str) -> int:
        if not name:
            return max(map(self.of, self._taken()), default=0)
        known = name.encode("latin-1")
        own = (self._words(it, it) for it in self._units.definitions(known))
        others = (self._words(it, None) for it in self._units.cplusplus_definitions(known))
        return max((*own, *others), default=0)

    def _words(self, definition: Node, near: Node | None) -> int:
        """Of a definition. `near`: a place where the compiler knows its types."""
        result = declarator = definition.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            inner = (it for it in declarator.named_children if it.type.endswith("declarator"))
            declarator = next(inner, None)
        listed = declarator.child_by_field_name("parameters") if declarator is not None else None
        if listed is None:
            return MANY
        is_pointer = result is not None and result.type == "pointer_declarator"
        returned = 1 if is_pointer else self._of_type(definition, near)
        parameters = (it for it in listed.named_children if it.type != "comment")
        words = [self._of_parameter(it, near) for it in parameters]
        return sum(words) + (returned > 1)  # where the caller wants it, if it is a struct

    def _of_parameter(self, parameter: Node, near: Node | None) -> int:
        declarator = parameter.child_by_field_name("declarator")
        if declarator is not None and declarator.type != "identifier":
            return 1  # a pointer, or what becomes one
        if declarator is None and text_of(parameter) == b"void":
            return 0
        return self._of_type(parameter, near)

    def _of_type(self, declaration: Node, near: Node | None) -> int:
        """Words that a value of what a declaration begins with takes, with one that stays free in
        front of 64 bits."""
        kind = declaration.child_by_field_name("type")
        if kind is None:
            return MANY
        name = text_of(kind)
        if _WORD.fullmatch(name) and not _LONGER.search(name):
            return 1
        size = (
            None
            if near is None
            else self._units.constant(near, f"sizeof({name.decode('latin-1')})")
        )
        return MANY if size is None else (size + 3) // 4 + (size >= 8)
