"""What verify says of a changed table: the field, with both values, in the description's words."""

from __future__ import annotations

import pytest

from composer.verify.verify import all_checks
from tests.support.built import Built
from tests.verify.mutation import Mutant, Original, byte, word


@pytest.fixture(scope="session")
def original(example: Built) -> Original:
    return Original(example)


def vcpu(original: Original) -> tuple[Mutant, str]:
    at = original.row("vcpu", 0)
    old = original.read(at + 12)
    return (
        word("watchdog", at + 12, 0),
        f"threads: vCPU 0 ('motor-controller'): watchdog in ticks is 0, not {old}",
    )


def owner(original: Original) -> tuple[Mutant, str]:
    at = original.row("thread", len(original.tables.threads) - 1)
    return (
        byte("domain", at, 0),
        f"threads: thread {len(original.tables.threads) - 1} ('sensor-node'):"
        " domain is 'hypervisor', not 'sensor-node'",
    )


def nobody(original: Original) -> tuple[Mutant, str]:
    at = original.row("event", 0)
    count = len(original.tables.domains)
    sender = original.subject.expected.names[original.tables.events[0].sender]
    name = original.subject.expected.all_events[0].name
    return (
        byte("sender", at, 200),
        f"routes: event 0 ({name}): sender is domain 200 of {count}, not '{sender}'",
    )


def pin(original: Original) -> tuple[Mutant, str]:
    at, grant = original.row("pin", 0), original.tables.pins[0]
    name = original.subject.expected.names[grant.domain]
    return (
        word("register", at + 8, grant.address + 0x400),
        f"pins: pin grant 0 ('{name}'): register is 0x{grant.address + 0x400:08x},"
        f" not 0x{grant.address:08x}",
    )


def route(original: Original) -> tuple[Mutant, str]:
    line = original.subject.chip.interrupts["TIM2"]
    return (
        Mutant("route", {original.row("route", line): bytes((1, 1))}),
        f"routes: interrupt line {line} (TIM2): kind is to a VM, not nowhere;"
        " target is 'sensor-node', not 0",
    )


@pytest.mark.parametrize("change", [vcpu, owner, nobody, pin, route])
def test_the_field_is_named_with_both_values(original: Original, change: object) -> None:
    assert callable(change)
    mutant, text = change(original)
    found = [
        f"{check.id}: {finding}"
        for check in all_checks(original.mutated(mutant))
        for finding in check.findings
    ]
    assert text in found
    assert not any("(domain=" in finding or "Grant(" in finding for finding in found)
