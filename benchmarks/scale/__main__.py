"""How the cost of operations grows with a system, and how the latency of an interrupt varies under
load; see docs/scaling.md.

    python -m benchmarks.scale                                all of it
    python -m benchmarks.scale --on cm4f --only latency --no-write

Writes build/bench/scale.json and latency.json, and into docs/benchmarks pictures and tables.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence

import click

from benchmarks.build import ROOT, Configuration
from benchmarks.machines import Machine
from benchmarks.profile import in_order
from benchmarks.scale.curves import curves
from benchmarks.scale.determinism import Experiment, experiment
from benchmarks.scale.results import (
    curve_table,
    draw_curves,
    draw_latency,
    figures_record,
    idle_table,
    latency_record,
    latency_table,
    verdict,
    write_sections,
)
from benchmarks.scale.shape import CORES
from scanner.report.errors import FvmError

RESULTS = ROOT / "build" / "bench"
DOCS = ROOT / "docs" / "benchmarks"
PICTURED = "cm4f"
CYCLES = 168_000  # of a tick: 1 kHz on the chip of the example
KINDS = ("curves", "latency")


def _curves(machine: Machine, count: int, ticks: int, write: bool) -> tuple[object, list[str]]:
    core = machine.core
    found = curves(machine, count, ticks)
    if write and core == PICTURED:
        draw_curves(core, found, DOCS)
    lines = []
    for dimension, points in found.items():
        lines += [*curve_table(core, dimension, points), ""]
    lines += [*idle_table(core, found["vms"], CYCLES), ""]
    record = {
        dimension: {
            str(point.size): {name: figures_record(f) for name, f in point.figures.items()}
            for point in points
        }
        for dimension, points in found.items()
    }
    return record, lines


def _latency(machine: Machine, count: int, write: bool, slowest: bool) -> tuple[object, list[str]]:
    core = machine.core
    found = experiment(Configuration(machine, "2"), count)
    if write and core == PICTURED:
        draw_latency(core, found, DOCS)
    lines = [*latency_table(core, found), "", *(f"- {core}: {line}" for line in verdict(found)), ""]
    if slowest:
        lines += _where(found)
    record = {
        f"{side}-{load}": latency_record(latency)
        for (side, load), latency in found.latencies.items()
    }
    return record | {"stub": found.usual_stub, "longest_stub": found.longest_stub}, lines


def _where(found: Experiment) -> Iterator[str]:
    """The way of the slowest sample under the flood."""
    yield "slowest sample in a virtual machine, flooded:"
    yield from in_order(found.images["virtual"], found.latencies["virtual", "flooded"].slowest)


def _store(name: str, results: dict[str, object]) -> None:
    """Results of cores that were not measured now stay."""
    file = RESULTS / name
    before = json.loads(file.read_text("utf-8")) if file.exists() else {}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(before | results, indent=1) + "\n", "utf-8")


def _run(
    kind: str, cores: Sequence[str], measure: Callable[[Machine], tuple[object, list[str]]]
) -> dict[str, list[str]]:
    results: dict[str, object] = {}
    text: dict[str, list[str]] = {}
    for core in cores:
        results[core], text[core] = measure(CORES[core])
        print("\n".join(text[core]))
    _store({"curves": "scale.json", "latency": "latency.json"}[kind], results)
    return text


@click.command()
@click.option("--on", "cores", multiple=True, default=list(CORES), help="cm3, cm4f or cm7")
@click.option("--only", type=click.Choice(KINDS), help="a part of it")
@click.option("--count", default=2000, help="samples of an operation")
@click.option("--latencies", default=60_000, help="samples of each latency")
@click.option("--ticks", default=200, help="samples of operations that take a kernel tick")
@click.option("--write/--no-write", default=True, help="write pictures and tables into docs")
@click.option("--slowest", is_flag=True, help="where the slowest interrupt spent its instructions")
def main(
    cores: tuple[str, ...],
    only: str | None,
    count: int,
    latencies: int,
    ticks: int,
    write: bool,
    slowest: bool,
) -> None:
    """Measure systems of growing size, and latencies under load."""
    kinds = [only] if only else KINDS
    for kind in kinds:
        if kind == "curves":
            text = _run(kind, cores, lambda machine: _curves(machine, count, ticks, write))
        else:
            text = _run(kind, cores, lambda machine: _latency(machine, latencies, write, slowest))
        if write:
            write_sections(DOCS / f"{kind}.md", text)


if __name__ == "__main__":
    try:
        main()
    except FvmError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
