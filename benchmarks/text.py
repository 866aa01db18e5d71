"""Results as text."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.operations import Operation
from benchmarks.profile import by_function, in_order, listing
from benchmarks.results import Results
from benchmarks.samples import Figures

_HEADING = (
    f"{'operation':16}{'side':9}{'mean':>9}{'min':>7}{'max':>7}{'exc':>6}{'est_cycles':>12}"
    f"{'samples':>9}{'ticked':>8}"
)


def report(results: Results) -> Iterator[str]:
    """A line for each side of each operation, and one for its target."""
    yield f"{results.configuration.name}\n{_HEADING}"
    for operation in results.operations:
        for name, side in (("bare", results.bare), ("virtual", results.virtual)):
            figures = side.figures(operation)
            if figures is not None:
                yield _line(operation, name, figures)
        met = results.met(operation)
        if met is not None:
            ratio = results.ratio(operation)
            found = f"{ratio:.2f}x of " if ratio is not None else ""
            verdict = "met" if met else "MISSED"
            yield f"{'':16}{found}target {operation.target}: {verdict}"


def _line(operation: Operation, side: str, f: Figures) -> str:
    return (
        f"{operation.name:16}{side:9}{f.mean:9.1f}{f.least:7}{f.most:7}{f.exceptions:6.1f}"
        f"{f.est_cycles:12.1f}{f.count:9}{f.disturbed:8}"
    )


def profile(
    results: Results, operation: Operation, *, slowest: bool = False, listed: bool = False
) -> Iterator[str]:
    """Where the instructions of one sample go, on both sides."""
    for name, side in (("bare", results.bare), ("virtual", results.virtual)):
        span = side.spans.get(operation.name)
        if span is None:
            continue
        path = span.slowest if slowest else span.typical
        yield f"{operation.name}, {name}: {len(path)} instructions, as they follow each other"
        yield from in_order(side.image, path)
        yield "by function"
        yield from by_function(side.image, path)
        if listed:
            yield from listing(side.image, path)
