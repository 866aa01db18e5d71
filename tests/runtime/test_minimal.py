"""A system without VMs and without a log: the kernel, native processes, and of the hypervisor the
fault thread and idle."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from composer.simulate.shared import Kind
from composer.simulate.tracer import Trace
from composer.verify.verify import verify
from tests.support.built import Built
from tests.support.watched import watched

TICKS = 600  # of the kernel, a millisecond each
WFI, NOP = 0xBF30, 0xBF00


@pytest.fixture(scope="module")
def minimal(system: Callable[[str], Built]) -> Built:
    return system("minimal")


def executed_a_tick(trace: Trace) -> float:
    """Instructions, everybody's."""
    return trace.instructions / trace.happened[Kind.TICK]


@pytest.fixture(scope="module")
def run(minimal: Built, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Trace]:
    return watched(minimal, minimal.elf, tmp_path_factory.mktemp("minimal"), TICKS)


def test_it_runs_faults_and_restarts(run: tuple[list[str], Trace]) -> None:
    said, trace = run
    starts = [line for n in range(1, 11) for line in (f"boot={n}", "pulse=1", "pulse=1")]
    assert said[: len(starts) + 1] == [*starts, "boot=11"]
    assert (trace.happened[Kind.CRIME], trace.happened[Kind.RESTART]) == (10, 10)


def test_where_nobody_writes_the_log_a_reader_finds_the_newest_records(
    run: tuple[list[str], Trace],
) -> None:
    said, _ = run
    assert [line for line in said if line.startswith("restarts=")] == [
        f"restarts={n}" for n in range(7, 11)
    ]
    assert {line for line in said if line.startswith("decision=")} == {"decision=1"}


def test_it_sleeps_when_nobody_has_anything_to_do(run: tuple[list[str], Trace]) -> None:
    assert executed_a_tick(run[1]) < 2_000


@pytest.mark.campaign
def test_without_wfi_it_would_never_sleep(minimal: Built, tmp_path: Path) -> None:
    """Control."""
    idle = minimal.extent("hypervisor", "hyp_idle_thread")
    words = {}
    for address in range(idle.start & ~3, idle.stop, 4):
        word = minimal.word(address)
        halves = [NOP if half == WFI else half for half in (word & 0xFFFF, word >> 16)]
        words[address] = halves[0] | halves[1] << 16
    assert any(words[address] != minimal.word(address) for address in words)
    _, trace = watched(minimal, minimal.patched(tmp_path / "system.elf", words), tmp_path, TICKS)
    assert executed_a_tick(trace) > 20_000


def test_the_image_is_accepted(minimal: Built) -> None:
    assert verify(minimal.elf, minimal.description).ok


def symbols(built: Built, part: str) -> set[str]:
    with (built.folder / part / f"{part}.elf").open("rb") as file:
        table = ELFFile(file).get_section_by_name(".symtab")
        return {symbol.name for symbol in table.iter_symbols()}


def test_the_hypervisor_has_no_thread_that_nobody_needs(minimal: Built) -> None:
    hypervisor = symbols(minimal, "hypervisor")
    assert {"hyp_fault_thread", "hyp_idle_thread"} <= hypervisor
    assert not {n for n in hypervisor if n.startswith(("hyp_manager", "hyp_log", "console_"))}


# What the kernel keeps of vCPUs, of events, and of lines of VMs and of processes.
STATE = {"vcpu_table", "may_send", "bound", "interrupt_lines", "line_of_signal"}


def test_the_kernel_has_no_state_that_nobody_needs(
    minimal: Built, system: Callable[[str], Built]
) -> None:
    assert not STATE & symbols(minimal, "kernel")
    assert symbols(system("rights"), "kernel") | symbols(system("lines"), "kernel") >= STATE
