"""The legacy projects run by themselves: what a migration starts from, and must keep."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.conversation import counts, play, read_recording
from tests.support.example import (
    CONSOLES,
    CONVERSATIONS,
    MOTOR,
    SENSOR,
    build_project,
    build_standalone,
    copy_project,
    standalone_pair,
)
from tests.support.machine import Machine

Build = tuple[dict[str, Path], str]


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """Both projects, built in a folder with a space in its name."""
    return build_standalone(tmp_path_factory.mktemp("legacy projects"))


def test_builds_without_warnings(build: Build) -> None:
    assert "warning" not in build[1].lower()


def test_recorded_conversations_at_the_same_time(build: Build) -> None:
    with standalone_pair(build[0]) as machines, ThreadPoolExecutor() as pool:
        talks = [
            pool.submit(play, read_recording(CONVERSATIONS / f"{name}.txt"), machine.console)
            for name, machine in machines.items()
        ]
        for talk in talks:
            talk.result()


def test_messages_flow_through_restarts(build: Build) -> None:
    with standalone_pair(build[0]) as machines:
        consoles = {name: machine.console[name] for name, machine in machines.items()}
        play(read_recording(CONVERSATIONS / "link.txt"), consoles)
        motor = counts(consoles[MOTOR].ask(b"link")[0])
        sensor = counts(consoles[SENSOR].ask(b"link")[0])
    assert motor["received"] > 0 and sensor["received"] > 0
    assert sensor["peer restarts"] == 1  # the motor's, after the node's own


@pytest.mark.parametrize("name", CONSOLES)
def test_heartbeats_need_no_peer(build: Build, name: str) -> None:
    with Machine(build[0][name], {name: CONSOLES[name]}) as machine:
        console = machine.console[name]
        console.wait_ready()
        first = counts(console.ask(b"status")[0])
        while (last := counts(console.ask(b"status")[0]))["t"] < first["t"] + 1000:
            pass
        assert counts(console.ask(b"link")[0])["received"] == 0
    ticks = last["t"] - first["t"]
    assert abs(last["hb1"] - first["hb1"] - ticks // 10) <= 1
    assert abs(last["hb2"] - first["hb2"] - ticks // 20) <= 1


def test_transmit_interrupt_sends_what_the_kick_left(build: Build) -> None:
    with Machine(build[0][MOTOR], {MOTOR: 1}) as machine:
        console = machine.console[MOTOR]
        console.wait_ready()
        by_kick = console.ask(b"help")
        assert counts(console.ask(b"txirq")[0])["bytes"] == 0
        console.ask(b"txirq on")
        before = counts(console.ask(b"txirq")[0])["bytes"]
        assert console.ask(b"help") == by_kick
        after = counts(console.ask(b"txirq")[0])["bytes"]
    assert after - before >= sum(len(line) + 2 for line in by_kick)


@pytest.mark.parametrize("name", CONSOLES)
def test_wild_write_is_done_and_the_firmware_goes_on(build: Build, name: str) -> None:
    """Bare metal has no protection: a free word of RAM takes the write."""
    with Machine(build[0][name], {name: CONSOLES[name]}) as machine:
        console = machine.console[name]
        console.wait_ready()
        assert console.ask(b"crash 0x20018000") == ["written", "ok"]
        assert console.ask(b"crash 20018000") == ["written", "ok"]


@pytest.mark.parametrize("name", CONSOLES)
def test_hang_ends_all_answers(build: Build, name: str) -> None:
    with Machine(build[0][name], {name: CONSOLES[name]}) as machine:
        console = machine.console[name]
        console.wait_ready()
        console.send(b"hang\r")
        assert console.read_line(5) == "hanging"
        with pytest.raises(TimeoutError):
            console.ask(b"echo still here", timeout=1)


@pytest.mark.parametrize("name", CONSOLES)
def test_sets_up_clock_and_watchdog(build: Build, name: str, tmp_path: Path) -> None:
    """QEMU has none of these blocks and logs what is written to them."""
    log = tmp_path / "unimp.log"
    options = ["-d", "unimp", "-D", str(log)]
    with Machine(build[0][name], {name: CONSOLES[name]}, options=options) as machine:
        console = machine.console[name]
        console.wait_ready()
        assert counts(console.ask(b"clock")[0])["timeouts"] == 3  # HSE, PLL, switch
        while counts(console.ask(b"status")[0])["t"] < 200:
            pass
    writes = re.findall(r"(.*): unimp.* write .* offset (\w+), value (\w+)", log.read_text())
    setup = {(device, int(offset, 16), int(value, 16)) for device, offset, value in writes}
    assert ("RCC", 0x04, 0x07405408) in setup  # PLLCFGR: HSE, M 8, N 336, P 2, Q 7
    assert ("RCC", 0x08, 0x00009400) in setup  # CFGR: AHB / 1, APB1 / 4, APB2 / 2
    assert ("Flash Int", 0x00, 0x00000705) in setup  # ACR: 5 wait states, caches
    iwdg = [(int(o, 16), int(v, 16)) for device, o, v in writes if device == "I2S2ext"]
    assert iwdg[:5] == [(0, 0xCCCC), (0, 0x5555), (4, 3), (8, 499), (0, 0xAAAA)]  # 500 ms
    assert set(iwdg[5:]) == {(0, 0xAAAA)}


def test_floating_point_check_notices_a_lost_register(tmp_path: Path) -> None:
    """With a task switch that forgets S16-S31, `status` says so."""
    project = tmp_path / MOTOR
    copy_project(MOTOR, project)
    port = project / "FreeRTOS-Kernel" / "portable" / "GCC" / "ARM_CM4F" / "port.c"
    text = port.read_text()
    for right, wrong in (
        ("vstmdbeq r0!, {s16-s31}", "subeq r0, r0, #64"),
        ("vldmiaeq r0!, {s16-s31}", "addeq r0, r0, #64"),
    ):
        assert text.count(right) == 1
        text = text.replace(right, wrong)
    port.write_text(text)
    elf, _ = build_project(project)
    with Machine(elf, {MOTOR: 1}) as machine:
        console = machine.console[MOTOR]
        console.wait_ready()
        while "FAILED" not in (answer := console.ask(b"status"))[0]:
            assert counts(answer[0])["t"] < 5000
