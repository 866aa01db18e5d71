"""Both console interrupts of the example are served in three sections: what that is worth when
characters and other interrupts come as fast as they can."""

from __future__ import annotations

import re
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from composer.image.composed import read_composed
from composer.simulate.shared import Kind
from composer.simulate.tracer import Entered, Lengths, Span, Tracer
from tests.support.example import CONSOLES, MOTOR, SENSOR
from tests.support.injector import Injector
from tests.support.machine import Machine
from tests.system.road import COUNTED, Road

CPU_HZ, BAUD, BITS = 168_000_000, 115_200, 10
INSTRUCTIONS_A_CHARACTER = CPU_HZ * BITS // BAUD  # at best: one a cycle
LINES = {MOTOR: ("USART1", 37, "motor-serial"), SENSOR: ("USART2", 38, "sensor-serial")}
BLOCK = ("waiting", "records", "posted", "postponed", "dropped", "lost", "overrun")
ROUNDS = 6
TEXT = "The-quick-brown-fox-jumps-over-the-lazy-dog-0123456789+*/"
STORM = 40  # interrupts for nothing while a line is typed
PATIENCE = 60.0
LONGEST_PATH = 150  # instructions


@dataclass(frozen=True)
class Flood:
    """What was seen: answers of each console, counters of each line, and where time went.

    First each console is typed at alone, while the other's line is pended for nothing as fast as
    this computer can; then both at once. QEMU's line has no bit rate: it brings the next character
    when the last one was read, so that at both at once the more urgent section would be asked for
    more than any line can bring, and the times of the other say nothing. They are taken before.
    """

    answers: dict[str, list[list[str]]]
    sent: dict[str, int]  # characters
    counters: dict[str, dict[str, int]]
    alone: dict[str, Lengths]  # from the stub to the first read
    longest_path: int


def first_read(road: Road, name: str) -> int:
    """Address of the instruction by which a mid-section reads the status register; that which reads
    the data register is three instructions further on."""
    line, _, process = LINES[name]
    source = road.out / "split" / name / f"{line.lower()}_mid.c"
    (number,) = (
        i for i, text in enumerate(source.read_text().splitlines(), 1)
        if f"record->SR = {line}_SR;" in text
    )  # fmt: skip
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-dl", "--no-show-raw-insn", road.elf(process)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    reads, here = [], False
    for text in listing.splitlines():
        if place := re.search(r"/([^/]+\.[ch]):(\d+)", text):
            here = (place[1], int(place[2])) == (source.name, number)
        elif here and (found := re.match(r"\s*([0-9a-f]+):\s+ldr[a-z.]*\s+r\d+, \[r", text)):
            reads.append(int(found[1], 16))
    return reads[0]


def counters(road: Road, injector: Injector, name: str) -> dict[str, int]:
    """The mid-section's counters, from the shared memory."""
    place = road.built.grant(name, "shared", f"{LINES[name][0]}_RING")
    words = struct.unpack(f"<{len(BLOCK)}I", injector.memory(place.start, 4 * len(BLOCK)))
    return dict(zip(BLOCK, words, strict=True))


@pytest.fixture(scope="module")
def flood(road: Road) -> Iterator[Flood]:
    injector = Injector(Path(tempfile.mkdtemp(prefix="fvm-")))
    spans = [Span(Entered(Kind.LINE, LINES[n][1]), first_read(road, n)) for n in CONSOLES]
    answers: dict[str, list[list[str]]] = {name: [] for name in CONSOLES}
    sent = dict.fromkeys(CONSOLES, 0)
    with (
        Tracer(read_composed(road.out), spans) as tracer,
        Machine(
            road.built.elf, CONSOLES, options=[*COUNTED, *tracer.arguments, *injector.options]
        ) as machine,
        injector,
    ):

        def say(name: str, text: str) -> None:
            command = f"echo {text}\r".encode()
            machine.console[name].send(command)
            sent[name] += len(command)

        def hear(name: str) -> None:
            lines = machine.console[name].read_until(lambda line: line == "ok", PATIENCE)
            answers[name].append(lines)

        for name in CONSOLES:
            machine.console[name].wait_ready(PATIENCE)
        alone = {}
        for name, other in ((SENSOR, MOTOR), (MOTOR, SENSOR)):  # the more urgent one last
            for turn in range(ROUNDS):
                say(name, TEXT[turn:])
                for _ in range(STORM):
                    injector.pend(LINES[other][1])
                hear(name)
            alone[name] = tracer.read().spans[list(CONSOLES).index(name)]
        for turn in range(ROUNDS):
            for name in CONSOLES:
                say(name, TEXT[turn:])
            for name in CONSOLES:
                hear(name)
        longest = tracer.read().longest_path
        assert longest is not None
        seen = {name: counters(road, injector, name) for name in CONSOLES}
        yield Flood(answers, sent, seen, alone, longest[1].longest)


@pytest.mark.parametrize("name", CONSOLES)
def test_nothing_is_lost_and_nothing_reordered(flood: Flood, name: str) -> None:
    assert flood.answers[name] == [[TEXT[turn:], "ok"] for turn in range(ROUNDS)] * 2
    counted = flood.counters[name]
    assert (counted["lost"], counted["dropped"], counted["overrun"]) == (0, 0, 0)


@pytest.mark.parametrize("name", CONSOLES)
def test_an_interrupt_for_nothing_is_posted_and_the_vm_answers(flood: Flood, name: str) -> None:
    counted = flood.counters[name]
    extra = counted["records"] - flood.sent[name]
    assert extra >= ROUNDS  # while the VM serves one its line is closed: no storm gets through
    assert counted["posted"] >= extra


@pytest.mark.parametrize("name", CONSOLES)
def test_the_vm_is_woken_for_frames_not_for_characters(flood: Flood, name: str) -> None:
    counted = flood.counters[name]
    extra = counted["records"] - flood.sent[name]
    assert counted["posted"] - extra < flood.sent[name] // 8


def test_no_entry_of_the_kernel_is_long(flood: Flood) -> None:
    assert flood.longest_path <= LONGEST_PATH


@pytest.mark.parametrize("name", CONSOLES)
def test_a_character_is_read_long_before_the_next_one_is_complete(flood: Flood, name: str) -> None:
    lengths = flood.alone[name]
    # Before its stub begins, an interrupt may have to wait for the longest path of the kernel.
    print(f"{name}: mean {lengths.mean:.0f}, longest {lengths.longest} + {flood.longest_path}")
    assert lengths.longest + flood.longest_path < INSTRUCTIONS_A_CHARACTER // 4
    assert lengths.count >= flood.sent[name] // 2
