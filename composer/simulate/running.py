"""A linked system in QEMU: what its VMs say, and what its kernel says of them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from composer.image.composed import SYSTEM_FILE, Composed, ram_bank
from composer.simulate.image import open_image
from composer.simulate.log import TEXT, LineReader, Record
from composer.simulate.machine import Machine
from composer.simulate.places import Places
from composer.simulate.sentences import sentence, writing
from composer.simulate.transcript import Transcript
from composer.simulate.wiring import KERNEL, Line, board_lines, connect
from scanner.report.errors import FvmError


@dataclass(frozen=True)
class Output:
    """Bytes from the console of a VM."""

    name: str
    data: bytes


@dataclass(frozen=True)
class Logged:
    """A line of the kernel's log; faults and what VMs wrote come as a sentence."""

    record: Record
    sentence: str


class Running:
    """QEMU, and the reader of the kernel's log. `transcript` has all that was said so far."""

    def __init__(
        self, machine: Machine, lines: Sequence[Line], system: Composed, transcript: Transcript
    ) -> None:
        self.machine = machine
        self.lines = lines
        self.transcript = transcript
        self._system = system
        self._places = Places(system)
        self._log = LineReader()

    def poll(self, seconds: float) -> list[Output | Logged]:
        """What happened, after waiting at most `seconds`; FvmError when QEMU failed."""
        events: list[Output | Logged] = []
        for name, data in self.machine.poll(seconds):
            if name == KERNEL:
                for record in self._log.feed(data):
                    words = self._words(record)
                    events.append(Logged(record, words))
                    self.transcript.logged(record, words)
            else:
                events.append(Output(name, data))
                self.transcript.said(name, data)
        if not events:
            self.machine.has_ended()
        return events

    def _words(self, record: Record) -> str:
        if record.kind == TEXT:
            return writing(record, self._places)
        return sentence(record, self._places) if record.kind == "fault" else record.text

    def send(self, name: str, data: bytes) -> None:
        """Type on the console of a VM."""
        self.machine.send(name, data)
        self.transcript.typed(name, data)

    def dump_ram(self, file: Path) -> None:
        """Write all of the chip's RAM as it is now; `fvmkit report --ram` reads it."""
        bank = ram_bank(self._system.folder)
        self.machine.monitor.dump(bank.base, bank.size, file)


@contextmanager
def start(
    target: Path, wishes: Sequence[str], arguments: Sequence[str], inherited: Sequence[int] = ()
) -> Iterator[Running]:
    """Run an image; see `fvmkit run` for the parameters, and Machine for `inherited`."""
    image, system = open_image(target)
    if system.board is None:
        raise FvmError(
            "names no board, so there is nothing to run it on",
            file=system.folder / SYSTEM_FILE,
            hint='add board="..." to the description and compose again',
        )
    lines = connect(board_lines(system, system.board), wishes)
    transcript = Transcript(system.name, hashlib.sha256(image.read_bytes()).hexdigest())
    with Machine(image, system.board.machine, lines, arguments, inherited) as machine:
        yield Running(machine, lines, system, transcript)
