"""Cortex-M7: a thread's store to a device may fail when the kernel was entered already. It is the
thread's fault, whatever entry it comes into, and a call of that thread isn't served any more.

QEMU knows no such error. So the machine is stopped at the instruction in question, a BusFault is
pended by hand, and the kernel is one that reads the status that the processor would have left.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.runtime.machine_code import Code
from tests.runtime.obligations import check
from tests.runtime.test_mps2 import CONSOLES, described
from tests.support.built import Built, build, once, with_other_kernel
from tests.support.counted import Board, run
from tests.support.halted import Halted
from tests.support.invariants import KernelState

pytestmark = pytest.mark.campaign

MACHINE = "mps2-an500"
BOARD = Board(MACHINE, 5, 1, 5)
SHCSR, BUSFAULTPENDED = 0xE000ED24, 1 << 14
STUBS = ("call_stub", "deferred_stub", "timer_stub", "line_stub")
BARRIERS = 8  # bytes
ISER, NOBODYS_LINE = 0xE000E100, 20
LR = 14
EXC_RETURN_TO_THREAD = 8
DOMAIN_INDEX = 28  # of struct thread: the word whose third byte it is
VMS = ("tasks", "timer")
ENTRY, FAULT = "arch/armv7m/entry.S", "arch/armv7m/fault.c"
IMPRECISE = ("uint32_t status = SCB_CFSR, inter", "uint32_t status = SCB_CFSR | 1u << 10, inter")


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return once(tmp_path_factory, MACHINE, lambda room: build(described(MACHINE, room), room))


@pytest.fixture(scope="module")
def failing(system: Built, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return once(
        tmp_path_factory,
        "late errors",
        lambda room: with_other_kernel(system, room, FAULT, IMPRECISE),
    )


class Outcome(NamedTuple):
    """Where the entry went on, and what became of the system."""

    reached: str
    writer: str
    restarts: dict[str, int]  # by this
    violations: list[str]


def fail_in(
    system: Built, stub: str, *offsets: int, options: tuple[str, ...] = ()
) -> list[Outcome]:
    """Stores of the VM that runs fail when its entry came so far, in bytes of code."""
    outcomes: list[Outcome] = []

    def inspect(halted: Halted) -> None:
        with halted:
            assert halted.leave_kernel()
            outcomes.extend(_fail(system, halted, stub, offset) for offset in offsets)

    with tempfile.TemporaryDirectory(prefix="fvm-") as folder:
        halted = Halted(Path(folder))
        run(
            system.elf, CONSOLES, 0,
            board=BOARD, options=(*halted.options, *options), inspect=lambda: inspect(halted),
        )  # fmt: skip
    return outcomes


def _fail(system: Built, halted: Halted, stub: str, offset: int) -> Outcome:
    before = _restarts(system, halted)
    writer = _enter(system, halted, stub)
    while halted.pc < system.symbol("kernel", stub) + offset:
        halted.step()
    halted.memory.write(SHCSR, halted.memory.read(SHCSR) | BUSFAULTPENDED)
    if _first_of(system, halted, "fault_raise", "cpu_arch_reset") == "cpu_arch_reset":
        return Outcome("reset", writer, {}, [])
    reached = _first_of(system, halted, "call_dropped", "deferred_stub")
    _settle(halted)
    after = _restarts(system, halted)
    violations = KernelState(system, system.elf, halted.memory).violations()
    added = {name: after[name] - before[name] for name in after}
    return Outcome(reached, writer, added, list(violations))


def _restarts(system: Built, halted: Halted) -> dict[str, int]:
    kernel = KernelState(system, system.elf, halted.memory)
    return {name: kernel.restarts(name) for name in (*VMS, "hypervisor")}


def _enter(system: Built, halted: Halted, stub: str) -> str:
    """To an entry from a VM; its name."""
    for _ in range(100):
        if stub == "line_stub":
            halted.run_to(system.symbol("tasks", "tick_handler"))
            halted.memory.pend(NOBODYS_LINE)
            halted.memory.write(ISER, 1 << NOBODYS_LINE)
        halted.run_to(system.symbol("kernel", stub))
        kernel = KernelState(system, system.elf, halted.memory)
        thread = kernel.of["cpu"]["current"]
        name = ("hypervisor", *VMS)[halted.memory.read(thread + DOMAIN_INDEX) >> 16 & 0xFF]
        if name in VMS and halted.register(LR) & EXC_RETURN_TO_THREAD:
            return name
    raise AssertionError("no VM comes here")


def _first_of(system: Built, halted: Halted, *names: str) -> str:
    """The machine goes on to the first of these places. (Single steps would take no exception.)"""
    places = {system.symbol("kernel", name): name for name in names}
    for place in places:
        halted.break_at(place)
    halted.go_on()
    for place in places:
        halted.forget(place)
    return places[halted.pc]


def _settle(halted: Halted) -> None:
    halted.let_go()
    time.sleep(0.5)
    halted.stop()
    assert halted.leave_kernel()


@pytest.mark.parametrize("stub", STUBS)
def test_it_is_the_fault_of_who_wrote(failing: Built, stub: str) -> None:
    for outcome in fail_in(failing, stub, 0, 4, BARRIERS):
        others = dict.fromkeys((*VMS, "hypervisor"), 0)
        assert outcome.restarts == {**others, outcome.writer: 1}
        assert outcome.violations == []
        dropped = outcome.reached == "call_dropped"
        assert dropped == (stub == "call_stub"), "a call of who was halted isn't served"


@pytest.mark.parametrize("stub", STUBS)
def test_later_it_is_the_kernels_own_and_resets_the_chip(failing: Built, stub: str) -> None:
    """Control, and what the barriers are for: behind them the kernel holds half a change."""
    assert fail_in(failing, stub, BARRIERS + 2)[0].reached == "reset"


def test_every_entry_from_a_thread_begins_with_the_barriers(system: Built) -> None:
    kernel = system.folder / "kernel" / "kernel.elf"
    code = Code(kernel)
    assert check(code) == set()
    for number, entry in code.handlers.items():
        if number in (11, 14, 15) or number >= 16:
            following = entry + code.instructions[entry].size
            assert [code.name(entry), code.name(following)] == ["dsb", "isb"], number


@pytest.mark.parametrize("stub", STUBS)
def test_verify_misses_a_barrier(
    system: Built, stub: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    changed = once(
        tmp_path_factory,
        f"late errors without a barrier in {stub}",
        lambda room: with_other_kernel(
            system, room, ENTRY, (f"{stub}:\n    wait_for_stores\n", f"{stub}:\n    isb\n")
        ),
    )
    result = subprocess.run(
        [sys.executable, "-m", "composer.cli", "verify", str(changed.elf),
         "--system", str(changed.description)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 1
    assert "doesn't begin with DSB and ISB" in result.stdout + result.stderr
