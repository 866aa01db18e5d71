"""Variables of a handler that have a second name: `.set cur, kernel + 4`, an alias attribute, or
`cur = kernel + 4;` in a linker script.

The proof's linker and the C compiler take two names for two objects: GCC may then read one before
it has written the other.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.context_switch.c_flow import CUnits
from porter.context_switch.initial_data import InitialData
from porter.context_switch.object_file import Variable
from porter.context_switch.result import NotTranscribable
from porter.context_switch.structure import Node, symbols


def refuse_two_names(nodes: tuple[Node, ...], initial: InitialData, units: CUnits) -> None:
    """NotTranscribable where the handler or C also names the other."""
    used = symbols(nodes)
    for name in sorted(used):
        for own, other in _shared(name, initial):
            # A label without size in front of a variable may be the end of what is before it.
            unclear = own.address == other.address and 0 in (own.size, other.size)
            if other.name in used or (not unclear and _in_c(other.name, units)):
                raise _refused(name, other.name)
        for alias in sorted(initial.also_linked(name)):
            if alias in used or _in_c(alias, units):
                raise _refused(name, alias)


def _in_c(name: str, units: CUnits) -> bool:
    return bool(units.named(name.encode()))


def _refused(name: str, other: str) -> NotTranscribable:
    return NotTranscribable(
        f"{name} and {other} are names for the same memory: a compiler takes them for two "
        "variables, and may read one before it writes the other. Let the handler and C use one name"
    )


def _shared(name: str, initial: InitialData) -> Iterator[tuple[Variable, Variable]]:
    """The variable with each other one of its object that shares memory with it."""
    for unit in initial.mentioning(name):
        for own in (it for it in unit.variables if it.name == name):
            for other in unit.variables:
                if other.name != name and "." not in other.name and own.meets(other):
                    yield own, other
