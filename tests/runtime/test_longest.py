"""How long the kernel holds interrupts off, in systems that have everything at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from composer.simulate.shared import Kind
from tests.support.built import Built, described_otherwise
from tests.support.watched import watched

pytestmark = pytest.mark.campaign

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 150  # instructions without interrupts
VM = """
  <vm name="{name}" priority="{priority}" flash="4K" ram="4K" fpu="yes" watchdog="100ms">
    <project path="{root}" port="no">
      <source>runtime/guests/urgent.c</source>
      <define>TEST_TIMER={address}</define>
      <define>TEST_LINE={line}</define>
      <define>TEST_PERIOD={period}</define>
      {more}
    </project>
    <tick handler="tick_handler"/>
    <device name="{timer}"/>
    <clock name="{timer}"/>
    <irq name="{timer}" handler="timer_handler"/>
  </vm>"""
SLEEPS = "<define>TEST_SLEEPS</define>"
# Lines of two words wait for the most urgent one.
VMS = "".join(
    VM.format(root=ROOT, name=f"vm-{timer.lower()}", priority=rank, timer=timer, address=address,
              line=line, period=period, more=more)
    for rank, timer, address, line, period, more in (
        (0, "TIM3", 0x40000400, 29, 4000, ""),
        (2, "TIM2", 0x40000000, 28, 3000, SLEEPS),
        (1, "TIM5", 0x40000C00, 50, 7000, SLEEPS),
    )
)  # fmt: skip


@pytest.mark.parametrize("name", ["stops", "run-time", "threads", "invocation"])
def test_vms_of_several_priorities_make_no_path_too_long(
    system: Callable[[str], Built], name: str, tmp_path: Path
) -> None:
    built = described_otherwise(system(name), tmp_path / name, "</system>", f"{VMS}</system>")
    (tmp_path / "run").mkdir()
    said, trace = watched(built, built.elf, tmp_path / "run", 1200)
    assert "done=1" in said
    for kind in (Kind.CALL, Kind.LINE, Kind.TICK, Kind.DEFERRED):
        assert 50 < trace.paths[kind].longest <= LONGEST, kind


def test_the_last_process_that_sleeps_makes_no_path_too_long(
    system: Callable[[str], Built], tmp_path: Path
) -> None:
    """Other lines wait than do for what runs next, so the way ends in the deferred work."""
    built = system("asleep")
    plan = built.symbol("high", "plan")
    image = built.patched(tmp_path / "system.elf", {plan + 4: 1})
    (tmp_path / "run").mkdir()
    _, trace = watched(built, image, tmp_path / "run", 500)
    for kind in (Kind.CALL, Kind.TICK, Kind.DEFERRED):
        assert 40 < trace.paths[kind].longest <= LONGEST, kind
