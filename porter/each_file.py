"""What becomes of each file. One that an internal error strikes keeps none of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from porter.context_switch.result import companion_of
from porter.failures import Failure, Failures, step
from porter.file_port import leave, not_ported, port_asm, port_c
from porter.judging.decided import Decided
from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.libraries.project import LibraryCalls
from porter.processes import each
from porter.program.c_text import CText
from porter.result import FilePort
from porter.sites.asm_sites import asm_sites
from porter.sites.c_sites import CSites, Reading
from porter.source.edit import Edit, apply_edits
from porter.source.source_file import SourceFile
from porter.whole_project import WholeProject

_LOOKING = "looking for places"


@dataclass(frozen=True)
class _Outcome:
    """What became of a file, in whatever process: what rules decided if they were asked, and why it
    isn't ported if it isn't."""

    edits: tuple[Edit, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    decided: Decided | None = None
    failure: Failure | None = None


def port_files(
    sources: Iterable[SourceFile],
    docket: Docket,
    failures: Failures,
    jobs: int = 1,
    progress: Callable[[str], None] = lambda _message: None,
) -> None:
    """Port each file by the rules, unless it failed before or does so now; `jobs`: in how many
    processes."""
    sources = list(sources)
    sound = [it for it in sources if it.path not in failures.found]
    if jobs > 1 and len(sound) > 1:
        _prepare(docket.project, progress)
    found = each(partial(_outcome, docket), sound, jobs, _lost, lambda it: progress(it.name))
    outcomes = dict(zip((it.path for it in sound), found, strict=True))
    for source in sources:
        outcome = outcomes.get(source.path, _Outcome())
        docket.ports[source.path] = FilePort(source, outcome.edits, outcome.verdicts)
        if outcome.failure is not None:
            failures.add(source.path, outcome.failure)
        elif outcome.decided is not None:
            unit = _unit(_read(source, docket.project), docket.project)
            docket.units[source.path] = outcome.decided.put_into(unit)


def _prepare(project: WholeProject, progress: Callable[[str], None]) -> None:
    """Find out before there are several processes what each would find out for itself. An error is
    met again by the file that asks."""
    with suppress(Exception):
        for what in project.facts.prepare():
            progress(f"looking for what nearly every file is judged by: {what}")
        written = [source for source in project.live if not source.is_asm]
        read_by = Counter(map(project.knowledge.evaluator, (it.path for it in written)))
        for evaluator, files in read_by.items():
            if files > 1:
                _ = project.registers_of(evaluator).fields


def _outcome(docket: Docket, source: SourceFile) -> _Outcome:
    failures = Failures()
    outcome = _Outcome()
    with failures.of(source.path, source.name, _LOOKING):
        outcome = _judged(source, docket)
    return replace(outcome, failure=failures.found.get(source.path))


def _lost(source: SourceFile, how: str) -> _Outcome:
    return _Outcome(failure=Failure(source.name, None, _LOOKING, how, ()))


def _judged(source: SourceFile, docket: Docket) -> _Outcome:
    project = docket.project
    stays = project.staying.get(source.path)
    if source.is_asm:
        sites = list(dict.fromkeys(asm_sites(source, project.numbered)))
        if stays is not None:
            return _of(leave(source, sites, stays))
        knowledge = project.knowledge
        switches = project.switches.get(source.path, [])
        return _of(port_asm(source, sites, switches, lambda at: knowledge.arm_left_out(source, at)))
    found = _read(source, project, [
        Reading(reader, _sites(text, project))
        for reader, text in project.knowledge.other_readings(source)
    ])  # fmt: skip
    if stays is not None:
        return _of(leave(source, found.sites, stays))
    unit = _unit(found, project)
    splits = [split for split in docket.splits if split.edits and split.function is not None
              and split.function.text.file.path == source.path]  # fmt: skip
    return _of(port_c(unit, splits), Decided.of(unit))


def _of(port: FilePort, decided: Decided | None = None) -> _Outcome:
    return _Outcome(port.edits, port.verdicts, decided)


def _unit(found: CSites, project: WholeProject) -> Unit:
    switches = project.switches.get(found.text.file.path, [])
    return Unit(found, project.domain, project.knowledge, project.facts, switches)


def _read(source: SourceFile, project: WholeProject, readings: Sequence[Reading] = ()) -> CSites:
    return _sites(project.knowledge.text(source), project, readings)


def _sites(text: CText, project: WholeProject, readings: Sequence[Reading] = ()) -> CSites:
    registers = project.registers_of(text.evaluator)
    asked = project.calls.asked(text.file.path) if project.calls is not None else {}
    return CSites(text, registers, project.numbered, asked, readings)


def new_files(project: WholeProject) -> dict[Path, FilePort]:
    """Files that a port adds."""
    known = {source.path for source in project.sources}
    return {
        path: FilePort(
            SourceFile(path, path.relative_to(project.root).as_posix(), b""),
            tuple(Edit(0, 0, switch.replacement) for switch in switches),
            (),
            is_new=True,
        )
        for path, switches in project.switches.items()
        if path not in known
    }


def settled(
    docket: Docket, calls: LibraryCalls, read: Iterable[SourceFile], failures: Failures
) -> list[FilePort]:
    """Every file as it is on disk, with edits that can be made; those that failed as they were,
    without what was made of them in others."""
    ports: dict[Path, FilePort] = {}
    for path, port in docket.ports.items():
        with failures.of(path, port.file.name, "leading edits back into the file"):
            done = ports[path] = calls.settled(port)
            with step("putting edits into the file", line=partial(_first_overlap, done)):
                apply_edits(done.file.data, done.edits)
    for source in read:
        if source.path in failures.found:
            ports[source.path] = not_ported(source, failures.found[source.path])
            ports.pop(companion_of(source.path), None)
    return list(ports.values())


def _first_overlap(port: FilePort) -> int | None:
    """The line in which two edits meet."""
    last = 0
    for edit in sorted(port.edits):
        if edit.start < last:
            return port.file.line(edit.start)
        last = edit.end
    return None
