"""What becomes of each file. One that an internal error strikes keeps none of the others."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from porter.context_switch.result import companion_of
from porter.failures import Failures, step
from porter.file_port import leave, not_ported, port_asm, port_c
from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.libraries.project import LibraryCalls
from porter.result import FilePort
from porter.sites.asm_sites import asm_sites
from porter.sites.c_sites import CSites, Reading
from porter.source.edit import Edit, apply_edits
from porter.source.source_file import SourceFile
from porter.whole_project import WholeProject


def port_file(source: SourceFile, docket: Docket, failures: Failures) -> FilePort:
    """Port one file by the rules, unless it failed before or does so now."""
    port = FilePort(source, (), ())
    if source.path not in failures.found:
        with failures.of(source.path, source.name, "looking for places"):
            port = _judged(source, docket)
        if source.path in failures.found:
            docket.units.pop(source.path, None)
    return port


def _judged(source: SourceFile, docket: Docket) -> FilePort:
    project = docket.project
    stays = project.staying.get(source.path)
    switches = project.switches.get(source.path, [])
    if source.is_asm:
        sites = list(dict.fromkeys(asm_sites(source, project.numbered)))
        if stays is not None:
            return leave(source, sites, stays)
        knowledge = project.knowledge
        return port_asm(source, sites, switches, lambda at: knowledge.arm_left_out(source, at))
    found = _sites(source, project)
    if stays is not None:
        return leave(source, found.sites, stays)
    unit = Unit(found, project.domain, project.knowledge, project.facts, switches)
    docket.units[source.path] = unit
    splits = [split for split in docket.splits if split.edits and split.function is not None
              and split.function.text.file.path == source.path]  # fmt: skip
    return port_c(unit, splits)


def _sites(source: SourceFile, project: WholeProject) -> CSites:
    numbered = project.numbered
    asked = project.calls.asked(source.path) if project.calls is not None else {}
    knowledge, registers_of = project.knowledge, project.registers_of
    readings = [
        Reading(reader, CSites(text, registers_of(text.evaluator), numbered, asked))
        for reader, text in (knowledge.other_readings(source) if source.is_header else ())
    ]
    text = knowledge.text(source)
    return CSites(text, registers_of(text.evaluator), numbered, asked, readings)


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
