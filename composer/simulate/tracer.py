"""Traces a system in QEMU: who runs, how the kernel is entered, how long that takes.

    wait = Span(Entered(Kind.LINE, 37), Read(0x40011004, handler))  # USART1, its data register
    with Tracer(system, spans=[wait]) as tracer:
        ...  # QEMU with tracer.arguments
        trace = tracer.read()  # at any time, and after QEMU's end
    print(trace.spans[0].longest, trace.longest_path)

An interrupt can have waited for the longest path before its entry: from the pin to the read it is
at most the sum of the two.

The unit is the executed instruction. Sleep takes none, so idle time doesn't show.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from composer.image.binary import read_binary
from composer.image.composed import Composed
from composer.simulate import shared
from composer.simulate.calls import find_calls
from composer.simulate.compile_plugin import compile_plugin
from composer.simulate.kernel_map import Thread, read_kernel_map
from composer.simulate.shared import ENTRY_KINDS, NONE, Kind
from scanner.report.errors import FvmError

EVENTS = 1 << 19  # in the ring, of 16 bytes each
NO_THREAD = 255  # before the first switch
NOBODY = "nobody's code"
KINDS = tuple(Kind)


@dataclass(frozen=True)
class Entered:
    """An entry of the kernel as the start of a span: a line, a system call, the tick (15)."""

    kind: Kind
    argument: int


@dataclass(frozen=True)
class Read:
    """A read of the word at an address, by an instruction in `code`, as the end of a span."""

    address: int
    code: range


@dataclass(frozen=True)
class Span:
    """The instructions from an address or an entry of the kernel up to `stop`, without that.

    When the start happens again before the stop, the first one counts: the longest wait.
    """

    start: int | Entered
    stop: int | Read

    def row(self) -> tuple[int, ...]:
        """As shared.SPAN begins."""
        start, kind, argument = (
            (0, self.start.kind, self.start.argument)
            if isinstance(self.start, Entered)
            else (self.start, Kind.LANE, 0)
        )
        if isinstance(self.stop, Read):
            code = self.stop.code
            return start, 0, code.start, code.stop, self.stop.address, kind, argument
        return start, self.stop, 0, 0, 0, kind, argument


@dataclass(frozen=True)
class Lengths:
    """Numbers of instructions; `longest_at`: when the longest one began. All 0 if count is."""

    count: int
    total: int
    longest: int
    longest_at: int
    shortest: int = 0
    longest_pc: int = 0  # of a path: the block that it interrupted
    longest_argument: int | None = None  # of a path: the line, call or exception
    # Of a path: where each of its blocks begins, and how many instructions of it were executed.
    longest_blocks: tuple[tuple[int, int], ...] = ()

    @property
    def mean(self) -> float:
        """Average, 0 if there was none."""
        return self.total / self.count if self.count else 0.0


class Event(NamedTuple):
    """One event. `at`: instructions executed before; `lane`: an index into Trace.lanes.

    LANE: code of `lane` runs from `pc` on. Entries: `lane` and the block at `pc` were interrupted,
    `argument` is the line, the system call or the exception. SWITCH: the thread that goes on.
    CRIME: the thread whose domain is stopped. RESTART: index of the domain. None: unknown.
    """

    at: int
    kind: Kind
    lane: int
    argument: int | None
    pc: int


@dataclass(frozen=True)
class Trace:
    """What was recorded so far. Counters cover the whole run, events only its last part."""

    lanes: tuple[str, ...]  # kernel, domains in the system's order, nobody's code
    threads: tuple[Thread, ...]
    instructions: int
    executed: tuple[int, ...]  # by lane
    happened: Mapping[Kind, int]
    paths: Mapping[Kind, Lengths]  # of the kernel, by the entry that began them
    spans: tuple[Lengths, ...]
    events: tuple[Event, ...]
    lost: int  # events that were older than the ring is long
    stops: tuple[Event, ...]  # the first CRIMEs, lost or not

    @property
    def longest_path(self) -> tuple[Kind, Lengths] | None:
        """The longest time without interrupts, the start of the system apart."""
        running = [item for item in self.paths.items() if item[0] is not Kind.RESET]
        return max(running, key=lambda item: item[1].longest, default=None)


class Tracer:
    """A context manager that owns the plugin and the file that it writes to."""

    def __init__(
        self, system: Composed, spans: Sequence[Span] = (), capacity: int = EVENTS
    ) -> None:
        """FvmError when the system isn't built, MissingError when nothing can compile."""
        self._map = read_kernel_map(system)
        self._system = system
        self._spans = tuple(spans)
        if len(self._spans) > shared.SPANS:
            raise FvmError(f"at most {shared.SPANS} spans can be measured at once")
        self._folder = tempfile.TemporaryDirectory(prefix="fvmkit-")
        try:
            self._file = Path(self._folder.name) / "trace"
            self._plugin = compile_plugin(Path(self._folder.name))
            self._header = shared.create(self._file, capacity)
            self._configure()
        except BaseException:
            self._folder.cleanup()
            raise

    def _configure(self) -> None:
        system, kernel = self._system, self._map
        lanes = [
            (part.of_kind("code")[0].base, part.of_kind("code")[0].end) for part in system.parts
        ]
        calls = sorted(
            found
            for part in system.domains
            for found in find_calls(read_binary(part.name, system.elf(part.name)))
        )
        watches = [
            (w.code.start, w.code.stop, w.data.start, w.data.stop, w.stride, w.kind)
            for w in kernel.watches
        ]
        self._fill("lane", lanes, shared.LANES - 1)
        self._fill(
            "entry", [(e.address, e.kind, e.argument) for e in kernel.entries], shared.ENTRIES
        )
        self._fill("call", calls[: shared.CALLS], shared.CALLS)
        self._fill("watch", watches, shared.WATCHES)
        self._fill("span", [span.row() for span in self._spans], shared.SPANS)
        self._header["thread"] = NO_THREAD
        self._header.flush()

    def _fill(self, name: str, rows: Sequence[tuple[int, ...]], limit: int) -> None:
        if len(rows) > limit:
            raise FvmError(f"has {len(rows)} of '{name}'; a trace has room for {limit}")
        plural = {"entry": "entries", "watch": "watches"}.get(name, f"{name}s")
        self._header[plural] = len(rows)
        for index, row in enumerate(rows):
            fields = shared.HEADER[name].base.names or ()
            for field, value in zip(fields, row, strict=False):
                self._header[name][field][0, index] = value

    @property
    def arguments(self) -> list[str]:
        """For QEMU's command line."""
        plugin, file = (str(p).replace(",", ",,") for p in (self._plugin, self._file))
        return ["-plugin", f"{plugin},trace={file}"]

    def read(self) -> Trace:
        """All that happened so far."""
        header = np.array(self._header)[0]
        names = [part.name for part in self._system.parts]
        events = shared.ring(self._file, self._header)
        stops = header["crime"][: int(header["happened"][Kind.CRIME])]
        running = int(header["running"])
        executed = [int(count) for count in header["executed"]]
        executed[running] += int(header["instructions"]) - int(header["since"])
        return Trace(
            lanes=(*names, NOBODY),
            threads=self._map.threads,
            instructions=int(header["instructions"]),
            executed=(*executed[: len(names)], executed[-1]),
            happened={kind: int(header["happened"][kind]) for kind in Kind},
            paths={
                kind: _lengths(header["path"][kind])
                for kind in ENTRY_KINDS
                if header["path"][kind]["count"]
            },
            spans=tuple(_lengths(row) for row in header["span"][: len(self._spans)]),
            events=tuple(_event(row, len(names)) for row in events.tolist()),
            lost=max(int(header["written"]) - len(events), 0),
            stops=tuple(_event(row, len(names)) for row in stops.tolist()),
        )

    def __enter__(self) -> Tracer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()


def _event(row: tuple[int, int, int, int, int], nobody: int) -> Event:
    at, pc, argument, kind, lane = row
    known = None if argument == NONE else argument
    return Event(at, KINDS[kind], min(lane, nobody), known, pc)


def _lengths(row: Any) -> Lengths:
    fields = row.dtype.names
    argument = int(row["longest_argument"]) if "longest_argument" in fields else NONE
    return Lengths(
        count=int(row["count"]),
        total=int(row["total"]),
        longest=int(row["longest"]),
        longest_at=int(row["longest_at"]),
        shortest=int(row["shortest"]) if "shortest" in fields else 0,
        longest_pc=int(row["longest_pc"]) if "longest_pc" in fields else 0,
        longest_argument=None if argument == NONE else argument,
        longest_blocks=_blocks(row) if "blocks" in fields else (),
    )


def _blocks(row: Any) -> tuple[tuple[int, int], ...]:
    found = row["block"][: int(row["blocks"])].tolist()
    ends = [at for _, at in found[1:]] + [int(row["longest"])]
    return tuple((pc, end - at) for (pc, at), end in zip(found, ends, strict=True))
