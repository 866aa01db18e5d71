"""Ports a project: what is built, what stays, then file by file, then the vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from porter.context_switch.assemble import is_riscv
from porter.context_switch.project import transcribe_project
from porter.context_switch.recipe import core_of
from porter.context_switch.result import SwitchPort
from porter.file_port import leave, port_asm, port_c
from porter.flow.project_facts import ProjectFacts
from porter.interrupt_split.analysis import split_handlers
from porter.interrupt_split.result import HandlerSplit
from porter.interrupt_split.sources import Sources
from porter.interrupt_split.verdict import with_splits
from porter.project.build import read_build, with_files
from porter.project.definitions import Definition, defined_in_asm, defined_in_c
from porter.project.domain import Domain
from porter.project.knowledge import CText, Knowledge
from porter.project.likely_core import likely_core
from porter.project.linker_symbols import (
    SCRIPT_SUFFIXES,
    LinkerAlias,
    LinkerSymbol,
    linker_aliases,
    linker_symbols,
)
from porter.project.reachability import CallGraph
from porter.project.source_tree import find_sources
from porter.project.vectors import (
    CMSIS_HANDLER,
    FAULT_HANDLERS,
    FAULTS,
    SYSTEM,
    Vectors,
    VectorTable,
    tables_in_asm,
    tables_in_c,
)
from porter.registers.riscv_blocks import riscv_space
from porter.registers.system_space import ArmSpace, SystemSpace
from porter.result import FilePort, PortResult
from porter.rules.facts import Facts
from porter.rules.linker_symbols import judge_linker_symbols
from porter.rules.outside import file_stays
from porter.rules.thresholds import judge_thresholds
from porter.rules.unit import Unit
from porter.rules.vectors import judge_vectors
from porter.rules.verdict import Status, Verdict
from porter.sites.asm_sites import asm_sites
from porter.sites.c_sites import CSites, Registers
from porter.source.edit import Edit
from porter.source.evaluate import Evaluator
from porter.source.source_file import SourceFile

Progress = Callable[[str], None]
"""Is told what is being done."""


def port_project(
    root: Path,
    domain: Domain | None = None,
    excluded: Iterable[Path] = (),
    progress: Progress = lambda _message: None,
    cpu: tuple[str, ...] = (),
) -> PortResult:
    """Decide on every site below `root`. Nothing is written.

    `excluded`: folders below `root` that are no part of the project; `cpu`: compiler options that
    select the core, where the project has no build that tells.
    """
    root = root.resolve()
    sources = [SourceFile.read(root, path) for path in find_sources(root, excluded)]
    progress(f"{len(sources)} source files; asking the build system")
    project = _Project(root, sources, domain, cpu)
    scripts = list(find_sources(root, excluded, SCRIPT_SUFFIXES))
    project.linked, project.aliases = linker_symbols(scripts), linker_aliases(scripts)
    progress("transcribing context switches")
    project.transcribe()
    ports: list[FilePort] = []
    for source in sources:
        progress(source.name)
        if (port := project.port(source)) is not None:
            ports.append(port)
    ports += project.new_files()
    progress("comparing handlers with the description")
    ports = with_splits(_with_description(ports, project), project.splits)
    return PortResult(root, tuple(ports), len(sources), project.guessed_cpu)


def split_project(
    root: Path, domain: Domain, progress: Progress = lambda _message: None
) -> list[HandlerSplit]:
    """What becomes of every handler that the domain has a split plan for. Nothing is written."""
    root = root.resolve()
    sources = [SourceFile.read(root, path) for path in find_sources(root)]
    progress(f"{len(sources)} source files; asking the build system")
    project = _Project(root, sources, domain)
    progress("splitting handlers")
    return project.splits


class _Project:
    """A project and everything that is looked up in it more than once."""

    def __init__(
        self,
        root: Path,
        sources: list[SourceFile],
        domain: Domain | None,
        cpu: tuple[str, ...] = (),
    ) -> None:
        self.root = root
        self.domain = domain
        stated = cpu or (domain.cpu_flags if domain is not None else ())
        paths = [source.path for source in sources]
        guess = core_of(paths) or likely_core(source.data for source in sources)
        self.build = read_build(root, paths, stated, guess)
        if domain is not None:
            wanted = [root / name for name in domain.sources]
            self.build = with_files(self.build, [file for file in wanted if file.is_file()])
        self.knowledge = Knowledge(self.build, sources)
        self.tables = {source.path: list(self._tables(source)) for source in sources}
        self.staying: dict[Path, str] = {}
        for source in sources:
            reason = file_stays(source, domain, self.knowledge, bool(self.tables[source.path]))
            if reason is not None:
                self.staying[source.path] = reason
        self.sources = sources
        self.facts: list[Facts] = []
        self.linked: list[LinkerSymbol] = []
        self.aliases: list[LinkerAlias] = []
        self._switches: dict[Path, list[SwitchPort]] = {}
        self._registers: dict[int, Registers] = {}

    @property
    def live(self) -> list[SourceFile]:
        """The files that take part in the ported build."""
        return [source for source in self.sources if source.path not in self.staying]

    def transcribe(self) -> None:
        """Let the transcriber look at every live file."""
        files = [source.path for source in self.live]
        vectors = self._vectors()
        guessed = not self.build.units
        for switch in transcribe_project(
            self.root, files, self.build.options, vectors, guessed, self.linked, self.aliases
        ):
            self._switches.setdefault(switch.file, []).append(switch)

    def _rewritten(self, source: SourceFile) -> list[Edit]:
        """Functions of a file that the transcriber wrote again."""
        return [
            Edit(switch.start, switch.end, switch.replacement)
            for switch in self._switches.get(source.path, ())
            if switch.status == Status.REWRITTEN.value
        ]

    def _vectors(self) -> Vectors:
        """What the vector tables and the description say of handlers."""
        tables = [table for tables in self.tables.values() for table in tables]
        described = self.domain.vectors if self.domain is not None else ()
        numbers = {kind: number for number, kind in SYSTEM.items()}
        told = [(it.handler, numbers[it.kind]) for it in described
                if it.handler and it.kind in numbers]  # fmt: skip
        return Vectors(tables, told)

    def port(self, source: SourceFile) -> FilePort | None:
        """Port one file; None if there is nothing in it."""
        switches = self._switches.get(source.path, [])
        if source.is_asm:
            if source.path in self.staying:
                port = leave(source, asm_sites(source), self.staying[source.path])
            else:
                port = port_asm(source, switches)
        else:
            text = self.knowledge.text(source)
            sites = CSites(text, self._registers_of(text.evaluator))
            if source.path in self.staying:
                port = leave(source, sites.sites, self.staying[source.path])
            else:
                unit = Unit(sites, self.domain, self.knowledge, self._facts)
                splits = [s for s in self.splits if s.edits and s.function is not None
                          and s.function.text.file.path == source.path]  # fmt: skip
                port = port_c(unit, switches, self._why_not_linked, splits)
                self.facts.append(unit.facts)
        if source.path not in self.staying:
            port = self._with_linked(port)
        return port if port.verdicts or port.edits else None

    def _with_linked(self, port: FilePort) -> FilePort:
        """The port with verdicts on registers that linker scripts name; what the transcriber read
        is its own affair."""
        switches = self._switches.get(port.file.path, [])
        registers = self._registers_of(self.knowledge.evaluator(port.file.path))
        found = [
            verdict
            for verdict in judge_linker_symbols(port.file, self.linked, registers.describe)
            if not any(it.start <= verdict.site.start < it.end for it in switches)
        ]
        together = sorted((*port.verdicts, *found), key=lambda verdict: verdict.site.start)
        return replace(port, verdicts=tuple(together))

    @property
    def guessed_cpu(self) -> tuple[str, ...]:
        """For which core handlers were compiled that nobody named; () if it made no difference."""
        return self.build.options.cpu_flags if self.build.is_guess and self._switches else ()

    def new_files(self) -> list[FilePort]:
        """Files that a port adds."""
        known = {source.path for source in self.sources}
        return [
            FilePort(
                SourceFile(path, path.relative_to(self.root).as_posix(), b""),
                tuple(Edit(0, 0, switch.replacement) for switch in switches),
                (),
                is_new=True,
            )
            for path, switches in self._switches.items()
            if path not in known
        ]

    def definitions(self, names: set[str]) -> dict[str, Definition]:
        """Where live files define functions of these names."""
        found: dict[str, Definition] = {}
        for source in self.live:
            if source.is_asm:
                found.update(defined_in_asm(source, names))
            else:
                found.update(defined_in_c(self.knowledge.text(source), names))
        return found

    @cached_property
    def _facts(self) -> ProjectFacts:
        """What rules ask about all files."""
        return ProjectFacts(self.knowledge, self.live, self._why_not_linked)

    @cached_property
    def _reached(self) -> tuple[set[str], set[str]] | None:
        """Functions that the program reaches, and those that fault handlers reach.

        None for a project without main: somebody else calls it.
        """
        graph = CallGraph()
        for source in self.live:
            if source.is_asm:
                graph.add_asm(source)
            else:
                graph.add_c(self.knowledge.text(source), self._rewritten(source))
        if "main" not in graph.defined:
            return None
        vectors = self.domain.vectors if self.domain is not None else ()
        entries = {vector.handler for vector in vectors if vector.handler}
        faults: set[str] = set(FAULT_HANDLERS)
        for table in (table for tables in self.tables.values() for table in tables):
            for number, handler in table.handlers.items():
                (faults if number in FAULTS else entries).add(handler)
        if not entries:  # the table is somebody else's: it has what is called as CMSIS does
            entries = set(filter(CMSIS_HANDLER.fullmatch, graph.defined))
        return graph.reached(entries), graph.reached(entries | faults)

    @cached_property
    def splits(self) -> list[HandlerSplit]:
        """Handlers in three sections."""
        if self.domain is None or all(vector.split is None for vector in self.domain.vectors):
            return []
        return split_handlers(
            Sources(
                self.domain,
                self.live,
                self.knowledge,
                self.definitions,
                lambda name: self._why_not_linked(name) is None,
            )
        )

    def _why_not_linked(self, function: str) -> str | None:
        """Why a function is no part of the ported machine; None if it is."""
        if self._reached is None:
            return None
        program, with_faults = self._reached
        if function in program:
            return None
        if function in with_faults:
            return "only fault handlers get here, and the kernel takes every fault"
        return "nothing uses it: the linker drops it"

    @cached_property
    def _space(self) -> SystemSpace:
        """Where the machine that the project was written for has its system's registers."""
        if not is_riscv(self.build.options):
            return ArmSpace()
        return riscv_space(self.domain.chip if self.domain is not None else None)

    def _registers_of(self, evaluator: Evaluator) -> Registers:
        if id(evaluator) not in self._registers:
            chip = self.domain.chip if self.domain is not None else None
            self._registers[id(evaluator)] = Registers(evaluator, chip, self._space)
        return self._registers[id(evaluator)]

    def _tables(self, source: SourceFile) -> Iterable[VectorTable]:
        if b"eset" not in source.data:
            return
        if source.is_asm:
            yield from tables_in_asm(source)
        elif source.path.suffix.lower() == ".c" and b"{" in source.data:
            text: CText = self.knowledge.text(source)
            tree = text.trees.whole
            yield from tables_in_c(
                source,
                tree,
                lambda entry: self._counts(text, tree.start(entry), tree.end(entry)),
                lambda index: text.evaluator.number(index),
            )

    def _counts(self, text: CText, start: int, end: int) -> bool:
        """Whether an entry of a table is in it: of alternatives, as long as nobody knows, the
        first is."""
        if self.knowledge.was_asked(text.file.path):
            return self.knowledge.is_arm_compiled(text, start, end)
        conditions = text.conditions.arm(start).conditions
        return not any(condition.startswith("!(") for condition in conditions)


def _with_description(ports: list[FilePort], project: _Project) -> list[FilePort]:
    """Add the verdicts on exception handlers, and on priorities that contradict a threshold."""
    tables = [
        table
        for source in project.sources
        if project.knowledge.is_built(source.path)
        for table in project.tables[source.path]
    ]
    names = {name for table in tables for name in table.handlers.values()}
    if project.domain is not None:
        names |= {vector.handler for vector in project.domain.vectors if vector.handler}
    extra: dict[Path, tuple[SourceFile, list[Verdict]]] = {}
    definitions = project.definitions(names)
    for file, verdict in judge_vectors(project.domain, tables, definitions):
        extra.setdefault(file.path, (file, []))[1].append(verdict)
    if project.domain is not None:
        contradicted = {v.site: v for v in judge_thresholds(project.domain, project.facts)}
        ports = [port.with_verdicts(contradicted) for port in ports]
    merged: list[FilePort] = []
    for port in ports:
        _, verdicts = extra.pop(port.file.path, (port.file, []))
        together = sorted((*port.verdicts, *verdicts), key=lambda verdict: verdict.site.start)
        merged.append(replace(port, verdicts=tuple(together)))
    merged += [FilePort(file, (), tuple(verdicts)) for file, verdicts in extra.values()]
    return merged
