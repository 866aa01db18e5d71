"""The data logger in the shape of a CubeMX project: alone, and migrated beside the sensor node."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from composer.simulate.log import Record
from tests.support.built import Built, once
from tests.support.console import Console
from tests.support.conversation import counts, play, read_recording
from tests.support.example import CONVERSATIONS, EXAMPLE, SENSOR, build_project, copy_project
from tests.support.machine import Machine
from tests.system.live import KERNEL_CONSOLE, KernelLog
from tests.system.road import COUNTED, fvmkit

NAME = "cubemx-hal"
LOGGER = "data-logger"
CONSOLES = {LOGGER: 1, SENSOR: 2}
CONVERSATION = CONVERSATIONS / f"{LOGGER}.txt"


def _checkout(room: Path) -> Path:
    """Copies of the example and of its neighbour, where the description expects them."""
    example = room / "examples" / NAME
    shutil.copytree(EXAMPLE.parent / NAME, example, ignore=shutil.ignore_patterns("build"))
    copy_project(SENSOR, room / "examples" / EXAMPLE.name / SENSOR)
    return example


def _migrate(out: Path) -> Built:
    """Every command of the example's README; nothing may be escalated."""
    room = out.parent / f"{NAME} room"
    shutil.rmtree(room, ignore_errors=True)
    example = _checkout(room)
    projects = {LOGGER: example / LOGGER, SENSOR: example.parent / EXAMPLE.name / SENSOR}
    description = example / "system.xml"
    steps = [("compose", description, "--out", out)]
    for name, project in projects.items():
        policy = out / f"{name}.domain.json"
        steps.append(("port", project, "--domain", policy, "--out", out / "ported" / name))
    steps += [("build", out), ("compose", description, "--out", out), ("build", out)]
    for name in projects:
        elf, policy = out / name / f"{name}.elf", out / f"{name}.domain.json"
        steps.append(("scan", elf, "--policy", policy))
    for words in [*steps, ("link", out)]:
        said = fvmkit(*words, cwd=room)
        assert said.status == 0, f"{words}\n{said.all}"
    return Built(out, description)


def check_records(console: Console) -> None:
    """Three records of the saw tooth, as soon as there are so many."""
    while len(answer := console.ask(b"dump 3")) < 4:
        pass
    records = [counts(line) for line in answer[:-1]]
    first = records[0]["n"]
    assert [(r["n"], r["v"]) for r in records] == [
        (n, 37 * n % 4096) for n in range(first, first + 3)
    ]


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return once(tmp_path_factory, NAME, _migrate)


@dataclass(frozen=True)
class Running:
    """The migrated system, and what its kernel logs."""

    machine: Machine
    log: KernelLog

    def ask(self, name: str, command: str) -> list[str]:
        """The answer to a command."""
        return self.machine.console[name].ask(command.encode())


@pytest.fixture
def running(migrated: Built) -> Iterator[Running]:
    consoles = {**CONSOLES, "kernel": KERNEL_CONSOLE}
    with Machine(migrated.elf, consoles, options=COUNTED) as machine:
        log = KernelLog(machine.console["kernel"])
        for name in CONSOLES:
            machine.console[name].wait_ready()
        yield Running(machine, log)


def test_alone(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE.parent / NAME / LOGGER, tmp_path / "legacy project")
    elf, printed = build_project(tmp_path / "legacy project")
    assert "warning" not in printed.lower()
    with Machine(elf, {LOGGER: 1}) as machine:
        machine.console[LOGGER].wait_ready()
        play(read_recording(CONVERSATION), machine.console)
        check_records(machine.console[LOGGER])
        # QEMU has no clocks: the HAL finds neither crystal nor wait states and stays at 16 MHz.
        assert machine.console[LOGGER].ask(b"clock")[0].startswith("clock hclk=16000000 ")
        assert counts(machine.console[LOGGER].ask(b"status")[0])["errors"] == 2


def test_the_conversation_is_the_same_once_migrated(running: Running) -> None:
    play(read_recording(CONVERSATION), running.machine.console)
    check_records(running.machine.console[LOGGER])


def test_the_hal_finds_its_clocks_set_up(running: Running) -> None:
    clock = running.ask(LOGGER, "clock")[0]
    assert clock == "clock hclk=168000000 pclk1=42000000 pclk2=84000000"
    assert counts(running.ask(LOGGER, "status")[0])["errors"] == 0


def test_hal_delay_takes_virtual_milliseconds(running: Running) -> None:
    assert counts(running.ask(LOGGER, "delay 200")[0])["t"] in (201, 202)


@pytest.mark.parametrize(
    ("command", "cause"),
    [("crash 20002000", "memory"), ("hang", "watchdog"), ("reset", "reset")],
)
def test_it_restarts_alone(running: Running, command: str, cause: str) -> None:
    before = counts(running.ask(SENSOR, "status")[0])
    assert running.ask(LOGGER, command)[-1] == "ready"

    def is_fault(record: Record) -> bool:
        return f"fault domain={LOGGER} cause={cause}" in record.text

    running.log.wait(f"{cause} of the logger", is_fault)
    assert counts(running.ask(LOGGER, "status")[0])["errors"] == 0
    after = counts(running.ask(SENSOR, "status")[0])
    ticks = after["t"] - before["t"]
    assert ticks > 0
    assert abs(after["hb1"] - before["hb1"] - ticks // 10) <= 1
    faults = [r.text for r in running.log.records if "fault domain=" in r.text]
    assert all(LOGGER in text for text in faults)


def test_pins_and_sources_stay_as_the_user_wrote_them(migrated: Built) -> None:
    hal = "Drivers/STM32F4xx_HAL_Driver/Src/stm32f4xx_hal_gpio.c"
    ported = (migrated.folder / "ported" / LOGGER / hal).read_text()
    assert "hyp_pin_get(((uint32_t)GPIOx - 0x40020000U) / 0x400U) & GPIO_Pin" in ported
    assert "hyp_pin_latch(((uint32_t)GPIOx - 0x40020000U) / 0x400U)" in ported
    # What nothing calls stays as it is.
    used = re.sub(r"void HAL_GPIO_DeInit\(.*?\n}\n", "", ported, flags=re.DOTALL)
    assert re.search(r"GPIOx->(?:IDR|ODR|BSRR|MODER)\b", used) is None and used != ported
    original = (EXAMPLE.parent / NAME / LOGGER / hal).read_text()
    assert (migrated.description.parent / LOGGER / hal).read_text() == original
