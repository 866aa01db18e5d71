"""Functions that end as an exception's handler does and that code outside of handlers calls.

`msr psp, r0; ... bx r1` may be the end of a handler, where r1 is an EXC_RETURN, or the start of the
first task, where r1 is its entry: who comes there decides. As C in VCT it sets the task's registers
and returns; called by main() it would write USR_REG, and main() would go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name
from porter.context_switch.result import ROLE_CALL, ROLE_SVC, ROLE_SWITCH, NotTranscribable
from porter.context_switch.resumers import is_handler
from porter.project.vectors import Vectors
from porter.source.c_tree import enclosing_function
from porter.source.declared_objects import DECLARES_NOTHING

_ROLES = frozenset({ROLE_SWITCH, ROLE_SVC, ROLE_CALL})
_MOST = 200  # functions on the way up


def refuse_called(role: str | None, names: Iterable[str], vectors: Vectors, units: CUnits) -> None:
    """NotTranscribable where what start-up code calls leads to a call of such a function, or C++
    has one."""
    names = list(names)
    if role not in _ROLES or is_handler(names, vectors):
        return
    for name in (it.encode("latin-1") for it in names):
        found = units.cplusplus_naming(name)
        if found is not None and _is_called(name, found.text):
            raise NotTranscribable(_reason(f"{found.file.name}, C++,"))
        if caller := _below_entry(name, units):
            first = f"{units.entry.decode('latin-1')}(), by {caller.decode('latin-1')}(),"
            raise NotTranscribable(_reason(first))


def _reason(who: str) -> str:
    return (
        f"ends as an exception's handler does, and {who} leads here without an exception: if it "
        "starts the first task, let an SVC's handler do that, or raise PendSV and wait; if it is a "
        "switch, let it be PendSV's handler"
    )


def _below_entry(name: bytes, units: CUnits) -> bytes:
    """Who calls a function where what start-up code calls leads to that call; b"" for nobody."""
    waiting, seen = [(name, b"")], {name}
    while waiting and len(seen) < _MOST:
        callee, last = waiting.pop()
        callers = {
            function_name(around)
            for use in units.calls(callee)
            if use.type == "call_expression" and (around := enclosing_function(use)) is not None
        }
        if units.entry in callers:
            return last or units.entry
        for caller in sorted(callers - seen):
            seen.add(caller)
            waiting.append((caller, last or caller))
    return b""


def _is_called(name: bytes, text: bytes) -> bool:
    """Whether a use of a name in a text is no declaration, in front of which a type stands."""
    uses = re.findall(rb"([\w*&]+)?\s*\b%s\s*\(" % re.escape(name), text)
    return any(not it or it in DECLARES_NOTHING for it in uses)
