"""Ports a project: what is built, what stays, then file by file, then the vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from porter.context_switch.project import transcribe_project
from porter.context_switch.result import SwitchPort
from porter.each_file import new_files, port_files, settled
from porter.failures import Failures, step
from porter.interrupt_split.analysis import split_handlers
from porter.interrupt_split.result import HandlerSplit
from porter.interrupt_split.sources import Sources
from porter.judging.docket import Docket
from porter.libraries.project import LibraryCalls
from porter.program.included_parts import included_names
from porter.program.preprocess import TranslationUnit, preprocess_all
from porter.program.program_files import program_files
from porter.program.staying import NOT_BUILT
from porter.program.unseen import unseen_in
from porter.project.build import Build
from porter.project.domain import Domain
from porter.project.fragments import is_linker_fragment, is_make_fragment
from porter.project.linker_symbols import SCRIPT_SUFFIXES, placed_names
from porter.project.other_builds import tell_of_links
from porter.project.request import NOTHING_MORE, Request
from porter.project.source_tree import find_sources
from porter.project.unread_inputs import UnreadInputs, unread_inputs
from porter.project.vendor_folders import said, vendor_folders
from porter.result import FilePort, PortResult
from porter.rules.dropped import Dropped
from porter.rules.registry import JUDGES
from porter.source.source_file import SourceFile
from porter.whole_project import WholeProject, build_of

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
    jobs: int = 1,
) -> PortResult:
    """Decide on every site of the program that is built below `root`. Nothing is written.

    `excluded`: folders below `root` that are no part of the project; `cpu`: compiler options that
    select the core, where the project has no build that tells; `core_clock`: hertz of the core on
    the old chip; `jobs`: in how many processes files are looked at.
    """
    return judged_project(root, domain, excluded, progress, cpu, request, core_clock, jobs).result


@dataclass(frozen=True)
class Judged:
    """A port, and all that was known when it was decided, for who asks more about the project."""

    result: PortResult
    docket: Docket


def judged_project(
    root: Path,
    domain: Domain | None = None,
    excluded: Iterable[Path] = (),
    progress: Progress = lambda _message: None,
    cpu: tuple[str, ...] = (),
    request: Request = NOTHING_MORE,
    core_clock: int | None = None,
    jobs: int = 1,
) -> Judged:
    """The same, with the model of the program."""
    root = root.resolve()
    with step("reading the project"):
        found = _texts(root, excluded)
        own, theirs = said(root, request.own), said(root, request.theirs)
        request = replace(request, own=own, theirs=theirs)
        scripts = find_sources(root, excluded, SCRIPT_SUFFIXES)
    read = [source for source in found if not is_linker_fragment(source)]
    progress(f"{len(read)} source files; asking the build system")
    scripts += [source.path for source in found if is_linker_fragment(source)]
    with step("asking the build system"):
        build = build_of(root, read, domain, cpu, request)
        inputs = unread_inputs(root, build, [source.path for source in read])
        named = (it for linking in build.linked for it in linking.scripts if it.is_file())
        scripts = list(dict.fromkeys((*scripts, *named, *inputs.scripts)))
        inputs = replace(inputs, placed=placed_names(scripts))
    with step("preprocessing what is built"):
        units = preprocess_all(build.units, progress, build.again)
        program = program_files(root, read, build, domain, units)

    def decide(sources: list[SourceFile]) -> Judged:
        given = _Given(root, domain, build, units, scripts, request, core_clock, jobs, inputs)
        return _decide(given, sources, progress)

    judged = decide(program)
    others = [source for source in read if source.path not in {it.path for it in program}]
    if others and not judged.result.found:  # of another program: there may be places in the rest
        return decide(read)
    result = replace(judged.result, unread=tuple(it.name for it in others))
    return replace(judged, result=result)


@dataclass(frozen=True)
class _Given:
    """What is known of a project before its code is looked at."""

    root: Path
    domain: Domain | None
    build: Build
    units: Mapping[Path, TranslationUnit]
    scripts: list[Path]
    request: Request
    core_clock: int | None
    jobs: int
    inputs: UnreadInputs


def _decide(given: _Given, read: list[SourceFile], progress: Progress) -> Judged:
    """On every site in files of a project."""
    build, request = given.build, given.request
    failures = Failures()
    progress("looking for calls of libraries")
    with step("looking for calls of libraries"):
        calls = LibraryCalls(read, build)
        sources = [calls.expanded(source) for source in read]
    progress("reading the program as a whole")
    with step("reading the program as a whole"):
        project = _whole(given, sources, calls, progress)
    progress("transcribing context switches")
    with step("transcribing context switches"):
        _transcribe(project, failures)
    docket = _split(project, failures)
    port_files(sources, docket, failures, given.jobs, progress)
    docket.ports |= new_files(project)
    for number, judge in enumerate(JUDGES, start=1):
        progress(f"comparing files with one another: {number} of {len(JUDGES)} questions")
        with step(f"comparing files with one another ({judge.__name__})"):
            judge(docket)
    ports = settled(docket, calls, read, failures)
    progress("looking for what isn't there")
    with step("looking for what isn't there"):
        unseen = unseen_in(
            project.knowledge, project.live, project.program, calls.libraries, request.known
        )
    result = PortResult(
        given.root,
        tuple(port for port in ports if port.verdicts or port.edits),
        len(sources),
        project.guessed_cpu,
        unseen,
        tuple(read),
        docket.devices,
        not build.units,
        build.moved,
        build.compilers,
        build.source,
        sum(verdict.reason == NOT_BUILT for port in ports for verdict in port.verdicts),
        build.stopped,
        failures=tuple(failures.found.values()),
        missing=given.inputs.absent,
        beside=given.inputs.there,
        refused=build.refused,
        on_links=_depends_on_links(build, ports),
        links_told=bool(build.linked or tell_of_links(given.root)),
        vendors=vendor_folders(given.root, read, project.entry, request.theirs, request.own),
    )
    return Judged(result, docket)


def _depends_on_links(build: Build, ports: Iterable[FilePort]) -> int:
    """How many places are left for what nobody said of the linker's options."""
    if build.linked or not build.units:
        return 0
    return sum(it.rule == Dropped.id for port in ports for it in port.verdicts)


def _whole(
    given: _Given, sources: list[SourceFile], calls: LibraryCalls, progress: Progress
) -> WholeProject:
    return WholeProject(
        given.root,
        sources,
        given.domain,
        given.build,
        given.units,
        given.scripts,
        calls,
        given.request.all_arms,
        given.core_clock,
        given.inputs,
        progress,
    )


def _texts(root: Path, excluded: Iterable[Path] = ()) -> list[SourceFile]:
    """Source text, what C includes of other files, and parts of linker scripts that look like some
    by their name."""
    excluded = list(excluded)
    found = [SourceFile.read(root, path) for path in find_sources(root, excluded)]
    found += _included(root, excluded, [it.data for it in found if not it.is_asm])
    return sorted((it for it in found if not is_make_fragment(it)), key=lambda it: it.path)


def _included(root: Path, excluded: Iterable[Path], texts: list[bytes]) -> list[SourceFile]:
    """Files of whatever other suffix that C has by their names, and what these have in turn."""
    found: dict[Path, SourceFile] = {}
    while names := included_names(texts):
        suffixes = frozenset(Path(name).suffix.lower() for name in names)
        paths = find_sources(root, excluded, suffixes)
        new = {path: SourceFile.read(root, path) for path in paths
               if path.name in names and path not in found}  # fmt: skip
        found |= new
        texts = [source.data for source in new.values()]
    return list(found.values())


def split_project(
    root: Path, domain: Domain, progress: Progress = lambda _message: None
) -> list[HandlerSplit]:
    """What becomes of every handler that the domain has a split plan for. Nothing is written."""
    root = root.resolve()
    with step("reading the project"):
        sources = [source for source in _texts(root) if not is_linker_fragment(source)]
    progress(f"{len(sources)} source files; asking the build system")
    with step("asking the build system"):
        build = build_of(root, sources, domain)
    with step("reading the program as a whole"):
        units = preprocess_all(build.units, again=build.again)
        program = program_files(root, sources, build, domain, units)
        project = WholeProject(root, program, domain, build, units)
    progress("splitting handlers")
    with step("splitting handlers"):
        return _splits(project)


def _transcribe(project: WholeProject, failures: Failures) -> None:
    """Let the transcriber look at every live file."""
    for switch in transcribe_project(
        project.root,
        [source.path for source in project.live],
        project.options,
        project.vectors,
        not project.build.units,
        project.linked,
        project.aliases,
        project.units,
        failures,
        project.inputs,
        project.placed,
    ):
        project.switches.setdefault(switch.file, []).append(_moved(switch, project.calls))


def _moved(switch: SwitchPort, calls: LibraryCalls | None) -> SwitchPort:
    """A switch, read from the file as it is on disk, in the text that rules look at."""
    if calls is None:
        return switch
    start, end = (calls.offset(switch.file, at) for at in (switch.start, switch.end))
    return replace(switch, start=start, end=end)


def _split(project: WholeProject, failures: Failures) -> Docket:
    """All files, with the handlers that the description divides."""
    with step("splitting handlers"):
        docket = Docket(project, _splits(project))
    for split in docket.splits:
        if split.failure is not None:
            text = split.function.text if split.function is not None else None
            path = text.file.path if text is not None else docket.project.root
            failures.add(path, split.failure)
    return docket


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
            lambda name: project.program.why_not(name) is None,
        )
    )
