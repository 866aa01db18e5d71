"""Registers that a handler reaches without an address in its text: by what a variable holds.

`ldr r1, =mpu_ctrl; ldr r1, [r1]; str r0, [r1]` writes a register where another file says
`uint32_t *const mpu_ctrl = (uint32_t *)0xE000ED94;`. The proof can't tell: to it every pointer that
is read leads to memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from porter.context_switch.initial_data import InitialData
from porter.context_switch.ir import (
    UNREAD,
    Assign,
    Binary,
    BlockLoad,
    BlockStore,
    Branch,
    Const,
    ContextLoad,
    ContextStore,
    Exit,
    Expr,
    Load,
    Statement,
    Store,
    Symbol,
    Var,
)
from porter.context_switch.machine import Machine
from porter.context_switch.notes import written
from porter.context_switch.result import NotTranscribable
from porter.context_switch.set_later import SetLater
from porter.context_switch.structure import Node, conditions_and_statements
from porter.context_switch.walk import fold, reads, subexpressions

Item = Statement | Branch | Exit
_Found = dict[
    Expr, str
]  # a number or a symbol, and the variable that it was read from, "" for none
_MOST = 32  # values of one variable
_ROUNDS = 8  # a chain of more pointers ends somewhere else


def refuse_devices(
    nodes: tuple[Node, ...], initial: InitialData, set_later: SetLater, machine: Machine
) -> None:
    """NotTranscribable where an address that a variable may hold is a register's."""
    found = _Pointers(conditions_and_statements(nodes), initial, set_later, machine)
    for item, address, variable in found.accesses():
        if any(start <= address < end for start, end in machine.devices):
            register = machine.register(address) or "the register"
            through = f" through {variable}, which holds that address" if variable else ""
            raise NotTranscribable(
                f"'{written(item.origin)}' accesses {register} at {address:#010x}{through}: a "
                "handler in VCT has no devices; let C do that, where each use of a register is "
                "looked at"
            )


class _Pointers:
    """What variables may hold of numbers and addresses that the project's data begins with or is
    set to; whatever order statements run in."""

    def __init__(
        self, items: list[Item], initial: InitialData, set_later: SetLater, machine: Machine
    ) -> None:
        self._items, self._devices = items, machine.devices
        self._data, self._set_later = initial, set_later
        self._values: dict[str, _Found] = {}
        for _ in range(_ROUNDS):
            before = sum(map(len, self._values.values()))
            for item in items:
                self._run(item)
            if sum(map(len, self._values.values())) == before:
                return

    def accesses(self) -> Iterator[tuple[Item, int, str]]:
        """What reads or writes at numbers, with the variable that these come from."""
        for item in self._items:
            for place in _places(item):
                for address, via in self._of(place).items():
                    if isinstance(address, Const):
                        yield item, address.value, via

    def _run(self, item: Item) -> None:
        match item:
            case Assign(target=target, value=value) if not isinstance(value, Const):
                self._hold(target, self._of(value))
            case BlockLoad(base=base, targets=targets, before=before, writeback=writeback):
                first = Const(4 * len(targets) if before else 0)
                for number, target in enumerate(targets):
                    if target != UNREAD:
                        place = Binary("-", Binary("+", Var(base), Const(4 * number)), first)
                        self._hold(target, self._of(Load(place)))
                if writeback:
                    self._step(base, len(targets), before)
            case BlockStore(base=base, values=values, before=before, writeback=True):
                self._step(base, len(values), before)

    def _step(self, base: str, words: int, before: bool) -> None:
        self._hold(base, self._of(Binary("-" if before else "+", Var(base), Const(4 * words))))

    def _hold(self, variable: str, values: _Found) -> None:
        held = self._values.setdefault(variable, {})
        for value, via in values.items():
            if len(held) < _MOST:
                held.setdefault(value, via)

    def _of(self, expr: Expr) -> _Found:
        match expr:
            case Const():
                return {expr: ""}
            case Symbol(name, offset):
                data = self._data
                numbers = [*data.absolute(name), *data.placed(name, self._devices)]
                return {expr: ""} | {fold(Binary("+", it, Const(offset))): name for it in numbers}
            case Var(name):
                return self._values.get(name, {})
            case Load(address, 4):
                found: _Found = {}
                for place in self._of(address):
                    if isinstance(place, Symbol):
                        words = self._data.words(place.name, place.offset)
                        later = self._set_later.words(place.name, place.offset)
                        found |= dict.fromkeys([*words, *later], place.name)
                return found
            case Binary(operator, left, right):
                pairs = product(self._of(left).items(), self._of(right).items())
                folded = {fold(Binary(operator, a, b)): va or vb for (a, va), (b, vb) in pairs}
                return {it: via for it, via in folded.items() if isinstance(it, Const | Symbol)}
        return {}


def _places(item: Item) -> list[Expr]:
    """Addresses at which an item reads or writes."""
    found = [it.address for expr in reads(item) for it in subexpressions(expr)
             if isinstance(it, Load)]  # fmt: skip
    match item:
        case Store(address=address) | ContextStore(address=address) | ContextLoad(address=address):
            found.append(address)
        case BlockLoad(base=base) | BlockStore(base=base):
            found.append(Var(base))
    return found
