"""The command line of the benchmark; see docs/benchmarks.md.

python -m benchmarks ctx ntf               two operations on cm4f, quickly
python -m benchmarks handler --profile     and where the instructions go
"""

from __future__ import annotations

import sys

import click

from benchmarks.build import Configuration, assemble, build_bare, build_virtual
from benchmarks.counting import Image, measure
from benchmarks.machines import MACHINES
from benchmarks.operations import BY_NAME, OPERATIONS, Operation
from benchmarks.profile import by_function, in_order, listing
from benchmarks.samples import Figures, Span
from benchmarks.text import HEADING, line, verdict
from scanner.report.errors import FvmError

QUICK = 100  # samples of each operation


@click.command()
@click.argument("names", nargs=-1)
@click.option("--on", "cores", multiple=True, default=["cm4f"], help="cm3, cm4f or cm7")
@click.option("--level", default="2", help="optimisation: 2, 3 or s")
@click.option("--count", default=QUICK, help="samples of each operation")
@click.option("--profile", is_flag=True, help="instructions by function")
@click.option("--listing", "listed", is_flag=True, help="every instruction")
@click.option("--slowest", is_flag=True, help="profile of the slowest sample, not a typical one")
def main(
    names: tuple[str, ...],
    cores: tuple[str, ...],
    level: str,
    count: int,
    profile: bool,
    listed: bool,
    slowest: bool,
) -> None:
    """Measure operations of the runtime, and of FreeRTOS on bare metal."""
    if unknown := set(names) - set(BY_NAME):
        raise click.UsageError(
            f"no operation {', '.join(sorted(unknown))}; there are {', '.join(BY_NAME)}"
        )
    chosen = [BY_NAME[name] for name in names] if names else list(OPERATIONS)
    for core in cores:
        _report(Configuration(MACHINES[core], level), chosen, count, profile, listed, slowest)


def _report(
    configuration: Configuration,
    chosen: list[Operation],
    count: int,
    profile: bool,
    listed: bool,
    slowest: bool,
) -> None:
    fpu = configuration.machine.fpu
    there = [operation for operation in chosen if fpu or not operation.fpu]
    assemble(configuration)
    bare = build_bare(configuration)
    on_bare = _run(configuration, "bare", bare, [o for o in there if o.bare], count)
    virtual = build_virtual(configuration)
    on_virtual = _run(configuration, "virtual", virtual, there, count)
    print(f"{configuration.name}\n{HEADING}")
    for operation in there:
        found: dict[str, Figures] = {}
        for side, image, spans in (("bare", bare, on_bare), ("virtual", virtual, on_virtual)):
            figures = spans[operation.name].figures if operation.name in spans else None
            if figures is None:
                continue
            found[side] = figures
            print(line(operation, side, figures))
            span = spans[operation.name]
            path = span.slowest if slowest else span.typical
            if profile:
                print("as they follow each other:", *in_order(image, path), sep="\n")
                print("by function:", *by_function(image, path), sep="\n")
            if listed:
                print(*listing(image, path), sep="\n")
        if "virtual" in found:
            print(*verdict(operation, found.get("bare"), found["virtual"]), sep="\n")


def _run(
    configuration: Configuration, side: str, image: Image, operations: list[Operation], count: int
) -> dict[str, Span]:
    if not operations:
        return {}
    folder = configuration.folder / f"run-{side}"
    folder.mkdir(exist_ok=True)
    return measure(configuration.machine, image, operations, count, folder)


if __name__ == "__main__":
    try:
        main()
    except FvmError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
