"""A linked system in QEMU: what its VMs say, and what its kernel says of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from composer.image.composed import SYSTEM_FILE
from composer.simulate.image import open_image
from composer.simulate.log import LineReader, Record
from composer.simulate.machine import Machine
from composer.simulate.places import Places
from composer.simulate.sentences import sentence
from composer.simulate.wiring import KERNEL, Line, board_lines, connect
from scanner.report.errors import FvmError


@dataclass(frozen=True)
class Output:
    """Bytes from the console of a VM."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Logged:
    """A line of the kernel's log; faults come as a sentence."""

    record: Record
    sentence: str


class Running:
    """QEMU, and the reader of the kernel's log."""

    def __init__(self, machine: Machine, lines: Sequence[Line], places: Places) -> None:
        self.machine = machine
        self.lines = lines
        self._places = places
        self._log = LineReader()

    def poll(self, seconds: float) -> list[Output | Logged]:
        """What happened, after waiting at most `seconds`; FvmError when QEMU failed."""
        events: list[Output | Logged] = []
        for name, data in self.machine.poll(seconds):
            if name == KERNEL:
                events += [Logged(record, self._words(record)) for record in self._log.feed(data)]
            else:
                events.append(Output(name, data))
        if not events:
            self.machine.check_alive()
        return events

    def _words(self, record: Record) -> str:
        return sentence(record, self._places) if record.kind == "fault" else record.text

    def send(self, name: str, data: bytes) -> None:
        """Type on the console of a VM."""
        self.machine.send(name, data)


@contextmanager
def start(target: Path, wishes: Sequence[str], arguments: Sequence[str]) -> Iterator[Running]:
    """Run an image; see `fvmkit run` for the parameters."""
    image, system = open_image(target)
    if system.board is None:
        raise FvmError(
            "names no board, so there is nothing to run it on",
            file=system.folder / SYSTEM_FILE,
            hint='add board="..." to the description and compose again',
        )
    lines = connect(board_lines(system, system.board), wishes)
    with Machine(image, system.board.machine, lines, arguments) as machine:
        yield Running(machine, lines, Places(system))
