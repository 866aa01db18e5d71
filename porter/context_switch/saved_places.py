"""Where a switch handler saves the stack pointer, in its own words."""

from __future__ import annotations

from porter.context_switch.ir import Assign, Binary, Call, Expr, Store, Symbol
from porter.context_switch.pick import Pick
from porter.context_switch.structure import conditions_and_statements
from porter.context_switch.walk import rewrite, subexpressions, variables


def kept_at(pick: Pick) -> tuple[list[Expr], list[tuple[bytes, int]]]:
    """Addresses to which the handler saves the stack pointer, and functions that it hands it to,
    with the place among their parameters."""
    addresses: list[Expr] = []
    parameters: list[tuple[bytes, int]] = []
    values: dict[str, Expr] = {}
    for item in conditions_and_statements(pick.nodes):
        if isinstance(item, Assign):
            values[item.target] = _known(item.value, values)
        elif isinstance(item, Store):
            if "SP" in variables(_known(item.value, values)):
                addresses.append(_known(item.address, values))
        elif isinstance(item, Call):
            for place, argument in enumerate(item.arguments):
                if "SP" in variables(_known(argument, values)):
                    parameters.append((item.function.encode(), place))
    return addresses, parameters


def _known(expr: Expr, values: dict[str, Expr]) -> Expr:
    return rewrite(expr, lambda variable: values.get(variable.name, variable))


def saved_behind(pick: Pick) -> set[str]:
    """Names of variables by which the handler finds where to save the stack pointer."""
    parts = (part for address in kept_at(pick)[0] for part in subexpressions(address))
    return {part.name for part in parts if isinstance(part, Symbol)}


def saved_in(pick: Pick) -> set[str]:
    """Names of those of them that have the stack pointer in themselves, or an array of it."""
    found: set[str] = set()
    waiting = kept_at(pick)[0]
    while waiting:
        address = waiting.pop()
        if isinstance(address, Symbol):
            found.add(address.name)
        elif isinstance(address, Binary):
            waiting += [address.left, address.right]
    return found
