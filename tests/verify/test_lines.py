"""Whom an interrupt reaches: a kernel that serves another than the description names is found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from composer.verify.verify import verify
from tests.runtime.conftest import SYSTEMS
from tests.support.built import Built, build, described_otherwise, once, with_other_kernel

pytestmark = pytest.mark.campaign

FIRST = "struct vcpu *vcpu = &vcpu_table["
SENDS_A_SLOT = (
    "void signal_send(uint32_t index)\n{\n    struct signal *signal = &signal_table[index];",
    'extern struct signal slots[] __asm__("slot_table");\n'
    "void signal_send(uint32_t index)\n{\n    struct signal *signal = &slots[index];",
)
WRONG_VCPU = {"the first": "0]", "one by the vector": "route->virt_id & 1u]"}


def findings(built: Built) -> list[str]:
    report = verify(built.elf, built.description)
    return [f"{check.id}: {finding}" for check in report.checks for finding in check.findings]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Built]:
    return lambda name: once(
        tmp_path_factory, name, lambda folder: build(SYSTEMS / f"{name}.xml", folder)
    )


@pytest.mark.parametrize("other", WRONG_VCPU)
def test_a_line_that_reaches_another_vm_is_found(
    tmp_path_factory: pytest.TempPathFactory, system: Callable[[str], Built], other: str
) -> None:
    change = f"{FIRST}route->target]", FIRST + WRONG_VCPU[other]
    base = system("rights")
    built = once(
        tmp_path_factory,
        f"rights to {other}",
        lambda room: with_other_kernel(base, room, "kernel/interrupt.c", change),
    )
    found = [it for it in findings(built) if it.startswith("stubs: ")]
    assert found and all("doesn't pend vector" in it for it in found)


def test_slots_are_not_taken_for_signals(
    tmp_path_factory: pytest.TempPathFactory, system: Callable[[str], Built]
) -> None:
    """Both are twelve bytes: a line of a process with slots was refused, and one that sent a slot
    was accepted and reset the chip."""
    base = system("asleep")
    old, new = '<process name="sleeper" ', '<process name="sleeper" slots="6" '
    good = once(
        tmp_path_factory,
        "asleep with slots",
        lambda room: described_otherwise(base, room, old, new),
    )
    assert findings(good) == []
    wrong = once(
        tmp_path_factory,
        "asleep that sends slots",
        lambda room: with_other_kernel(good, room, "kernel/signal.c", SENDS_A_SLOT),
    )
    assert [it.partition(":")[0] for it in findings(wrong)] == ["stubs"]
