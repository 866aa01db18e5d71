"""A project taken together: how it is built, its vectors, what its code does when it starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from porter.context_switch.recipe import core_of
from porter.execution.guess import guessed_units
from porter.execution.machine import Machine
from porter.execution.mentions import Reach
from porter.execution.program import FunctionText, Program
from porter.execution.record import Record
from porter.execution.startup import (
    assembler_files,
    entry,
    source,
    strong_labels,
    vector_tables,
)
from porter.program.preprocess import preprocessed
from porter.project.build import Build, read_build
from porter.project.source_tree import find_sources
from porter.project.vectors import VectorTable
from porter.source.source_file import CPLUSPLUS_SUFFIXES

_BOOT_STEPS = 600_000  # about ten seconds
_LATER_STEPS = 120_000  # of one function
_ALL_LATER_STEPS = 3_000_000
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Silicon:
    """What a run has to know of a chip: registers after reset, ready bits with the bits that they
    follow, and where blocks begin."""

    reset: Mapping[int, int]
    follows: Mapping[int, Mapping[int, int]]
    bases: tuple[int, ...]


@dataclass(frozen=True)
class Survey:
    """`refused`: files that the compiler couldn't preprocess, with its words; `foreign`: compiled
    files that are no C; `handlers`: by exception number; `strong`: where functions are defined
    that aren't weak; `boot`: C functions that run from reset on, in order, of which
    start-up code calls `entry` last; `record`: what the
    program did."""

    root: Path
    build: Build
    compiled: tuple[Path, ...]
    refused: Mapping[Path, str]
    foreign: tuple[Path, ...]
    program: Program
    tables: tuple[VectorTable, ...]
    handlers: Mapping[int, str]
    strong: Mapping[str, FunctionText | Path]
    entry: str
    boot: tuple[str, ...]
    reach: Reach
    record: Record
    machine: Machine

    @property
    def has_main(self) -> bool:
        """Whether more of the boot is known than what start-up code calls first."""
        return any(name != "SystemInit" for name in self.boot)


def survey(
    root: Path,
    silicon: Silicon,
    built_vectors: Callable[[Build], Mapping[int, str]] = lambda _build: {},
    progress: Progress = lambda _message: None,
) -> Survey:
    """Everything that can be told of a project without running it on a chip. `built_vectors` is
    asked for the handlers where no source has a vector table."""
    root = root.resolve()
    sources = find_sources(root)
    progress(f"{len(sources)} source files; asking the build system")
    build = read_build(root, sources, guessed_cpu=partial(core_of, sources))
    units = build.units
    if not units:
        units = guessed_units(root, build.options, sources)
        build = replace(build, options=next(iter(units.values()), build.options))
    progress(f"preprocessing {len(units)} files")
    texts, refused = preprocessed(units)
    program = Program(texts)
    assembler = assembler_files(root, build, tuple(units), sources)
    tables = vector_tables(root, assembler, program)
    strong: dict[str, FunctionText | Path] = {
        name: function for name, function in program.functions.items() if not function.weak
    }
    for path in assembler:
        for name in strong_labels(source(root, path)):
            strong.setdefault(name, path)
    handlers = {number: name for table in tables for number, name in table.handlers.items()}
    if not tables:
        handlers = dict(built_vectors(build))
    begins = entry(tables, program)
    boot = [
        name for name in (handlers.get(1, ""), "SystemInit", begins) if name in program.functions
    ]
    named = {name for number, name in handlers.items() if number > 1}
    entries = sorted(named & set(program.functions))
    progress(f"following what {begins}() and the handlers call")
    reach = Reach(program, [*boot, *entries], silicon.bases)
    machine = _run(program, reach, boot, entries, silicon, progress)
    foreign = tuple(path for path in units if path.suffix.lower() in CPLUSPLUS_SUFFIXES)
    return Survey(
        root, build, tuple(build.units), refused, foreign, program, tuple(tables), handlers, strong,
        begins, tuple(boot), reach, machine.record, machine,
    )  # fmt: skip


def _run(
    program: Program,
    reach: Reach,
    boot: Iterable[str],
    handlers: Iterable[str],
    silicon: Silicon,
    progress: Progress,
) -> Machine:
    """From reset into the main loop, then whatever runs besides."""
    machine = Machine(program, silicon.reset, silicon.follows)
    for name in boot:
        if name not in machine.record.executed:
            progress(f"running {name}() on paper")
            machine.run(program.functions[name], _BOOT_STEPS)
    booted = machine.record.complete
    machine.start_running()
    left = _ALL_LATER_STEPS
    later = [program.functions[name] for name in handlers]
    for function in (*later, *reach.taken.values()):
        if function.name not in machine.record.executed and left > 0:
            left -= machine.run(function, min(_LATER_STEPS, left))
    machine.record.complete = booted
    return machine
