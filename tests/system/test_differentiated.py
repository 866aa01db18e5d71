"""Differentiated interrupt handling: one line, three flows. What other nodes say to each other is
dropped before the VM hears of it, what can wait waits, and a command comes through at once."""

from __future__ import annotations

import struct
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.built import Built, build, once
from tests.support.example import EXAMPLE, SENSOR, build_project, copy_project
from tests.support.injector import Injector
from tests.support.machine import Machine

pytestmark = pytest.mark.campaign

PATIENCE = 120.0
CHATTER = b"# node 7 to node 9: all is well\r"
BLOCK = ("waiting", "records", "posted", "postponed", "dropped", "lost")


class Bus:
    """The line, and what its mid-section counted."""

    def __init__(self, built: Built, machine: Machine, injector: Injector) -> None:
        self.console = machine.console[SENSOR]
        self._injector = injector
        self._place = built.grant(SENSOR, "shared", "USART2_RING").start

    def counted(self) -> dict[str, int]:
        words = self._injector.memory(self._place, 4 * len(BLOCK))
        return dict(zip(BLOCK, struct.unpack(f"<{len(BLOCK)}I", words), strict=True))

    def until(self, **wanted: int) -> dict[str, int]:
        """Counters when they have reached these values."""
        for _ in range(1000):
            now = self.counted()
            if all(now[name] >= value for name, value in wanted.items()):
                return now
            time.sleep(0.01)
        raise AssertionError(f"{wanted} never came: {now}")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    description = EXAMPLE / "differentiated.xml"
    return once(tmp_path_factory, "differentiated", lambda room: build(description, room))


@pytest.fixture
def bus(built: Built) -> Iterator[Bus]:
    injector = Injector(Path(tempfile.mkdtemp(prefix="fvm-")))
    with Machine(built.elf, {SENSOR: 2}, options=injector.options) as machine, injector:
        machine.console[SENSOR].wait_ready(PATIENCE)
        yield Bus(built, machine, injector)


def test_what_is_not_for_the_node_costs_its_vm_nothing(bus: Bus) -> None:
    for _ in range(40):  # more than the ring could hold
        bus.console.send(CHATTER)
    counted = bus.until(dropped=40 * (len(CHATTER) - 1))
    assert (counted["posted"], counted["lost"]) == (0, 0)
    assert bus.console.ask(b"get gain", PATIENCE)[-1] == "ok"
    assert bus.counted()["posted"] == 1


def test_what_can_wait_comes_with_the_next_command_and_in_order(bus: Bus) -> None:
    bus.console.send(b"echo later\r")
    counted = bus.until(postponed=len("echo later\r"))
    assert counted["posted"] == 0
    bus.console.send(CHATTER + b"get gain\r")
    lines = bus.console.read_until(lambda line: line.startswith("gain"), PATIENCE)
    assert lines[:2] == ["later", "ok"]
    assert bus.counted()["posted"] == 1


def test_the_firmware_alone_answers_the_chatter(tmp_path: Path) -> None:
    """The control: the policy makes the difference, not the firmware."""
    copy_project(SENSOR, tmp_path / SENSOR)
    elf, _ = build_project(tmp_path / SENSOR)
    with Machine(elf, {SENSOR: 2}) as machine:
        machine.console[SENSOR].wait_ready(PATIENCE)
        assert machine.console[SENSOR].ask(CHATTER[:-1], PATIENCE)[-1].startswith("error: unknown")
