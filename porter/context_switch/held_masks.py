"""BASEPRI written while PRIMASK is set, as the erratum on `msr basepri` has it (837070).

Nothing is served before PRIMASK opens, and that looks for all that may come then. So such a write
is a store and asks for nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from porter.context_switch.ir import Assign, Const, Guest, Note, Statement

_PRIMASK, _BASEPRI = "VIRT_PRIMASK", "VIRT_BASEPRI"
STORE = "virt_int_set_base"


def stored_where_held(statements: Iterable[Statement]) -> list[Statement]:
    """The statements of a block, which begins with masks as nobody knows them."""
    held = False
    found: list[Statement] = []
    for it in statements:
        match it:
            case Guest(function="virt_int_restore", arguments=(which, value)) if (
                which == _BASEPRI and held
            ):
                it = replace(it, function=STORE, arguments=(value,))
            case Guest(function="virt_int_unmask", arguments=(which,)) if (
                which == _BASEPRI and held
            ):
                it = replace(it, function=STORE, arguments=(Const(0),))
            case Guest(function="virt_int_mask", arguments=(which,)):
                held = held or which == _PRIMASK
            case Note() | Assign():
                pass
            case _:  # a callee may open it
                held = False
        found.append(it)
    return found
