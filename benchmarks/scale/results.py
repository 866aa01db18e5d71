"""Results as records, tables and pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.samples import Figures
from benchmarks.scale.curves import TEXT, Point
from benchmarks.scale.determinism import Experiment, Latency
from benchmarks.scale.plots import Histogram, curves, histograms

AXES = {
    "vms": "virtual machines",
    "tasks": "tasks of the guest",
    "vectors": "virtual vectors of the machine",
}
TICKS = ("tick", "tick_work", "tick_due", "tick_due_work")
WORK = ("tick_work", "tick_due_work")
SIDES = {"bare": "FreeRTOS on bare metal", "virtual": "the same in a virtual machine"}
LOADS = {"quiet": "without a flood", "flooded": "with a flood of the less urgent one"}
MEAN_GOAL = 0.02
_HEAD = "<!-- Written by python -m benchmarks.scale; see ../scaling.md. -->\n"


def figures_record(figures: Figures) -> dict[str, float]:
    """Of one operation."""
    return {
        "mean": round(figures.mean, 3),
        "min": figures.least,
        "max": figures.most,
        "exceptions": round(figures.exceptions, 3),
        "est_cycles": round(figures.est_cycles, 1),
        "samples": figures.count,
    }


def latency_record(latency: Latency) -> dict[str, object]:
    """Of one run, with its histogram."""
    samples = latency.samples
    return {
        "samples": len(samples),
        "mean": round(float(samples.mean()), 3),
        "median": float(np.median(samples)),
        "min": int(samples.min()),
        "max": int(samples.max()),
        "deviation": round(float(samples.std()), 3),
        "entropy": round(latency.entropy, 3),
        "flood_per_second": round(latency.rate),
        "histogram": {str(value): count for value, count in sorted(latency.counts.items())},
    }


def curve_table(core: str, dimension: str, points: Sequence[Point]) -> Iterator[str]:
    """Mean instructions, in columns of sizes."""
    yield f"| {core}, {AXES[dimension]} |" + "".join(f" {point.size} |" for point in points)
    yield "|---|" + "---|" * len(points)
    for name, text in TEXT.items():
        if any(name in point.figures for point in points):
            cells = [_cell(point.figures.get(name)) for point in points]
            yield f"| {text} |" + "".join(f" {cell} |" for cell in cells)


def _cell(figures: Figures | None) -> str:
    if figures is None:
        return "-"
    same = figures.least == figures.most
    return f"{figures.mean:.1f}" + ("" if same else f" (max {figures.most})")


def idle_table(core: str, points: Sequence[Point], cycles: int) -> Iterator[str]:
    """Which share of a tick's period is left when nothing but ticks happens."""
    yield f"| {core}, idle share at {cycles} cycles a tick |" + "".join(
        f" {point.size} VMs |" for point in points
    )
    yield "|---|" + "---|" * len(points)
    for name in WORK:
        cells = [
            f"{100 * (1 - point.figures[name].est_cycles / cycles):.2f} %"
            if name in point.figures
            else "-"
            for point in points
        ]
        yield f"| {TEXT[name]} |" + "".join(f" {cell} |" for cell in cells)


def latency_table(core: str, experiment: Experiment) -> Iterator[str]:
    """A row a run."""
    yield (
        f"| {core}, instructions from trigger to task | mean | median | min | max | deviation |"
        " entropy, bit | samples | flood/s |"
    )
    yield "|---|" + "---|" * 8
    for (side, load), latency in experiment.latencies.items():
        s = latency.samples
        yield (
            f"| {SIDES[side]}, {LOADS[load]} | {s.mean():.1f} | {np.median(s):.0f} | {s.min()} |"
            f" {s.max()} | {s.std():.1f} | {latency.entropy:.2f} | {len(s)} |"
            f" {latency.rate:.0f} |"
        )


def verdict(experiment: Experiment) -> Iterator[str]:
    """How far the flood moves mean and maximum, and whether the goal is met."""
    for side, text in SIDES.items():
        quiet = experiment.latencies[side, "quiet"].samples
        flooded = experiment.latencies[side, "flooded"].samples
        mean, most = flooded.mean() / quiet.mean() - 1, int(flooded.max()) - int(quiet.max())
        line = f"{text}: the flood moves the mean by {100 * mean:+.2f} %, the maximum by {most:+}"
        if side == "virtual":
            usual, longest = experiment.usual_stub, experiment.longest_stub
            met = mean <= MEAN_GOAL and most <= longest
            line += f"; goal 2 % and one stub (usually {usual} instructions, at most {longest}): "
            line += "met" if met else "MISSED"
        yield line


def draw_curves(core: str, found: Mapping[str, Sequence[Point]], folder: Path) -> None:
    """A picture for each thing that grows, and one of the kernel tick."""
    folder.mkdir(parents=True, exist_ok=True)
    for dimension, points in found.items():
        names = [name for name in TEXT if name not in TICKS]
        title = f"Cost of operations as {AXES[dimension]} grow ({core})"
        _draw(title, AXES[dimension], points, names, folder / f"scale-{dimension}.svg")
    points = [point for point in found["vms"] if "tick_due" in point.figures]
    title = f"Kernel tick as virtual machines grow ({core})"
    _draw(title, AXES["vms"], points, TICKS, folder / "scale-tick.svg")


def _draw(title: str, axis: str, points: Sequence[Point], names: Sequence[str], file: Path) -> None:
    series = {
        TEXT[name]: [point.figures[name].mean for point in points]
        for name in names
        if all(name in point.figures for point in points)
    }
    file.write_text(curves(title, axis, [point.size for point in points], series), "utf-8")


def draw_latency(core: str, experiment: Experiment, folder: Path) -> None:
    """Four histograms below each other."""
    folder.mkdir(parents=True, exist_ok=True)
    panels = [
        Histogram(
            f"{SIDES[side]}, {LOADS[load]}",
            latency.counts,
            f"mean {latency.samples.mean():.1f}, max {latency.samples.max()},"
            f" entropy {latency.entropy:.2f} bit",
        )
        for (side, load), latency in experiment.latencies.items()
    ]
    picture = histograms(f"Latency of an interrupt ({core})", panels)
    (folder / "latency.svg").write_text(picture, "utf-8")


def write_sections(file: Path, text: Mapping[str, Sequence[str]]) -> None:
    """The lines of each core in a section of its own; those of cores not measured now stay."""
    before = file.read_text("utf-8").split("\n## ")[1:] if file.exists() else []
    sections = {section.partition("\n")[0]: section.partition("\n")[2] for section in before}
    sections |= {core: "\n" + "\n".join(lines).rstrip() + "\n" for core, lines in text.items()}
    written = "".join(f"\n## {core}\n{sections[core]}" for core in sorted(sections))
    file.write_text(_HEAD + written, "utf-8")
