"""Rows of the kernel's tables in words: which of their fields differ, and how they read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from composer.verify.expected import (
    CAP_DOMAIN,
    CAP_EVENT,
    CAP_LOG,
    CAP_SIGNAL,
    CAP_TIMER,
    CAP_VCPU,
    TO_SIGNAL,
    TO_VCPU,
    TRANSPARENT,
    Expected,
)
from composer.verify.expected_policy import OTHERS, RESTART, STOP
from composer.verify.objects import CAP_FUNCTION, CAP_MEMORY, CAP_PORT, CAP_TABLE, CAP_THREAD
from composer.verify.tables import NO_INDEX

_LABELS = {
    "vct": "thread of the handlers",
    "usr": "thread of the firmware",
    "vectors": "number of vectors",
    "request_signal": "signal of its requests",
    "budget_signal": "signal of its budget",
    "budget": "budget in cycles",
    "watchdog": "watchdog in ticks",
    "catchup": "catch-up",
    "peers": "mask of the VMs of equal priority",
    "period": "period in ticks",
    "virt_id": "vector",
    "bottom": "VM of the bottom",
    "own": "pins that are its own",
    "mask": "pins that it may set",
    "address": "register",
    "slot": "place in its domain",
    "cap": "capability",
    "starting": "limit only for a VM that never got going",
    "most": "most restarts in a row",
    "within": "time of a row in ticks",
    "delay": "first delay in ticks",
    "longest": "longest delay in ticks",
    "phys": "line",
    "evt": "event",
    "sender_vcpu": "VM that sends",
    "receiver_vcpu": "VM that gets it",
}
_TYPES = {
    CAP_SIGNAL: "signal",
    CAP_VCPU: "vCPU",
    CAP_DOMAIN: "domain",
    CAP_LOG: "log",
    CAP_EVENT: "event",
    CAP_TIMER: "timer",
    CAP_PORT: "port",
    CAP_FUNCTION: "kernel function",
    CAP_THREAD: "thread",
    CAP_TABLE: "slots",
    CAP_MEMORY: "kernel memory",
}
_ACTIONS = {RESTART: "restart", STOP: "stop", OTHERS: "not the hypervisor's"}
_KINDS = {
    0: "nowhere",
    TO_VCPU: "to a VM",
    TO_VCPU | TRANSPARENT: "to a VM, transparent",
    TO_SIGNAL: "to a signal",
}


class Words:
    """Values of fields with the names that the description has for them."""

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._shown: Mapping[str, Callable[[int], str]] = {
            "domain": self._domain,
            "sender": self._domain,
            "bottom": self._vm,
            "sender_vcpu": self._vm,
            "receiver_vcpu": self._vm,
            "action": lambda number: _ACTIONS.get(number, str(number)),
            "starting": lambda number: "yes" if number else "no",
            "port": lambda port: f"GPIO{chr(ord('A') + port)}" if port < 26 else str(port),
            "mask": hex,
            "peers": hex,
            "own": hex,
            "address": lambda address: f"0x{address:08x}",
            "type": lambda number: _TYPES.get(number, str(number)),
            "kind": lambda number: _KINDS.get(number, str(number)),
        }

    def differences(self, found: Any, wanted: Any) -> Iterator[str]:
        """One text for each field of two rows of a table that differs, those of a route too."""
        for field in fields(wanted):
            one, other = getattr(found, field.name), getattr(wanted, field.name)
            if one == other:
                continue
            if is_dataclass(other):
                yield from self.differences(one, other)
                continue
            label = _LABELS.get(field.name, field.name)
            value, right = self._text(field.name, found), self._text(field.name, wanted)
            yield f"{label} is {value}, not {right}"

    def _text(self, name: str, row: Any) -> str:
        value: int = getattr(row, name)
        if name == "target" and row.kind & ~TRANSPARENT == TO_VCPU:
            return self._vm(value)
        if name == "index" and row.type == CAP_DOMAIN:
            return self._domain(value)
        if name == "index" and row.type == CAP_VCPU:
            return self._vm(value)
        if name == "bottom" and row.kind != TO_SIGNAL:
            return str(value)
        return self._shown.get(name, str)(value)

    def _domain(self, index: int) -> str:
        names = self._expected.names
        return f"'{names[index]}'" if index < len(names) else f"domain {index} of {len(names)}"

    def _vm(self, number: int) -> str:
        return "none" if number == NO_INDEX else self._domain(self._expected.first_vm + number)
