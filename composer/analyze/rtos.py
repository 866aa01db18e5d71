"""Which RTOS a program is built with: by its files and headers, else by what its handlers do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from composer.analyze.model import RtosFacts, Switch, Told
from composer.analyze.rtos_data import Rtos, rtoses
from porter.port import Judged
from porter.source.source_file import SourceFile

_UNTOLD = "no file of the program has it"


def rtos_of(judged: Judged, switches: Sequence[Switch]) -> tuple[RtosFacts, Rtos | None]:
    """The RTOS, and its data where it is known by name."""
    live = judged.docket.project.live
    built = next(_built(live), None)
    if built is not None:
        rtos, file = built
        told = Told(rtos.name, f"{file.name} is part of the program", (file.name,))
        return _with_version(rtos, told, live), rtos
    used = next(_used(judged), None)
    if used is not None:
        rtos, place = used
        told = Told(rtos.name, "its header is included, its sources aren't compiled", (place,))
        return _with_version(rtos, told, judged.docket.project.sources), rtos
    return RtosFacts(_by_mechanism(judged, switches), Told(None, "")), None


def _built(live: Sequence[SourceFile]) -> Iterator[tuple[Rtos, SourceFile]]:
    """Those of which a file is compiled and a header read."""
    for rtos in rtoses():
        core = next((it for it in live if it.path.name in rtos.core), None)
        header = any(it.is_header and rtos.is_header(it.name) for it in live)
        if core is not None and header and _may_be(rtos, live):
            yield rtos, core


def _used(judged: Judged) -> Iterator[tuple[Rtos, str]]:
    """Those whose headers are included, there or not."""
    project = judged.docket.project
    for rtos in rtoses():
        for header in judged.result.unseen.headers:
            if header.is_certain and rtos.is_header(header.name) and not rtos.needs_version:
                yield rtos, f"{header.file.name}:{header.file.line(header.offset)}"
        for source in project.live if project.build.units else ():
            if source.is_header and rtos.is_header(source.name) and _may_be(rtos, project.live):
                yield rtos, source.name


def _may_be(rtos: Rtos, sources: Sequence[SourceFile]) -> bool:
    """Whether the version says that it is this one where others have headers of its names."""
    return not rtos.needs_version or rtos.version_in(_headers(sources)) is not None


def _headers(sources: Sequence[SourceFile]) -> list[Path]:
    return [it.path for it in sources if it.is_header]


def _with_version(rtos: Rtos, told: Told, sources: Sequence[SourceFile]) -> RtosFacts:
    found = rtos.version_in(_headers(sources))
    if found is None:
        return RtosFacts(told, Told(None, _UNTOLD))
    version, path = found
    name = next(it.name for it in sources if it.path == path)
    tried = version in rtos.recipe.tried if rtos.recipe is not None and rtos.recipe.tried else None
    return RtosFacts(told, Told(version, name, (name,)), tried)


def _by_mechanism(judged: Judged, switches: Sequence[Switch]) -> Told:
    """What can be said of an RTOS that nobody knows by name."""
    own = [it for it in switches if it.role == "switch"]
    if own:
        return Told(
            "one of its own or not known by name",
            f"{own[0].name} switches tasks",
            tuple(it.place for it in own),
        )
    if judged.result.unseen.certain or not judged.docket.project.program.is_whole:
        return Told(
            "none was found",
            "no handler of the tree switches tasks, but not all of the program is there",
        )
    return Told("none, bare metal", "no handler switches tasks, and no RTOS's file is compiled")
