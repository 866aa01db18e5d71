"""How much stack choosing the next task takes, as the project's compiler says of each function.

A fast yield runs it on the yielding task's stack, where the original had the handlers' own.
"""

from __future__ import annotations

from collections.abc import Iterable

from porter.context_switch.assemble import CompileError
from porter.context_switch.c_flow import CUnits
from porter.context_switch.callees import Callees
from porter.context_switch.understood import is_known

ALLOWED = 100  # bytes that tasks must have to spare, by docs/runtime.md


class Unbounded(Exception):
    """Nobody knows how much; str() is the reason."""


def stack_depth(functions: Iterable[str], units: CUnits, callees: Callees) -> int:
    """Bytes that these functions take with what they call. Raises Unbounded."""
    return max((_depth(name, units, callees, ()) for name in functions), default=0)


def _depth(name: str, units: CUnits, callees: Callees, callers: tuple[str, ...]) -> int:
    if is_known(name.encode("latin-1")):
        return 0
    called = f"{name}(), which choosing a task may call,"
    if name in callers:
        raise Unbounded(f"{called} may call itself: how much stack does it take?")
    homes = units.homes(name.encode("latin-1"))
    further = callees.names_in(name)
    deepest = max((_depth(it, units, callees, (*callers, name)) for it in further), default=0)
    try:
        # What is compiled into its caller takes nothing of its own.
        used = [units.stack_use(home).get(name, 0) for home in homes]
    except CompileError as error:
        raise Unbounded(f"{called} can't be compiled: how much stack does it take?") from error
    if None in used:
        raise Unbounded(f"{called} takes as much stack as it finds out when it runs")
    return deepest + max((it for it in used if it is not None), default=0)
