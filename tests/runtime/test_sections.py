"""Interrupts in three sections: what a process captured reaches the VM's handler whole and in
order, whatever either side does meanwhile."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.built import Built
from tests.support.injector import Injector
from tests.support.machine import Machine
from tests.support.variables import Variables

USART2_LINE, USART2_SR = 38, 0x40004400
TC, TXE, RXNE, ORE = 1 << 6, 1 << 7, 1 << 5, 1 << 3
CONSOLES = {"commands": 1, "line": 2}
PATIENCE = 120.0
RECORDS_THAT_FIT = 31  # ring of 512 bytes: 256 are data, records of two words, one byte stays free


class Guest:
    """The VM by its command line, and the line that is split."""

    def __init__(self, machine: Machine) -> None:
        self.console = machine.console

    def command(self, letter: bytes) -> dict[str, str]:
        """Gives a command; the state after it."""
        commands = self.console["commands"]
        commands.send(letter)
        lines = commands.read_until(lambda line: line == ".", PATIENCE)
        return dict(line.split("=", 1) for line in lines[:-1])

    def send(self, text: bytes) -> None:
        """Bytes on the line."""
        self.console["line"].send(text)

    def expect(self, **wanted: str) -> dict[str, str]:
        """Waits for a state."""
        end = time.monotonic() + PATIENCE
        while True:
            state = self.command(b"s")
            if wanted.items() <= state.items():
                return state
            assert time.monotonic() < end, state


@pytest.fixture(scope="module")
def built(system: Callable[[str], Built]) -> Built:
    return system("sections")


@pytest.fixture
def guest(built: Built) -> Iterator[Guest]:
    with Machine(built.elf, CONSOLES) as running:
        running.console["commands"].wait_ready()
        yield Guest(running)


def test_every_byte_reaches_the_handler_in_order(guest: Guest) -> None:
    text = "".join(chr(65 + i % 26) for i in range(400))
    for start in range(0, len(text), 25):  # QEMU's line has no bit rate: never more than fits
        guest.send(text[start : start + 25].encode())
        state = guest.expect(text=text[: start + 25])
    counted = {name: int(state[name]) for name in ("runs", "empty", "lost", "overrun")}
    assert counted == {"runs": 400, "empty": 0, "lost": 0, "overrun": 0}


def test_a_masked_vm_loses_nothing_that_the_ring_holds(guest: Guest) -> None:
    guest.command(b"p")
    guest.send(b"A" * RECORDS_THAT_FIT)
    state = guest.expect(records=str(RECORDS_THAT_FIT))
    assert state["runs"] == "0"
    state = guest.command(b"u")
    assert (state["text"], state["lost"]) == ("A" * RECORDS_THAT_FIT, "0")


def test_what_the_ring_cannot_hold_stays_with_the_sender(guest: Guest) -> None:
    guest.command(b"p")
    text = "".join(chr(65 + i % 26) for i in range(RECORDS_THAT_FIT + 50))
    guest.send(text.encode())
    state = guest.expect(records=str(RECORDS_THAT_FIT), waiting="1")
    assert state["runs"] == "0"
    guest.command(b"u")
    assert guest.expect(text=text)["lost"] == "0"


def test_a_vector_pended_in_software_is_not_postponed_with_what_came_meanwhile(
    guest: Guest,
) -> None:
    for count in range(1, 21):
        guest.send(b"q")  # to be postponed
        guest.command(b"t")
        guest.expect(text="q" * count)


def test_a_disabled_vector_waits_and_its_records_too(guest: Guest) -> None:
    guest.command(b"d")
    guest.send(b"CD")
    assert guest.expect(records="2")["runs"] == "0"
    assert guest.command(b"e")["text"] == "CD"


def test_policy_postpones_and_drops(guest: Guest) -> None:
    guest.send(b"ab12")
    state = guest.expect(postponed="2", dropped="2")
    assert state["text"] == ""
    guest.send(b"Z")
    assert guest.expect(text="abZ")["runs"] == "3"


def test_a_cause_that_only_the_vm_can_serve_keeps_the_line_closed_until_it_did(
    guest: Guest,
) -> None:
    guest.command(b"p")
    guest.command(b"t")  # in software: the capture finds no byte
    guest.send(b"X")
    time.sleep(0.1)
    state = guest.command(b"s")
    assert (state["waiting"], state["records"], state["runs"]) == ("1", "1", "0")
    guest.command(b"u")
    state = guest.expect(text="X", waiting="0")
    assert state["empty"] == "1"


def test_clearing_the_vector_forgets_no_record(guest: Guest) -> None:
    guest.command(b"p")
    guest.send(b"EF")
    guest.expect(records="2")
    guest.command(b"c")
    assert guest.command(b"u")["text"] == "EF"


def test_a_restarted_vm_starts_with_an_empty_ring_and_frees_a_waiting_process(
    guest: Guest,
) -> None:
    guest.command(b"p")
    guest.command(b"t")
    guest.expect(waiting="1")
    guest.console["commands"].send(b"r")
    guest.console["commands"].wait_ready()
    guest.send(b"G")
    assert guest.expect(text="G")["waiting"] == "0"


def test_a_vm_that_wiped_the_shared_memory_is_served_again_once_it_restarted(
    guest: Guest,
) -> None:
    guest.command(b"p")
    guest.command(b"t")
    guest.expect(waiting="1")
    guest.command(b"z")
    guest.console["commands"].send(b"r")
    guest.console["commands"].wait_ready()
    guest.send(b"N")
    state = guest.expect(text="N", waiting="0")
    guest.command(b"p")
    guest.command(b"t")
    guest.expect(waiting="1", runs=state["runs"])
    guest.command(b"u")
    guest.expect(waiting="0", runs=str(int(state["runs"]) + 1))


def test_a_process_that_faults_restarts_and_serves_on(guest: Guest) -> None:
    guest.send(b"H")
    guest.expect(text="H")
    guest.send(b"!")
    time.sleep(0.2)
    guest.send(b"I")
    assert guest.expect(text="HI")["records"] == "1"


def test_a_hostile_vm_harms_itself_only(built: Built) -> None:
    """It fills the shared memory with rubbish and floods the process with events: the process
    neither faults nor hangs, and serves the VM again once that has restarted."""
    injector = Injector(Path(tempfile.mkdtemp(prefix="fvm-")))
    with Machine(built.elf, CONSOLES, options=injector.options) as running, injector:
        commands = running.console["commands"]
        commands.wait_ready()
        guest = Guest(running)
        for attack in (b"g", b"f", b"g"):
            commands.send(attack)
            commands.read_until(lambda line: line == ".", PATIENCE)
            guest.send(b"K")
        commands.send(b"r")
        commands.wait_ready()
        guest.send(b"L")
        guest.expect(text="L")
        kernel = Variables(built.folder / "kernel" / "kernel.elf", injector.memory)
        restarts = [domain["restarts"] for domain in kernel["domain_table"]]
    assert restarts == [0, 0, 1]  # hypervisor, middle, rest


def test_a_vector_pended_in_software_runs_where_the_policy_drops_what_was_captured(
    system: Callable[[str], Built],
) -> None:
    """Once a pend, by a record without contents; the process goes back to wait for its line."""
    with Machine(system("sections-dropped").elf, CONSOLES) as running:
        running.console["commands"].wait_ready()
        guest = Guest(running)
        for count in range(1, 4):
            guest.command(b"t")
            state = guest.expect(runs=str(count), empty=str(count))
            assert state["records"] == state["dropped"] == str(count)
            assert state["waiting"] == "0"
        guest.send(b"M")
        guest.expect(text="M")


def test_the_vm_may_not_enable_a_line_that_is_another_ones(guest: Guest) -> None:
    assert guest.command(b"s")["foreign"] == "-4"


def test_overruns_are_counted(built: Built) -> None:
    folder = Path(tempfile.mkdtemp(prefix="fvm-"))
    injector = Injector(folder)
    with Machine(built.elf, CONSOLES, options=injector.options) as running, injector:
        running.console["commands"].wait_ready()
        guest = Guest(running)
        for count in range(1, 6):
            injector.write(USART2_SR, TC | TXE | RXNE | ORE)  # a byte, and one before it was lost
            injector.pend(USART2_LINE)
            assert guest.expect(records=str(count))["overrun"] == str(count)
        injector.write(USART2_SR, TC | TXE)
        guest.send(b"J")
        assert guest.expect(records="6")["overrun"] == "5"
