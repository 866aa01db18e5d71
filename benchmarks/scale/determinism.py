"""The latency of an interrupt, from its trigger to the task that it wakes, with and without a flood
of interrupts that are less important: on bare metal, and in a machine beside a less urgent one.

The timer that triggers runs for a fixed number of cycles from where the task starts it. Nothing
sleeps while it runs, so that is a fixed number of instructions, the usual one from the start to the
exception's entry; what is more until the task goes on is latency.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import log2
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks.build import ROOT, Configuration, build_bare, build_virtual
from benchmarks.counting import Image, measure
from benchmarks.operations import LEFT, LINE, Operation
from benchmarks.samples import Span
from benchmarks.scale.shape import HERE, describe, put, put_common, put_freertos, with_constants

SHIFT = 4  # an instruction takes 16 ns
CLOCK_HZ = 25_000_000
STARTING = 100  # samples that don't count: not everything has started yet
FLOOD_CYCLES = 2251  # 11,106 interrupts a second, in no simple relation to anything else
ENTRY = "entry"  # of the exception that is measured
WAY = Operation("way", "timer started to task", "armed", "task", "latency")
ARRIVAL = Operation("arrival", "timer started to exception", "armed", ENTRY, "latency")
FLOOD = Operation("flood", "from one handler of the flood to the next", "flood", "flood", "latency")
STUB = Operation("stub", "a line's exception until the kernel leaves it", LINE, LEFT, "latency")


@dataclass(frozen=True)
class Latency:
    """Instructions from the trigger to the task; `rate`: interrupts of the flood a second."""

    samples: npt.NDArray[np.int64]
    rate: float
    slowest: tuple[int, ...]  # addresses of instructions, from the start of the timer on

    @property
    def counts(self) -> dict[int, int]:
        """How often each number was seen."""
        return dict(Counter(int(sample) for sample in self.samples))

    @property
    def entropy(self) -> float:
        """Of the distribution, in bits: 0 if the latency is always the same."""
        shares = [count / len(self.samples) for count in self.counts.values()]
        return abs(sum(share * log2(share) for share in shares))


@dataclass(frozen=True)
class Experiment:
    """The four runs: quiet and flooded, bare and virtual. `stubs`: instructions of the kernel for
    each interrupt of the last."""

    latencies: dict[tuple[str, str], Latency]
    images: dict[str, Image]
    stubs: npt.NDArray[np.int64]

    @property
    def usual_stub(self) -> int:
        """As most are."""
        return _usual(self.stubs)

    @property
    def longest_stub(self) -> int:
        """It comes when the kernel is about to change what runs already."""
        return int(self.stubs.max())


@dataclass(frozen=True)
class _Built(Configuration):
    @property
    def folder(self) -> Path:
        return ROOT / "build/bench" / f"latency-{self.name}"


def _assemble(configuration: _Built) -> None:
    folder, latency = configuration.folder, HERE / "latency"
    for source in latency.rglob("*.[ch]"):
        put(folder / source.relative_to(latency), source.read_bytes())
    put_common(folder)
    for source in (HERE.parent / "application/startup").iterdir():
        put(folder / "application/startup" / source.name, source.read_bytes())
    put_freertos(folder / "application", configuration.machine.port)
    for template in ("system.xml", "application/Makefile"):
        text = describe(f"latency/{template}.j2", machine=configuration.machine)
        put(folder / template, text)


def _mark_entry(image: Image, part: str, name: str) -> None:
    image.symbols.marks[ENTRY] = {image.symbols.objects[part, name] & ~1}


def _spans(
    configuration: _Built, image: Image, flood: int, count: int, *operations: Operation
) -> dict[str, Span]:
    folder = configuration.folder
    told = with_constants(image, folder, {"flood_cycles": flood})
    return measure(configuration.machine, told, operations, count, folder)


def _instructions(span: Span) -> npt.NDArray[np.int64]:
    found: npt.NDArray[np.int64] = span.samples["instructions"][STARTING:].astype(np.int64)
    return found


def _usual(samples: npt.NDArray[np.int64]) -> int:
    return Counter(int(sample) for sample in samples).most_common(1)[0][0]


def experiment(configuration: Configuration, count: int) -> Experiment:
    """At least `count` samples of each of the four."""
    machine = replace(configuration.machine, shift=SHIFT)
    built = _Built(machine, configuration.level)
    _assemble(built)
    images = {"bare": build_bare(built), "virtual": build_virtual(built)}
    _mark_entry(images["bare"], "bare", "TIMER0_IRQHandler")
    _mark_entry(images["virtual"], "kernel", "line_stub")
    latencies, stubs = {}, np.zeros(0, dtype=np.int64)
    for side, image in images.items():
        quiet = _spans(built, image, 0, count + STARTING, WAY, ARRIVAL)
        way = _usual(_instructions(quiet["arrival"]))
        outside = (STUB,) if image.kernel else ()
        flooded = _spans(built, image, FLOOD_CYCLES, count + STARTING, WAY, FLOOD, *outside)
        if outside:
            stubs = _instructions(flooded["stub"])
        distance = float(_instructions(flooded["flood"]).mean())
        rate = 1e9 / 2**SHIFT / distance
        for load, spans, often in (("quiet", quiet, 0.0), ("flooded", flooded, rate)):
            samples = _instructions(spans["way"]) - way
            latencies[side, load] = Latency(samples, often, spans["way"].slowest[way:])
    return Experiment(latencies, images, stubs)
