"""VMs that restart, fault or write into the log without end: whoever decides about it, the others
keep their time and ticks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.built import Built, described_otherwise, once, with_other_kernel
from tests.support.counted import Transcript, run

pytestmark = pytest.mark.campaign

SLEEPS, COMPUTES, REBOOTS, FAULTS, WRITES, RETURNS = range(6)
STORMS = ("storm-a", "storm-b", "storm-c")
UNTIL = 1250  # kernel ticks: the good VM reports after 1000
PATIENCE = 30.0
DECIDED = '<fault action="user" process="decider"/>'
FOR_EVER = '<fault most="0"/>'
AT_ONCE = '<fault action="user" process="decider" delay="0s" longest="0s"/>'


@pytest.fixture
def storm(system: Callable[[str], Built]) -> Built:
    return system("storm")


def beside(system: Built, *roles: int, until: int = UNTIL) -> Transcript:
    """The good VM computes for a second beside three in these roles."""
    words = {system.symbol(name, "plan"): role for name, role in zip(STORMS, roles, strict=True)}
    with tempfile.TemporaryDirectory() as folder:
        image = system.patched(Path(folder, "system.elf"), words)
        return run(image, {"good": 1}, until, patience=PATIENCE)


def work(transcript: Transcript) -> int:
    return transcript.values("good").get("work", 0)


def restarts_a_tick(transcript: Transcript, name: str) -> float:
    last = transcript.stats(name)[-1]
    return last.restarts / last.tick


def changed(storm: Built, factory: pytest.TempPathFactory, name: str, **texts: str) -> Built:
    """The system with other policies."""
    return once(
        factory, name, lambda room: described_otherwise(storm, room, texts["old"], texts["new"])
    )


@pytest.fixture(scope="module")
def alone(system: Callable[[str], Built]) -> int:
    return work(beside(system("storm"), SLEEPS, SLEEPS, SLEEPS))


@pytest.mark.parametrize("role", [REBOOTS, FAULTS], ids=["reset requests", "faults"])
def test_the_decider_of_the_documents_is_safe_as_printed(
    storm: Built, alone: int, role: int
) -> None:
    transcript = beside(storm, role, role, role)
    assert work(transcript) >= 0.95 * alone
    assert transcript.values("good")["ticks"] >= 998
    last = transcript.stats("good")[-1]
    assert (last.dropped, last.restarts) == (0, 0)
    assert all(restarts_a_tick(transcript, name) > 0.05 for name in STORMS), "they still restart"


def test_the_hypervisors_own_policy_restarts_as_often_as_before(
    storm: Built, alone: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = storm.description.read_text("utf-8")
    start, end = text.index('  <vm name="storm-a"'), text.index("</system>")
    storms = text[start:end]
    system = changed(
        storm, tmp_path_factory, "storm restarted", old=storms,
        new=storms.replace(DECIDED, FOR_EVER).replace(FOR_EVER, DECIDED, 1),
    )  # fmt: skip
    transcript = beside(system, SLEEPS, REBOOTS, REBOOTS)
    assert work(transcript) >= 0.97 * alone
    assert transcript.values("good")["ticks"] >= 998
    assert all(restarts_a_tick(transcript, name) > 0.1 for name in STORMS[1:])


@pytest.fixture(scope="module")
def at_once(system: Callable[[str], Built], tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Restarts come without any delay."""
    storm = system("storm")
    text = storm.description.read_text("utf-8")
    storms = text[text.index('  <vm name="storm-a"') :]
    return changed(
        storm, tmp_path_factory, "storm at once", old=storms, new=storms.replace(DECIDED, AT_ONCE)
    )


@pytest.mark.parametrize("storms", [1, 3])
def test_restarts_without_delay_are_paid_by_who_restarts(
    at_once: Built, alone: int, storms: int
) -> None:
    roles = [REBOOTS] * storms + [SLEEPS] * (3 - storms)
    transcript = beside(at_once, *roles)
    assert work(transcript) >= 0.9 * alone
    assert transcript.values("good")["ticks"] >= 998
    assert restarts_a_tick(transcript, "storm-a") > 0.2


def test_a_kernel_that_lets_nobody_pay_and_holds_nobody_back_loses_the_processor(
    at_once: Built, alone: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Control, and the harm that it was."""
    system = once(
        tmp_path_factory,
        "storm that nobody pays",
        lambda room: with_other_kernel(
            at_once,
            room,
            "kernel/scheduler.c",
            ("    vcpus.funded &= ~vcpu->bit;\n    put_off", "    put_off"),
            ("    if (FVM_VCPUS == 0 || vcpu == NULL ||", "    if (vcpu == vcpu ||"),
            also=[("kernel/domain.c", "        cpu.payer = thread->vcpu;", "        ")],
        ),
    )  # fmt: skip
    assert work(beside(system, REBOOTS, REBOOTS, REBOOTS)) < 0.25 * alone


@pytest.mark.parametrize("role", [WRITES, RETURNS], ids=["text", "characters that don't show"])
def test_a_flood_of_text_costs_others_next_to_nothing(
    storm: Built, tmp_path_factory: pytest.TempPathFactory, role: int
) -> None:
    """With ten kernel ticks a millisecond, each a time at which the log might be written."""
    often = once(
        tmp_path_factory,
        "storm of text",
        lambda room: described_otherwise(
            storm,
            room,
            "<kernel ",
            '<kernel tick="10kHz" ',
        ),
    )
    computing = beside(often, COMPUTES, COMPUTES, COMPUTES, until=10 * UNTIL)
    writing = beside(often, role, role, role, until=10 * UNTIL)
    assert work(writing) >= 0.96 * work(computing) > 0
    assert writing.values("good")["ticks"] >= 0.99 * computing.values("good")["ticks"]
