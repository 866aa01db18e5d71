"""Physical lines, moved by the outside world: delivery under masks, service before reopening,
disable and enable, clearing, reboot, and lines of a process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.support.built import Built
from tests.support.machine import Machine

CONSOLES = {"commands": 1, "maskable": 2, "transparent": 3, "echo": 4}
SETTLE = 0.1  # seconds for a byte to get through the simulated USART
PATIENCE = 120.0


@dataclass(frozen=True)
class State:
    """How often each handler ran, how many bytes it took, and whether USART2's vector pends."""

    runs2: int
    bytes2: int
    runs3: int
    bytes3: int
    pending2: int


class Guest:
    """The VM by its command line, and the two lines that it serves."""

    def __init__(self, machine: Machine) -> None:
        self.console = machine.console

    def command(self, letter: bytes) -> State:
        """Gives a command; the state after it."""
        commands = self.console["commands"]
        commands.send(letter)
        lines = commands.read_until(lambda line: line == ".", PATIENCE)
        return State(*(int(line.split("=")[1]) for line in lines[:-1]))

    def byte(self, line: str) -> State:
        """Sends a byte to a line; the state when it had time to arrive."""
        self.console[line].send(b"#")
        time.sleep(SETTLE)
        return self.command(b"s")

    def expect(self, change: Callable[[State], bool]) -> State:
        """Waits for a state."""
        end = time.monotonic() + PATIENCE
        while not change(state := self.command(b"s")):
            assert time.monotonic() < end, state
        return state


@pytest.fixture(scope="module")
def machine(system: Callable[[str], Built]) -> Iterator[Machine]:
    with Machine(system("lines").elf, CONSOLES) as running:
        running.console["commands"].wait_ready()
        running.console["echo"].wait_ready()
        yield running


@pytest.fixture
def guest(machine: Machine) -> Guest:
    """A VM that has just started."""
    machine.console["commands"].send(b"r")
    machine.console["commands"].wait_ready()
    return Guest(machine)


def test_a_line_is_delivered_and_reopened_after_service(guest: Guest) -> None:
    for count in (1, 2, 3):
        guest.byte("maskable")
        wanted = State(count, count, 0, 0, 0)
        assert guest.expect(wanted.__eq__) == wanted


def test_basepri_holds_the_maskable_line_only(guest: Guest) -> None:
    guest.command(b"b")
    guest.byte("maskable")
    guest.byte("transparent")
    assert guest.expect(lambda s: s.runs3 == 1 and s.pending2 == 1) == State(0, 0, 1, 1, 1)
    assert guest.command(b"u") == State(1, 1, 1, 1, 0)


def test_primask_holds_both(guest: Guest) -> None:
    guest.command(b"p")
    guest.byte("maskable")
    guest.byte("transparent")
    assert guest.expect(lambda s: s.pending2 == 1) == State(0, 0, 0, 0, 1)
    guest.command(b"u")
    assert guest.expect(lambda s: s.runs2 == s.runs3 == 1) == State(1, 1, 1, 1, 0)


def test_a_disabled_line_stays_pending_in_the_peripheral(guest: Guest) -> None:
    guest.command(b"d")
    assert guest.byte("maskable") == State(0, 0, 0, 0, 0)
    guest.command(b"e")
    assert guest.expect(lambda s: s.runs2 == 1) == State(1, 1, 0, 0, 0)


def test_a_closed_vm_latches_and_is_told_when_it_opens(guest: Guest) -> None:
    guest.command(b"x")
    guest.byte("maskable")
    assert guest.expect(lambda s: s.pending2 == 1) == State(0, 0, 0, 0, 1)
    assert guest.command(b"y") == State(1, 1, 0, 0, 0)


def test_a_line_still_asserted_after_service_fires_again(guest: Guest) -> None:
    guest.command(b"l")
    guest.byte("maskable")
    assert guest.expect(lambda s: s.bytes2 == 1) == State(6, 1, 0, 0, 0)


def test_a_line_that_its_handler_disabled_is_not_reopened_by_service(guest: Guest) -> None:
    guest.command(b"o")
    guest.byte("maskable")
    assert guest.expect(lambda s: s.runs2 == 1) == State(1, 1, 0, 0, 0)
    assert guest.byte("maskable") == State(1, 1, 0, 0, 0)
    guest.command(b"o")
    guest.command(b"e")
    assert guest.expect(lambda s: s.runs2 == 2) == State(2, 2, 0, 0, 0)


def test_enabling_doesnt_reopen_a_line_before_its_service(guest: Guest) -> None:
    guest.command(b"b")
    guest.byte("maskable")
    guest.expect(lambda s: s.pending2 == 1)
    guest.command(b"d")
    assert guest.command(b"e") == State(0, 0, 0, 0, 1)
    assert guest.command(b"u") == State(1, 1, 0, 0, 0)


def test_a_cleared_vector_doesnt_run_and_its_line_lives_on(guest: Guest) -> None:
    guest.command(b"b")
    guest.byte("maskable")
    guest.expect(lambda s: s.pending2 == 1)
    assert guest.command(b"c") == State(0, 0, 0, 0, 0)
    assert guest.command(b"u") == State(0, 0, 0, 0, 0)
    guest.byte("maskable")
    assert guest.expect(lambda s: s.runs2 == 1) == State(1, 1, 0, 0, 0)


def test_a_reboot_forgets_what_was_latched(guest: Guest) -> None:
    guest.command(b"b")
    guest.byte("maskable")
    guest.expect(lambda s: s.pending2 == 1)
    guest.console["commands"].send(b"r")
    guest.console["commands"].wait_ready()
    # The byte is still in the peripheral, which asserts its line when the new guest enables it.
    assert guest.expect(lambda s: s.runs2 == 1) == State(1, 1, 0, 0, 0)


def test_a_process_serves_its_own_line(machine: Machine) -> None:
    echo = machine.console["echo"]
    for byte in b"any byte":
        echo.send(bytes([byte]))
        assert echo.read_line(PATIENCE) == f"byte={byte}"


def test_a_process_that_faults_is_restarted_and_gets_its_line_back(machine: Machine) -> None:
    echo = machine.console["echo"]
    echo.send(b"!")
    echo.wait_ready()
    echo.send(b"b")
    assert echo.read_line(PATIENCE) == f"byte={ord('b')}"
