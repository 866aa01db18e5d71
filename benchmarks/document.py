"""Tables for docs/benchmarks.md, written between two markers of it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from benchmarks.operations import Operation
from benchmarks.results import Results
from benchmarks.sizes import PARTS, size_of
from composer.simulate.machine import QEMU
from scanner.report.errors import FvmError

BEGIN = "<!-- results: written by `make bench` -->"
END = "<!-- end of results -->"
KIB = 1024
TARGETS = ((12 * KIB, 2 * KIB, "30.6 kB / 6.8 kB"), (6 * KIB, 3 * KIB // 2, "17.4 kB"))


def write_tables(document: Path, results: Sequence[Results]) -> None:
    """Replaces the tables of the last run."""
    write_between(document, BEGIN, END, _document(results))


def write_between(document: Path, begin: str, end: str, lines: Iterable[str]) -> None:
    """Replaces what is between two markers of a document."""
    text = document.read_text("utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise FvmError(f"needs the lines '{begin}' and '{end}' once each", file=document)
    before, _, rest = text.partition(begin)
    after = rest.partition(end)[2]
    table = "\n".join(lines)
    document.write_text(f"{before}{begin}\n{table}\n{end}{after}", "utf-8")


def _document(results: Sequence[Results]) -> Iterator[str]:
    yield ""
    yield f"{_version('arm-none-eabi-gcc')}; {_version(QEMU)}."
    for result in results:
        yield ""
        yield from _table(result)
    small = [r for r in results if r.configuration.level == "s"]
    for result in small:
        yield ""
        yield from _sizes(result)


def _version(tool: str) -> str:
    first = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    number = re.search(r"(?<= )\d+\.\d+\.\d+", first.splitlines()[0])
    return f"{tool} {number[0] if number else 'of unknown version'}"


def _table(result: Results) -> Iterator[str]:
    configuration = result.configuration
    judged = configuration.name == "cm4f"
    machine = configuration.machine
    yield f"### {configuration.name}: QEMU's {machine.qemu}, -O{configuration.level}"
    yield ""
    if judged:
        verdicts = [met for o in result.operations if (met := result.met(o)) is not None]
        yield f"{sum(verdicts)} of {len(verdicts)} targets are met."
        yield ""
    heads = ["operation", "", "bare", "virtual", "max", "ratio", "exc", "est_cycles"]
    heads += ["target", "authors"] if judged else []
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for operation in result.operations:
        cells = _cells(result, operation)
        if judged:
            cells += [_target(result, operation), operation.authors]
        yield f"| {' | '.join(cells)} |"


def _cells(result: Results, operation: Operation) -> list[str]:
    bare, virtual = result.bare.figures(operation), result.virtual.figures(operation)
    ratio = result.ratio(operation)
    pairs = [
        (f"{figures.exceptions:.1f}", f"{figures.est_cycles:.0f}")
        for figures in (bare, virtual)
        if figures is not None
    ]
    return [
        f"`{operation.name}`",
        operation.text,
        "" if bare is None else f"{bare.mean:.1f}",
        "" if virtual is None else f"{virtual.mean:.1f}",
        "" if virtual is None else str(virtual.most),
        "" if ratio is None else f"{ratio:.2f}x",
        " -> ".join(exceptions for exceptions, _ in pairs),
        " -> ".join(cycles for _, cycles in pairs),
    ]


def _target(result: Results, operation: Operation) -> str:
    met = result.met(operation)
    if met is None:
        return ""
    return f"{operation.target}{'' if met else ' **missed**'}"


def _sizes(result: Results) -> Iterator[str]:
    """Of the system that was measured, at -Os."""
    yield f"### Sizes: {result.configuration.name}"
    yield ""
    yield "Two VMs, two native processes, events, a watchdog, all hypercalls; bytes."
    yield ""
    yield "| part | code | of it constant tables | RAM | target code / RAM | authors |"
    yield "|---|---|---|---|---|---|"
    for part, (code, ram, authors) in zip(PARTS, TARGETS, strict=True):
        size = size_of(result.configuration.folder / "system" / part / f"{part}.elf")
        met = size.code <= code and size.ram <= ram
        target = f"{code} / {ram}{'' if met else ' **missed**'}"
        yield f"| {part} | {size.code} | {size.tables} | {size.ram} | {target} | {authors} |"
