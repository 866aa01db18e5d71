"""What two operations of each RTOS take on bare metal and as a guest, in instructions, with trees
that a user gives: `RTOS_TREES=FOLDER make bench`.

A take that waits ends in the other task; a give ends in the more urgent task that waited. Both
tasks hold values in registers, S16-S31 among them where there is an FPU. Samples with a tick in
them are left out: how often one falls is the clock's matter, and what it takes is measured
elsewhere (`tick` and `kernel_tick` of docs/benchmarks.md)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.build import bare_image, system_image
from benchmarks.counting import Image
from benchmarks.counting import measure as counted
from benchmarks.document import write_between
from benchmarks.machines import MACHINES
from benchmarks.operations import Operation
from benchmarks.samples import Figures
from tests.rtos.demonstration import Rtos, bare_elf, every, guest_system

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "rtos-patches" / "README.md"
BEGIN, END = "<!-- exchanges: written by `make bench` -->", "<!-- end of exchanges -->"
OPERATIONS = [
    Operation("take", "a take that waits, to the other task", "take_start", "take_stop", ""),
    Operation("give", "a give, to the task that waited", "give_start", "give_stop", ""),
]
# The authors' own system in the same QEMU, GCC 12.2 -O3, netduinoplus2: a semaphore to who waits.
AUTHORS = {("RMP", "cm4f", "give"): "141 -> 244, 1.73"}
SAMPLES = 300  # of each; the demonstration has 500 before its timer runs


@dataclass(frozen=True)
class Exchange:
    """One operation of an RTOS on a core."""

    rtos: str
    core: str
    operation: str
    bare: Figures
    guest: Figures

    @property
    def ratio(self) -> float:
        """Of instructions."""
        return self.guest.mean / self.bare.mean

    @property
    def cycles(self) -> float:
        """Of estimated cycles, which know that an exception is no call."""
        return self.guest.est_cycles / self.bare.est_cycles


def measure(rtos: Rtos, folder: Path) -> list[Exchange]:
    """Both operations on both sides."""
    bare = _count(rtos, bare_image(bare_elf(rtos, folder)), folder)
    guest = _count(rtos, system_image(guest_system(rtos, folder / "system").folder), folder)
    return [Exchange(rtos.name, rtos.machine.core, name, bare[name], guest[name]) for name in bare]


def _count(rtos: Rtos, image: Image, folder: Path) -> dict[str, Figures]:
    machine = next(it for it in MACHINES.values() if it.qemu == rtos.machine.board)
    spans = counted(machine, image, OPERATIONS, SAMPLES, folder)
    return {name: span.figures for name, span in spans.items() if span.figures is not None}


def table(found: list[Exchange]) -> Iterator[str]:
    """For the document."""
    yield "| RTOS | core | operation | bare | guest | ratio | est_cycles | ratio | authors |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for it in found:
        cells = [it.rtos, it.core, f"`{it.operation}`", f"{it.bare.mean:.0f}"]
        cells += [f"{it.guest.mean:.0f}", f"{it.ratio:.2f}"]
        cells += [f"{it.bare.est_cycles:.0f} -> {it.guest.est_cycles:.0f}", f"{it.cycles:.2f}"]
        cells.append(AUTHORS.get((it.rtos, it.core, it.operation), ""))
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Every RTOS whose trees are there, on each of its cores; the others are named."""
    found: list[Exchange] = []
    for rtos in every():
        if missing := rtos.missing():
            print(f"{rtos}: not measured: {missing}", flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            here = measure(rtos, Path(folder))
        for it in here:
            print(
                f"{rtos}: {it.operation} {it.bare.mean:.1f} -> {it.guest.mean:.1f} instructions, "
                f"{it.ratio:.2f}; {it.bare.est_cycles:.0f} -> {it.guest.est_cycles:.0f} "
                f"est_cycles, {it.cycles:.2f}",
                flush=True,
            )
        found += here
    if found:
        _write(found)


def _write(found: list[Exchange]) -> None:
    out = ROOT / "build" / "bench" / "rtos.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "rtos": it.rtos, "core": it.core, "operation": it.operation,
            "bare": round(it.bare.mean, 1), "guest": round(it.guest.mean, 1),
            "ratio": round(it.ratio, 3), "bare_est_cycles": round(it.bare.est_cycles, 1),
            "guest_est_cycles": round(it.guest.est_cycles, 1), "cycles_ratio": round(it.cycles, 3),
        }
        for it in found
    ]  # fmt: skip
    out.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    write_between(DOCUMENT, BEGIN, END, ["", *table(found), ""])


if __name__ == "__main__":
    main()
