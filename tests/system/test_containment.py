"""A VM that crashes, hangs or resets reboots alone: nobody else loses as much as a tick."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.support.conversation import counts
from tests.support.example import MOTOR, SENSOR
from tests.system.live import PATIENCE, Live
from tests.system.observed import (
    BEAT,
    BEAT_TICKS,
    HEARTBEAT,
    check_undisturbed,
    instant,
    kernel_ticks,
    report,
)
from tests.system.road import COUNTED, Road

WINDOW = 1000  # kernel ticks that the observation lasts, at least
AFTERWARDS = 200  # of these after the reboot
OTHER = {MOTOR: SENSOR, SENSOR: MOTOR}
TASK = {MOTOR: ', task "console"', SENSOR: ""}


@dataclass(frozen=True)
class Memory:
    """Something that a VM is told, and has to remember."""

    tell: str
    ask: str
    answer: str
    forgotten: str
    variable: str  # where it is kept


MEMORY = {
    MOTOR: Memory("set speed 1200", "get speed", "speed 1200", "speed 0", "state"),
    SENSOR: Memory("set gain 7", "get gain", "gain 7", "gain 1", "gain"),
}


@dataclass(frozen=True)
class Event:
    """A command, and what the kernel's log says about it; {} stands for an address."""

    command: str
    cause: str
    text: str
    function: str
    source: str  # a piece of the line that the log must name


EVENTS = {
    "crash": Event(
        "crash {:08x}", "memory", "write to 0x{:08x} [{} RAM]", "crash_cmd", "= 0xDEADBEEFUL;"
    ),
    "hang": Event("hang", "watchdog", "watchdog after 500 ms", "hang_cmd", "for (;;)"),
    "reset": Event("reset", "reset", "reset request", "reset_cmd", "hyp_reboot()"),
}


def line_of(road: Road, name: str, event: Event) -> int:
    """Number of the line in the ported console.c, inside the event's function."""
    lines = (road.ported(name) / "src" / "console.c").read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if f"*{event.function}(char" in line)
    return next(i for i, line in enumerate(lines, 1) if i > start and event.source in line)


@pytest.mark.parametrize("culprit", OTHER)
@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_only_the_culprit_reboots(road: Road, culprit: str, event: Event) -> None:
    witness = OTHER[culprit]
    address = road.built.symbol(witness, MEMORY[witness].variable)
    with Live(road.built, COUNTED) as live:
        for name, memory in MEMORY.items():
            assert live.ask(name, memory.tell) == [memory.answer, "ok"]

        before = instant(live)
        live.vms[culprit].send(event.command.format(address).encode() + b"\r")
        fault = live.log.wait("a fault", lambda record: record.kind == "fault")
        live.vms[culprit].wait_ready(PATIENCE)
        assert live.ask(culprit, "echo back") == ["back", "ok"]
        tick = fault.number("tick")
        assert tick is not None
        summary = report(live, max(kernel_ticks(before) + WINDOW, tick + AFTERWARDS))
        after = instant(live)

        assert kernel_ticks(before) <= tick <= kernel_ticks(after)
        assert kernel_ticks(after) - kernel_ticks(before) >= WINDOW
        for part in (witness, HEARTBEAT):
            check_undisturbed(part, before, after)
        assert (summary.value(witness, "dropped"), summary.value(witness, "restarts")) == (0, 0)
        beats = summary.value(BEAT, "tick") / BEAT_TICKS
        assert abs(summary.value(BEAT, "count") - beats) <= 1
        assert summary.value(HEARTBEAT, "restarts") == 0
        assert summary.value(culprit, "restarts") == 1
        assert fault.fields["cause"] == event.cause

        what = event.text.format(address, witness)
        place = f"{event.function} console.c:{line_of(road, culprit, event)}"
        assert live.faults() == [f"{culprit} rebooted (1): {what}, {place}{TASK[culprit]}"]

        mine, others = MEMORY[culprit], MEMORY[witness]
        assert live.ask(culprit, mine.ask) == [mine.forgotten, "ok"]
        assert live.ask(witness, others.ask) == [others.answer, "ok"]
        assert live.ask(MOTOR, "status")[0].endswith("fpu ok")
        check_messages_flow(live)


def check_messages_flow(live: Live) -> None:
    """Both go on receiving, and no number was skipped."""
    for name in live.vms:
        first = counts(live.ask(name, "link")[0])
        while (now := counts(live.ask(name, "link")[0]))["received"] <= first["received"]:
            assert now["sent"] < first["sent"] + 1000, "nothing arrives"
        assert now["gaps"] == 0


def test_the_observation_would_notice_a_lost_tick() -> None:
    before = {("kernel", "ticks"): 500, (MOTOR, "xTickCount"): 500}
    before |= {(MOTOR, "control_beats"): 50, (MOTOR, "monitor_beats"): 25}
    after = {key: value * 3 for key, value in before.items()}
    check_undisturbed(MOTOR, before, after)
    for key in ((MOTOR, "xTickCount"), (MOTOR, "control_beats"), (MOTOR, "monitor_beats")):
        with pytest.raises(AssertionError, match=key[1]):
            check_undisturbed(MOTOR, before, after | {key: after[key] - 2})
