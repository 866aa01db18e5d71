"""The results of one configuration, and the file that keeps those of all."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.build import Configuration, assemble, build_bare, build_virtual
from benchmarks.counting import Image, measure
from benchmarks.operations import Operation
from benchmarks.samples import Figures, Span


@dataclass(frozen=True)
class Side:
    """An image and what was measured on it, by the name of the operation."""

    image: Image
    spans: Mapping[str, Span]

    def figures(self, operation: Operation) -> Figures | None:
        """None if this side doesn't have the operation."""
        span = self.spans.get(operation.name)
        return None if span is None else span.figures


@dataclass(frozen=True)
class Results:
    """Both sides of one configuration."""

    configuration: Configuration
    operations: tuple[Operation, ...]
    bare: Side
    virtual: Side

    def ratio(self, operation: Operation) -> float | None:
        """Of the means; None if bare metal doesn't have the operation."""
        bare, virtual = self.bare.figures(operation), self.virtual.figures(operation)
        return virtual.mean / bare.mean if bare and virtual and bare.mean else None

    def met(self, operation: Operation) -> bool | None:
        """Whether the target is met; None where there is none."""
        figures, target = self.virtual.figures(operation), operation.target
        if self.configuration.name != "cm4f" or target is None or figures is None:
            return None
        value = self.ratio(operation) if target.relative else figures.mean
        return None if value is None else value <= target.limit


def run(configuration: Configuration, chosen: Sequence[Operation], count: int) -> Results:
    """Builds both sides and measures the operations that this core can have."""
    fpu = configuration.machine.fpu
    operations = tuple(operation for operation in chosen if fpu or not operation.fpu)
    assemble(configuration)
    sides = []
    for name, build in (("bare", build_bare), ("virtual", build_virtual)):
        image = build(configuration)
        here = [o for o in operations if o.bare or name == "virtual"]
        folder = configuration.folder / f"run-{name}"
        folder.mkdir(exist_ok=True)
        spans = measure(configuration.machine, image, here, count, folder) if here else {}
        sides.append(Side(image, spans))
    return Results(configuration, operations, *sides)


def write_json(path: Path, results: Sequence[Results]) -> None:
    """configuration -> operation -> figures; docs/benchmarks.md says what each is."""
    content = {r.configuration.name: {o.name: _row(r, o) for o in r.operations} for r in results}
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def _row(results: Results, operation: Operation) -> dict[str, float | int | None]:
    bare, virtual = results.bare.figures(operation), results.virtual.figures(operation)
    ratio = results.ratio(operation)
    row: dict[str, float | int | None] = {
        "bare": None if bare is None else _rounded(bare.mean),
        "virtual": None if virtual is None else _rounded(virtual.mean),
        "ratio": None if ratio is None else round(ratio, 4),
    }
    for prefix, figures in (("", virtual), ("bare_", bare)):
        if figures is not None:
            row |= {
                f"{prefix}min": figures.least,
                f"{prefix}max": figures.most,
                f"{prefix}exceptions": _rounded(figures.exceptions),
                f"{prefix}est_cycles": _rounded(figures.est_cycles),
                f"{prefix}samples": figures.count,
                f"{prefix}ticked": figures.disturbed,
            }
    return row


def _rounded(value: float) -> float:
    return round(value, 2)
