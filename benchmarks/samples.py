"""What the counting plugin wrote: the samples of each span, and the path of two of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from scanner.report.errors import InternalError

WARM_UP = 8  # samples that don't count: caches of the RTOS's lists, first starts of tasks
SAMPLE = np.dtype(
    [(name, "<u4") for name in ("instructions", "exceptions", "loads", "stores", "ticks")]
)
ENTRY_CYCLES, RETURN_CYCLES = 12, 10


@dataclass(frozen=True)
class Figures:
    """Of one operation on one side. `disturbed`: samples with a kernel tick in them, left out."""

    count: int
    mean: float
    least: int
    most: int
    exceptions: float
    words: float
    disturbed: int
    most_disturbed: int

    @property
    def est_cycles(self) -> float:
        """An instruction 1, a word loaded or stored 1 more, an exception 12 in and 10 out. `words`
        has those that the processor moves for the FPU."""
        return self.mean + self.words + self.exceptions * (ENTRY_CYCLES + RETURN_CYCLES)


@dataclass(frozen=True)
class Span:
    """All that is known of one operation on one side; paths are addresses of instructions."""

    samples: npt.NDArray[Any]
    typical: tuple[int, ...]
    slowest: tuple[int, ...]

    @property
    def figures(self) -> Figures | None:
        """Over the samples after the first ones; None if there are none."""
        ticked = self.samples["ticks"] != 0
        whole, cut = self.samples[~ticked][WARM_UP:], self.samples[ticked]
        if not len(whole):
            return None
        count = whole["instructions"]
        return Figures(
            count=len(whole),
            mean=float(count.mean()),
            least=int(count.min()),
            most=int(count.max()),
            exceptions=float(whole["exceptions"].mean()),
            words=float((whole["loads"].astype(float) + whole["stores"]).mean()),
            disturbed=len(cut),
            most_disturbed=int(cut["instructions"].max()) if len(cut) else 0,
        )


def decode(path: Path) -> list[Span]:
    """The spans in the order of the configuration."""
    content = path.read_bytes()
    place = 0

    def take(kind: np.dtype[Any], count: int) -> npt.NDArray[Any]:
        nonlocal place
        size = kind.itemsize * count
        if place + size > len(content):
            raise InternalError("is shorter than it says", file=path)
        taken = np.frombuffer(content, kind, count, place)
        place += size
        return taken

    word = np.dtype("<u4")
    spans = []
    for _ in range(int(take(word, 1)[0])):
        samples = take(SAMPLE, int(take(word, 1)[0]))
        paths = [tuple(map(int, take(word, int(take(word, 1)[0])))) for _ in range(2)]
        spans.append(Span(samples, *paths))
    if place != len(content):
        raise InternalError("is longer than it says", file=path)
    return spans
