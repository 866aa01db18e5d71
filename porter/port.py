"""Ports a project: what is built, what stays, then file by file, then the vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from porter.context_switch.project import transcribe_project
from porter.context_switch.result import SwitchPort
from porter.file_port import leave, port_asm, port_c
from porter.interrupt_split.analysis import split_handlers
from porter.interrupt_split.result import HandlerSplit
from porter.interrupt_split.sources import Sources
from porter.interrupt_split.verdict import with_splits
from porter.libraries.project import LibraryCalls
from porter.project.domain import Domain
from porter.project.linker_fragments import is_linker_fragment
from porter.project.linker_symbols import SCRIPT_SUFFIXES
from porter.project.request import NOTHING_MORE, Request
from porter.project.source_tree import find_sources
from porter.result import FilePort, PortResult
from porter.rules.facts import Facts
from porter.rules.linker_symbols import is_declared, judge_linker_symbols, names_itself
from porter.rules.made_by_macro import JudgedFile, MadeByMacro
from porter.rules.outside import refuse_lost
from porter.rules.thresholds import judge_thresholds
from porter.rules.tick_sources import judge_ticks
from porter.rules.unit import Unit
from porter.rules.vectors import judge_vectors
from porter.rules.verdict import Status, Verdict
from porter.sites.asm_sites import asm_sites
from porter.sites.c_sites import CSites, Reading
from porter.sites.site import Site
from porter.source.edit import Edit
from porter.source.source_file import SourceFile
from porter.unseen import unseen_in
from porter.whole_project import WholeProject

Progress = Callable[[str], None]
"""Is told what is being done."""


def port_project(
    root: Path,
    domain: Domain | None = None,
    excluded: Iterable[Path] = (),
    progress: Progress = lambda _message: None,
    cpu: tuple[str, ...] = (),
    request: Request = NOTHING_MORE,
    core_clock: int | None = None,
) -> PortResult:
    """Decide on every site below `root`. Nothing is written.

    `excluded`: folders below `root` that are no part of the project; `cpu`: compiler options that
    select the core, where the project has no build that tells; `core_clock`: hertz of the core on
    the old chip.
    """
    root = root.resolve()
    found = [SourceFile.read(root, path) for path in find_sources(root, excluded)]
    read = [source for source in found if not is_linker_fragment(source)]
    progress(f"{len(read)} source files; asking the build system")
    scripts = find_sources(root, excluded, SCRIPT_SUFFIXES)
    scripts += [source.path for source in found if is_linker_fragment(source)]
    calls = LibraryCalls(read)
    sources = [calls.expanded(source) for source in read]
    project = WholeProject(root, sources, domain, cpu, scripts, calls, request, core_clock)
    progress("transcribing context switches")
    _transcribe(project)
    files = _Files(project)
    ports: list[FilePort] = []
    for source in sources:
        progress(source.name)
        if (port := files.port(source)) is not None:
            ports.append(port)
    ports = files.with_made(ports)
    ports += _new_files(project)
    progress("comparing handlers with the description")
    ports = with_splits(_with_description(ports, project, files.facts), files.splits)
    ports = [calls.settled(port) for port in ports]
    progress("looking for what isn't there")
    return PortResult(
        root,
        tuple(ports),
        len(sources),
        project.guessed_cpu,
        unseen_in(project, calls.libraries, request.known),
        tuple(read),
        dict(sorted(files.devices.items())),
        not project.build.units,
        project.build.moved,
    )


def split_project(
    root: Path, domain: Domain, progress: Progress = lambda _message: None
) -> list[HandlerSplit]:
    """What becomes of every handler that the domain has a split plan for. Nothing is written."""
    root = root.resolve()
    found = [SourceFile.read(root, path) for path in find_sources(root)]
    sources = [source for source in found if not is_linker_fragment(source)]
    progress(f"{len(sources)} source files; asking the build system")
    project = WholeProject(root, sources, domain)
    progress("splitting handlers")
    return _splits(project)


def _transcribe(project: WholeProject) -> None:
    """Let the transcriber look at every live file."""
    for switch in transcribe_project(
        project.root,
        [source.path for source in project.live],
        project.build.options,
        project.vectors,
        not project.build.units,
        project.linked,
        project.aliases,
        project.units,
    ):
        project.switches.setdefault(switch.file, []).append(_moved(switch, project.calls))


def _moved(switch: SwitchPort, calls: LibraryCalls | None) -> SwitchPort:
    """A switch, read from the file as it is on disk, in the text that rules look at."""
    if calls is None:
        return switch
    start, end = (calls.offset(switch.file, at) for at in (switch.start, switch.end))
    return replace(switch, start=start, end=end)


class _Files:
    """Ports file by file. `facts`: what rules learnt on the way."""

    def __init__(self, project: WholeProject) -> None:
        self._project = project
        self.facts: list[Facts] = []
        self.units: dict[Path, Unit] = {}
        self.devices: dict[int, str] = {}
        self.splits = _splits(project)
        self._declared: dict[bytes, bool] = {}

    def port(self, source: SourceFile) -> FilePort | None:
        """Port one file; None if there is nothing in it."""
        project = self._project
        stays = project.staying.get(source.path)
        switches = project.switches.get(source.path, [])
        if source.is_asm:
            sites = list(dict.fromkeys(asm_sites(source, project.numbered)))
            port = (
                port_asm(source, sites, switches) if stays is None else leave(source, sites, stays)
            )
        else:
            in_c = self._sites(source)
            port = self._c(in_c, switches) if stays is None else leave(source, in_c.sites, stays)
        if stays is None:
            port = self._with_linked(port)
        else:
            port = replace(port, verdicts=refuse_lost(port.verdicts, project.vectors))
        return port if port.verdicts or port.edits else None

    def _sites(self, source: SourceFile) -> CSites:
        project, numbered = self._project, self._project.numbered
        asked = project.calls.asked(source.path) if project.calls is not None else {}
        knowledge, registers_of = project.knowledge, project.registers_of
        readings = [
            Reading(reader, CSites(text, registers_of(text.evaluator), numbered, asked))
            for reader, text in (knowledge.other_readings(source) if source.is_header else ())
        ]
        text = knowledge.text(source)
        return CSites(text, registers_of(text.evaluator), numbered, asked, readings)

    def _c(self, sites: CSites, switches: list[SwitchPort]) -> FilePort:
        project = self._project
        unit = Unit(sites, project.domain, project.knowledge, project.facts)
        splits = [split for split in self.splits if split.edits and split.function is not None
                  and split.function.text.file.path == sites.text.file.path]  # fmt: skip
        port = port_c(unit, switches, project.why_not_linked, splits)
        self.facts.append(unit.facts)
        self.devices = {**sites.devices, **self.devices}
        self.units[sites.text.file.path] = unit
        return port

    def with_made(self, ports: list[FilePort]) -> list[FilePort]:
        """The ports with verdicts on what only the preprocessor puts together."""
        by_path = {port.file.path: port for port in ports}
        nothing = FilePort(SourceFile(Path(), "", b""), (), ())
        judged = {
            path: JudgedFile(unit, port.verdicts, port.edits)
            for path, unit in self.units.items()
            for port in [by_path.get(path, nothing)]
        }
        for path, verdict in MadeByMacro(judged).judge(self._project.knowledge.units):
            port = by_path.get(path, FilePort(self.units[path].file, (), ()))
            by_path[path] = _with_verdicts(port, [verdict])
        return list(by_path.values())

    def _is_declared(self, name: bytes) -> bool:
        """Whether some C of the project declares a symbol of the linker's."""
        if name not in self._declared:
            texts = (source.data for source in self._project.live if not source.is_asm)
            self._declared[name] = is_declared(name, texts)
        return self._declared[name]

    def _with_linked(self, port: FilePort) -> FilePort:
        """The port with verdicts on registers that linker scripts name; what the transcriber read
        is its own affair."""
        project = self._project
        switches = project.switches.get(port.file.path, [])
        evaluator = project.knowledge.evaluator(port.file.path)
        registers = project.registers_of(evaluator)

        def is_macro(name: bytes) -> bool:
            if port.file.is_asm:
                return names_itself(name, port.file.data)
            return name in evaluator.macros and not self._is_declared(name)

        found = [
            verdict
            for verdict in judge_linker_symbols(
                port.file, project.linked, registers.describe, is_macro
            )
            if not any(it.start <= verdict.site.start < it.end for it in switches)
        ]
        return _with_verdicts(port, found)


def _with_verdicts(port: FilePort, more: Iterable[Verdict]) -> FilePort:
    together = sorted((*port.verdicts, *more), key=lambda verdict: verdict.site.start)
    return replace(port, verdicts=tuple(together))


def _new_files(project: WholeProject) -> list[FilePort]:
    """Files that a port adds."""
    known = {source.path for source in project.sources}
    return [
        FilePort(
            SourceFile(path, path.relative_to(project.root).as_posix(), b""),
            tuple(Edit(0, 0, switch.replacement) for switch in switches),
            (),
            is_new=True,
        )
        for path, switches in project.switches.items()
        if path not in known
    ]


def _splits(project: WholeProject) -> list[HandlerSplit]:
    """Handlers in three sections."""
    if project.domain is None or all(vector.split is None for vector in project.domain.vectors):
        return []
    return split_handlers(
        Sources(
            project.domain,
            project.live,
            project.knowledge,
            project.definitions,
            lambda name: project.why_not_linked(name) is None,
        )
    )


def _with_one_tick(ports: list[FilePort], facts: list[Facts]) -> list[FilePort]:
    """The ports with verdicts on places that start the tick at different rates."""
    known = {verdict.site: (port, verdict) for port in ports for verdict in port.verdicts}

    def place(site: Site) -> str:
        return f"{site.file}:{known[site][0].file.line(site.start)}"

    def is_rewritten(site: Site) -> bool:
        return site in known and known[site][1].status is Status.REWRITTEN

    differ = {verdict.site: verdict for verdict in judge_ticks(facts, is_rewritten, place)}
    return [port.with_verdicts(differ) for port in ports] if differ else ports


def _with_description(
    ports: list[FilePort], project: WholeProject, facts: list[Facts]
) -> list[FilePort]:
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
        contradicted = {v.site: v for v in judge_thresholds(project.domain, facts)}
        ports = [port.with_verdicts(contradicted) for port in ports]
    ports = _with_one_tick(ports, facts)
    merged: list[FilePort] = []
    for port in ports:
        _, verdicts = extra.pop(port.file.path, (port.file, []))
        merged.append(_with_verdicts(port, verdicts))
    merged += [FilePort(file, (), tuple(verdicts)) for file, verdicts in extra.values()]
    return merged
