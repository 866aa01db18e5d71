"""The command line of the benchmark; see docs/benchmarks.md."""

from __future__ import annotations

import sys

import click

from benchmarks import sizes, transcriber
from benchmarks.build import ROOT, Configuration, verify
from benchmarks.document import write_tables
from benchmarks.machines import MACHINES
from benchmarks.operations import BY_NAME, OPERATIONS, Operation
from benchmarks.results import Results, run, write_json
from benchmarks.text import profile, report
from scanner.report.errors import FvmError

QUICK, FULL = 100, 10_000  # samples of each operation
LEVELS = ("2", "3", "s")
ALL = [
    ("cm3", "2"),
    ("cm4f", "2"),
    ("cm7", "2"),
    ("cm4f-an386", "2"),
    ("cm4f", "3"),
    ("cm4f", "s"),
]


@click.command()
@click.argument("names", nargs=-1)
@click.option("--on", "cores", multiple=True, default=["cm4f"], type=click.Choice(list(MACHINES)))
@click.option("--level", default="2", type=click.Choice(LEVELS), help="of optimisation")
@click.option("--count", default=QUICK, type=click.IntRange(1), help="samples of each operation")
@click.option("--profile", "profiled", is_flag=True, help="instructions by function")
@click.option("--listing", "listed", is_flag=True, help="every instruction")
@click.option("--slowest", is_flag=True, help="profile of the slowest sample, not a typical one")
@click.option("--sizes", "sized", is_flag=True, help="what is how large in kernel and hypervisor")
@click.option("--all", "everything", is_flag=True, help="all, as make bench; writes the results")
def main(
    names: tuple[str, ...],
    cores: tuple[str, ...],
    level: str,
    count: int,
    profiled: bool,
    listed: bool,
    slowest: bool,
    sized: bool,
    everything: bool,
) -> None:
    """Measure operations of the runtime, and of FreeRTOS on bare metal."""
    if unknown := sorted(set(names) - set(BY_NAME)):
        raise click.UsageError(f"no operation {', '.join(unknown)}; there are {', '.join(BY_NAME)}")
    if everything:
        measure_all()
        return
    chosen = [BY_NAME[name] for name in names] if names else list(OPERATIONS)
    for core in cores:
        configuration = Configuration(MACHINES[core], level)
        results = run(configuration, chosen, count)
        print(*report(results), sep="\n")
        if sized:
            print(*sizes.listing(configuration.folder / "system"), sep="\n")
        for operation in results.operations if profiled or listed else ():
            print(*profile(results, operation, slowest=slowest, listed=listed), sep="\n")


def measure_all() -> None:
    """Every operation in every configuration; a profile of each missed target."""
    found, refused = [], []
    for core, level in ALL:
        configuration = Configuration(MACHINES[core], level)
        results = run(configuration, OPERATIONS, FULL)
        refused += verify(configuration)
        print(*report(results), sep="\n", flush=True)
        found.append(results)
    folder = ROOT / "build" / "bench"
    write_json(folder / "runtime.json", found)
    systems = {r.configuration.name: r.configuration.folder / "system" for r in found}
    sizes.write_json(folder / "sizes.json", systems)
    print(*transcriber.write_json(folder / "transcriber.json"), sep="\n", flush=True)
    write_tables(ROOT / "docs" / "benchmarks.md", found)
    for results in found:
        for operation in _missed(results):
            print(*profile(results, operation), sep="\n")
    if refused:
        raise FvmError("\n".join(["measured, but not fit for flashing:", *refused]))


def _missed(results: Results) -> list[Operation]:
    return [operation for operation in results.operations if results.met(operation) is False]


if __name__ == "__main__":
    try:
        main()
    except FvmError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
