"""A trace as lanes: who ran when, and what happened to whom. The unit is the instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from composer.chips.chip import load_chip
from composer.description.model import Place
from composer.image.composed import SYSTEM_FILE, Composed
from composer.simulate.calls import call_names
from composer.simulate.kernel_map import VM_THREADS
from composer.simulate.places import Places
from composer.simulate.shared import Kind
from composer.simulate.tracer import NOBODY, Event, Trace

IDLE = "idle"  # row of the idle thread
MARKED = (Kind.LINE, Kind.CALL, Kind.RESTART)  # besides the stops
EXCEPTIONS = {3: "hard fault", 4: "memory fault", 5: "bus fault", 6: "usage fault"}


class Slice(NamedTuple):
    """Code of a lane ran from `start` to `end`; row: VCT or USR of a VM, idle, else ''."""

    start: int
    end: int
    lane: int
    row: str


class Mark(NamedTuple):
    """Something happened at an instant; `lane` is whom it concerns."""

    at: int
    kind: Kind
    lane: int
    text: str


@dataclass(frozen=True)
class Told:
    """What the kernel's log said of a stop."""

    domain: str
    sentence: str


@dataclass(frozen=True)
class Timeline:
    """A trace in words. `stops` are known from the whole run, all else as long as events are."""

    system: str
    trace: Trace
    slices: tuple[Slice, ...]
    marks: tuple[Mark, ...]
    stops: tuple[Mark, ...]

    @property
    def lanes(self) -> tuple[int, ...]:
        """The lanes that are to be seen: nobody's code only if some ran."""
        nobody = len(self.trace.lanes) - 1
        return tuple(i for i in range(nobody + 1) if i != nobody or self.trace.executed[i])

    def is_vm(self, lane: int) -> bool:
        """Whether a lane has a row for VCT and one for USR."""
        return any(t.domain + 1 == lane and t.name in VM_THREADS for t in self.trace.threads)

    @property
    def span(self) -> tuple[int, int]:
        """The instructions between which events are known."""
        if not self.slices:
            return 0, max(self.trace.instructions, 1)
        return self.slices[0].start, max(self.trace.instructions, self.slices[0].start + 1)


class Words:
    """Events in the words of the system: lines, calls, functions."""

    def __init__(self, system: Composed, trace: Trace) -> None:
        self._system = system
        self._trace = trace
        self._places = Places(system)
        self._lines = _lines(system)
        self._functions: dict[tuple[int, int], str] = {}

    def entry(self, kind: Kind, argument: int | None) -> str:
        """What made the processor enter the kernel."""
        if kind is Kind.CALL:
            return "call" if argument is None else call_names().get(argument, f"call {argument}")
        if kind is Kind.LINE:
            return (
                "interrupt" if argument is None else self._lines.get(argument, f"line {argument}")
            )
        if kind is Kind.TICK:
            return "tick"
        if kind is Kind.DEFERRED:
            return "deferred work"
        if kind is Kind.RESET:
            return "reset"
        return EXCEPTIONS.get(argument or 0, "fault" if kind is Kind.FAULT else "exception")

    def event(self, event: Event) -> str:
        """One line's worth."""
        place = self.function(event.lane, event.pc)
        inside = f" in {place}" if place else ""
        if event.kind is Kind.LANE:
            return f"{self._trace.lanes[event.lane]} runs{inside}"
        if event.kind is Kind.SWITCH:
            return f"switch to {self.thread(event.argument)}"
        if event.kind is Kind.CRIME:
            return f"stop of {self.thread(event.argument)}"
        if event.kind is Kind.RESTART:
            return f"restart of {self._trace.lanes[lane_of_restart(event, self._trace)]}"
        if event.kind is Kind.CALL:
            return f"hypercall {self.entry(event.kind, event.argument)}"
        if event.kind is Kind.LINE:
            return f"interrupt {self.entry(event.kind, event.argument)}{inside}"
        return f"{self.entry(event.kind, event.argument)}{inside}"

    def thread(self, index: int | None) -> str:
        """`motor-controller USR`."""
        if index is None or index >= len(self._trace.threads):
            return "a thread"
        thread = self._trace.threads[index]
        return f"{self._trace.lanes[thread.domain + 1]} {thread.name}"

    def holds(self, lane: int, pc: int) -> bool:
        """Whether the address is in a lane's program."""
        name = self._trace.lanes[lane]
        return name != NOBODY and self._places.code(name).holds(pc)

    def function(self, lane: int, pc: int) -> str:
        """Function of a lane's program, '' if there is none."""
        if (lane, pc) not in self._functions:
            inside = self.holds(lane, pc)
            code = self._places.code(self._trace.lanes[lane]) if inside else None
            self._functions[lane, pc] = "" if code is None else code.function(pc) or ""
        return self._functions[lane, pc]


def _lines(system: Composed) -> dict[int, str]:
    """Line -> name."""
    chip = load_chip(system.chip, Place(str(system.folder / SYSTEM_FILE)))
    return {line: name for name, line in chip.interrupts.items()}


def lane_of_restart(event: Event, trace: Trace) -> int:
    """Domains are lanes 1 to the last but one."""
    return min((event.argument or 0) + 1, len(trace.lanes) - 1)


def lane_of_mark(event: Event, trace: Trace) -> int:
    """Whom an event concerns: calls their caller, stops their domain, interrupts the kernel."""
    if event.kind is Kind.CALL:
        return event.lane
    if event.kind is Kind.RESTART:
        return lane_of_restart(event, trace)
    if event.kind is not Kind.CRIME or event.argument is None:
        return 0
    known = event.argument < len(trace.threads)
    return trace.threads[event.argument].domain + 1 if known else 0


def _rows(trace: Trace) -> dict[tuple[int, int | None], str]:
    """(lane, thread) -> the row of the lane that is the thread's."""
    rows: dict[tuple[int, int | None], str] = {}
    for index, thread in enumerate(trace.threads):
        row = thread.name if thread.name in VM_THREADS else ""
        rows[thread.domain + 1, index] = IDLE if thread.idle else row
    return rows


def _slices(trace: Trace) -> Iterator[Slice]:
    rows = _rows(trace)
    start, lane, thread = None, 0, None
    for event in trace.events:
        if event.kind is Kind.SWITCH:
            thread = event.argument
        if event.kind in (Kind.CRIME, Kind.RESTART, Kind.SWITCH):
            continue
        now = event.lane if event.kind is Kind.LANE else 0
        if start is not None and now == lane:
            continue
        if start is not None and event.at > start:
            yield Slice(start, event.at, lane, rows.get((lane, thread), ""))
        start, lane = event.at, now
    if start is not None and trace.instructions > start:
        yield Slice(start, trace.instructions, lane, rows.get((lane, thread), ""))


def _stops(words: Words, trace: Trace, faults: Sequence[Told]) -> Iterator[Mark]:
    """The log is behind the run and may end before: a stop that it doesn't tell has plain words."""
    waiting = list(reversed(faults))
    for event in trace.stops:
        lane = lane_of_mark(event, trace)
        told = waiting and waiting[-1].domain == trace.lanes[lane]
        text = waiting.pop().sentence if told else words.event(event)
        yield Mark(event.at, event.kind, lane, text)


def make_timeline(system: Composed, trace: Trace, faults: Sequence[Told] = ()) -> Timeline:
    """The lanes of a trace. `faults` are those of the log, in their order and with no gap."""
    words = Words(system, trace)
    stops = tuple(_stops(words, trace, faults))
    marks = (
        Mark(event.at, event.kind, lane_of_mark(event, trace), words.event(event))
        for event in trace.events
        if event.kind in MARKED
    )
    return Timeline(system.name, trace, tuple(_slices(trace)), (*marks, *stops), stops)
