"""Ways through the kernel that were longer than they may be, each in a system that has it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from composer.simulate.shared import Kind
from tests.support.built import Built, build, once
from tests.support.watched import watched

pytestmark = pytest.mark.campaign

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 150  # instructions without interrupts
BOARD = 'chip="STM32F405RG" board="netduinoplus2"'
CLOCKS = '<clocks m="8" n="336" p="2" q="7" apb1="4" apb2="2" latency="5"/>'
BEAT = '<timer name="beat" period="1ms"/>'


def part(kind: str, name: str, role: str, more: str, attributes: str = "", *defines: str) -> str:
    vm = "<define>TEST_VM</define>" if kind == "vm" else ""
    told = "".join(f"<define>{it}</define>" for it in defines)
    return (
        f'<{kind} name="{name}" flash="4K" ram="4K" {attributes}><project path="{ROOT}" port="no">'
        f"<source>runtime/guests/narrow.c</source><define>TEST_ROLE={role}</define>{vm}{told}"
        f"</project>{more}</{kind}>"
    )


def timer(name: str) -> str:
    return f'<device name="{name}"/><clock name="{name}"/><irq name="{name}"'


def thread(priority: int) -> str:
    return f'<thread name="main" priority="{priority}"/>'


HANG = (
    '<tick handler="tick_handler"/><fault action="user" process="judge" delay="0ms" longest="0ms"/>'
)
BUSY = '<tick handler="tick_handler"/>' + timer("{}") + ' handler="timer_handler"/>'
SERVE = '<port name="serve" function="serve"/>'
SYSTEMS = {
    "own port": part(
        "process", "own", "OWN_PORT",
        thread(10) + '<port name="serve" function="serve" delegate="yes"/><delegate to="other"/>'
        + BEAT, 'fpu="yes"',
    ) + part("process", "other", "RESTARTS", thread(9) + BEAT, 'slots="2"')
    .replace("TEST_ROLE=RESTARTS", "TEST_ROLE=INVOKES</define><define>TEST_NEXT=0"),
    "ready thread": part("process", "judge", "RESTARTS", thread(20) + BEAT)
    + part(
        "process", "victim", "COMPUTES",
        thread(10) + '<kernel-memory size="80" ceiling="8"/>' + BEAT
        + '<fault action="user" process="judge" delay="0ms" longest="0ms"/>', 'slots="2"',
    )
    + part("vm", "vm", "BUSY", BUSY.format("TIM3", "TIM3", "TIM3"), 'fpu="yes"',
           "TEST_TIMER=0x40000400", "TEST_LINE=29"),
    "records": part("process", "judge", "JUDGE", thread(20) + BEAT, 'slots="1"')
    + part("process", "other", "INVOKES", thread(9) + BEAT + '<delegate to="judge"/>', "",
           "TEST_NEXT=0")
    + part("vm", "hang", "HANGS", HANG, 'watchdog="5ms"')
    + '<event name="GIVEN" from="other" to="judge" delegate="yes"/>',
    "line at a cost": part("process", "line", "LINE", thread(20) + timer("TIM4") + "/>")
    + part("vm", "v0", "BUSY", BUSY.format("TIM3", "TIM3", "TIM3"), 'fpu="yes" priority="0"',
           "TEST_TIMER=0x40000400", "TEST_LINE=29")
    + part("vm", "v1", "BUSY", BUSY.format("TIM2", "TIM2", "TIM2"), 'fpu="yes" priority="2"',
           "TEST_TIMER=0x40000000", "TEST_LINE=28", "TEST_EVENT=FVM_EVT_CALLED")
    + '<event name="CALLED" from="v1" to="line"/>',
    "moved threads": part(
        "process", "moves", "MOVES",
        thread(20) + '<kernel-memory size="512" ceiling="9"/>' + BEAT
        + '<timer name="slow" period="7ms"/>', 'slots="4"',
    ),
    "owed ticks": part("vm", "owed", "OWED", '<tick handler="tick_handler"/>', 'catchup="9"'),
    "line at a wait's end": part("process", "waits", "WAITS", thread(20), 'fpu="yes"')
    + part("vm", "floods", "FLOODS", "", 'fpu="yes" priority="1"')
    + part("vm", "busy", "BUSY", BUSY.format("TIM3", "TIM3", "TIM3"), 'fpu="yes" priority="1"',
           "TEST_TIMER=0x40000400", "TEST_LINE=29")
    + part("vm", "sleeps", "SLEEPS", timer("TIM2") + ' handler="timer_handler"/>',
           'fpu="yes" priority="1"', "TEST_TIMER=0x40000000", "TEST_LINE=28")
    + '<event name="CALLED" from="floods" to="waits"/>',
    "far decider": part(
        "process", "top", "INVOKES", thread(25) + '<invoke process="far" port="pass"/>' + BEAT, "",
        "TEST_NEXT=FVM_CAP_PASS",
    )
    + part("process", "far", "FORWARDS",
           thread(22) + '<port name="pass" function="serve"/>'
           '<invoke process="judge" port="serve"/>' + BEAT, "",
           "TEST_NEXT=FVM_CAP_SERVE", "TEST_PORT=FVM_CAP_PASS")
    + part("process", "judge", "DECIDES", thread(20) + SERVE + BEAT)
    + part("process", "victim", "INVOKES",
           thread(10) + BEAT
           + '<fault action="user" process="judge" delay="0ms" longest="0ms"/>', "", "TEST_NEXT=0"),
}  # fmt: skip
M7 = (
    part("process", "judge", "JUDGE", thread(20) + BEAT + '<timer name="other" period="1ms"/>')
    + part("vm", "hang", "HANGS", HANG, 'watchdog="5ms" priority="2"')
    + part("vm", "second", "HANGS", '<tick handler="tick_handler"/>', 'watchdog="5ms" priority="1"')
    + part("vm", "third", "HANGS", '<tick handler="tick_handler"/>', 'priority="0"')
)


# The same on Cortex-M7, where each entry waits for stores first. Its machine has two timers.
TIMERS = {
    '<clock name="TIM3"/>': "", "TIM3": "TIMER0",
    "0x40000400": "0x40000000", "TEST_LINE=29": "TEST_LINE=8",
    '<clock name="TIM2"/>': "", "TIM2": "TIMER1",
    "TEST_TIMER=0x40000000": "TEST_TIMER=0x40001000", "TEST_LINE=28": "TEST_LINE=9",
}  # fmt: skip


def on_mps2(parts: str) -> str:
    parts = re.sub("|".join(sorted(TIMERS, key=len, reverse=True)), lambda m: TIMERS[m[0]], parts)
    return parts.replace("<define>TEST_ROLE=", "<define>TEST_MPS2</define><define>TEST_ROLE=")


ON_MPS2 = {
    **{f"{name} on Cortex-M7": on_mps2(it) for name, it in SYSTEMS.items() if "TIM4" not in it},
    "watchdogs on Cortex-M7": M7,
}


@pytest.fixture
def small(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Built]:
    def make(name: str) -> Built:
        def built(folder: Path) -> Built:
            board, head, console = (
                (BOARD, CLOCKS, "USART6")
                if name in SYSTEMS
                else ('chip="MPS2-AN500" board="mps2-an500"', "", "UART0")
            )
            parts = SYSTEMS.get(name) or ON_MPS2[name]
            text = (
                f'<system name="narrow" {board}><kernel console="{console}" report="250ms" '
                f'slice="1400us" records="32"/>{head}{parts}</system>'
            )
            description = folder.with_name(f"{folder.name} description.xml")
            description.write_text(text)
            return build(description, folder)

        return once(tmp_path_factory, f"narrow {name}", built)

    return make


@pytest.mark.parametrize("name", [*SYSTEMS, *ON_MPS2])
def test_no_way_is_longer_than_it_may_be(
    small: Callable[[str], Built], name: str, tmp_path: Path
) -> None:
    built = small(name)
    (tmp_path / "run").mkdir()
    machine = "netduinoplus2" if name in SYSTEMS else "mps2-an500"
    _, trace = watched(built, built.elf, tmp_path / "run", 2500, machine)
    for kind in (Kind.CALL, Kind.LINE, Kind.TICK, Kind.DEFERRED):
        if kind in trace.paths:
            assert trace.paths[kind].longest <= LONGEST, kind
