"""Results as text."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.operations import Operation
from benchmarks.samples import Figures

HEADING = (
    f"{'operation':16}{'side':9}{'mean':>9}{'min':>7}{'max':>7}{'exc':>6}{'est_cycles':>12}"
    f"{'samples':>9}{'ticked':>8}"
)


def line(operation: Operation, side: str, f: Figures) -> str:
    """One row; `ticked` is how many samples a kernel tick disturbed, which are left out."""
    return (
        f"{operation.name:16}{side:9}{f.mean:9.1f}{f.least:7}{f.most:7}{f.exceptions:6.1f}"
        f"{f.est_cycles:12.1f}{f.count:9}{f.disturbed:8}"
    )


def verdict(operation: Operation, bare: Figures | None, virtual: Figures) -> Iterator[str]:
    """The target, if there is one, and whether it is met."""
    if operation.limit is None:
        return
    if operation.relative and bare is not None:
        value, unit = virtual.mean / bare.mean, "x bare metal"
        yield f"{'':16}{value:.2f}{unit}, target {operation.limit:.2f}{unit}" + _met(
            value <= operation.limit
        )
    elif not operation.relative:
        yield f"{'':16}target {operation.limit:.0f}" + _met(virtual.mean <= operation.limit)


def _met(reached: bool) -> str:
    return ": met" if reached else ": MISSED"
