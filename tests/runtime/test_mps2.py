"""The runtime on Cortex-M3, M4F and M7: task switches, a device's interrupts, protection."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.observed import about
from tests.support.built import Built, build, change, once
from tests.support.counted import Board, Transcript, run

pytestmark = pytest.mark.campaign

DESCRIPTION = Path(__file__).parent / "systems" / "mps2.xml"
TESTS = DESCRIPTION.parents[2]
FPU = {"mps2-an385": False, "mps2-an386": True, "mps2-an500": True}
CONSOLES = {"tasks": 2, "timer": 3}
KERNEL_RAM, VECTORS = 0x20000000, 0


def described(machine: str, room: Path) -> Path:
    """The system on another machine."""
    text = DESCRIPTION.read_text("utf-8")
    text = text.replace("MPS2-AN385", machine.upper()).replace("mps2-an385", machine)
    text = text.replace('path="../.."', f'path="{TESTS}"')
    if FPU[machine]:
        text = change(text, 'ram="8K" fpu="no"', 'ram="8K" fpu="yes"')
        text = change(text, "TEST_NO_FPU", "TEST_FPU")
    file = room.with_suffix(".in.xml")
    file.write_text(text, "utf-8")
    return file


@pytest.fixture(scope="module", params=list(FPU))
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def system(machine: str, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return once(tmp_path_factory, machine, lambda room: build(described(machine, room), room))


@pytest.fixture(scope="module")
def transcript(system: Built, machine: str) -> Transcript:
    return run(system.elf, CONSOLES, 2500, board=Board(machine, 5, 1, 5))


def test_the_log_comes_from_the_uart_and_protection_is_on(transcript: Transcript) -> None:
    assert transcript.reached
    boot = transcript.log[0]
    assert (boot.kind, boot.fields["mpu"]) == ("boot", "on")


def test_tasks_are_switched_and_lose_no_register(transcript: Transcript, machine: str) -> None:
    values = transcript.values("tasks")
    assert about(values, "bad") == {"0": 0, "1": 0, "2": 0}
    assert min(about(values, "rounds").values()) > 100
    yielded, preempted = about(values, "yield"), about(values, "preempt")
    assert preempted["all"] == 1499, "every tick but the last switched"
    assert min(yielded["to_yielded"], yielded["to_preempted"]) > 100
    assert (preempted["with_fpu"] > 100) == FPU[machine]


def test_a_timer_interrupts_its_vm_at_its_rate(transcript: Transcript) -> None:
    values = transcript.values("timer")
    assert values["early"] == 0
    assert values["interrupts"] in range(1900, 2012), "10 kHz for 200 ms, beside a busy VM"


def test_forbidden_accesses_end_in_a_restart_of_that_vm_alone(
    system: Built, transcript: Transcript
) -> None:
    assert [(f.domain, f.cause) for f in transcript.faults] == [("timer", "memory")] * 3
    own_code = system.symbol("timer", "main") & ~3
    assert [f.address for f in transcript.faults] == [KERNEL_RAM, VECTORS, own_code]
    assert transcript.values("timer")["boots"] == 4
    assert transcript.stats("tasks")[-1].restarts == 0


def test_a_core_without_fpu_has_a_kernel_without_its_instructions(
    system: Built, machine: str
) -> None:
    kernel = system.folder / "kernel" / "obj"
    entry = next(kernel.glob("entry-*.o")).read_bytes()
    assert (b"fpu_zero" in entry) == FPU[machine]
