"""Functions for all exceptions that nobody else serves, put into the vector table at run time.

`NVIC_SetVector(n, (uint32_t)unexpected)` for each n, or for faults: a machine has no such
exceptions. Its own vectors have the handlers that the description says, and the kernel takes every
fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import is_local
from porter.context_switch.resumers import Resumers
from porter.project.vectors import FAULTS, FIRST_IRQ
from porter.source.c_tree import Node, ancestors, arguments_of, enclosing_function, text_of

NOBODYS = "a machine has no exception that nobody else serves"
SETTERS = ("NVIC_SetVector", "__NVIC_SetVector")
_FUNCTION = re.compile(rb"\s*\(*(?:\(\s*[A-Za-z_][\w\s]*\**\s*\)\s*)*&?\s*(\w+)\s*\)*\s*")
_SIGN = 1 << 31


def function_in(argument: bytes) -> str:
    """The function whose address an argument is; "" where it isn't just that."""
    match = _FUNCTION.fullmatch(argument)
    return match[1].decode("latin-1") if match else ""


def is_default_handler(names: Iterable[str], units: CUnits, resumers: Resumers) -> bool:
    """Whether nothing has a function's name but such calls: for a number that only the run tells,
    or for a fault."""
    names = list(names)
    words = [name.encode("latin-1") for name in names]
    uses = [use for word in words for use in units.calls(word)]
    return (
        bool(uses)
        and all(_fills(use, units) for use in uses)
        and not any(units.is_quoted(word) or units.cplusplus_naming(word) for word in words)
        and not any(next(units.jumps(word), None) for word in words)
        and not any(
            True for it in resumers.assemblies() for _ in it.object.leading_to(names, False)
        )
    )


def _fills(use: Node, units: CUnits) -> bool:
    call = next((it for it in ancestors(use) if it.type == "call_expression"), None)
    function = call.child_by_field_name("function") if call is not None else None
    if call is None or function is None or text_of(function).decode("latin-1") not in SETTERS:
        return False
    number, *rest = arguments_of(call)
    around = enclosing_function(call)
    if len(rest) != 1 or function_in(text_of(rest[0])) != text_of(use).decode("latin-1"):
        return False
    if around is not None and number.type == "identifier" and is_local(around, text_of(number)):
        return True
    word = units.word(number, text_of(number).decode("latin-1"))
    return word is not None and (word ^ _SIGN) - _SIGN + FIRST_IRQ in FAULTS
