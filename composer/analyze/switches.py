"""The functions of a context switch, as the transcriber found them."""

from __future__ import annotations

from composer.analyze.model import Switch
from porter.port import Judged
from porter.source.source_file import SourceFile

_DECLARES = "no longer naked"  # the reason at a declaration of a function that is transcribed


def switches_of(judged: Judged) -> tuple[Switch, ...]:
    """Each with what would become of it; new files that hold them are none."""
    project = judged.docket.project
    sources = {it.path: it for it in project.sources}
    return tuple(
        Switch(it.name, it.role, place(sources[path], it.start), it.status, it.reason)
        for path, ports in sorted(project.switches.items())
        for it in ports
        if path in sources and it.start < it.end and it.name and it.reason != _DECLARES
    )


def place(file: SourceFile, offset: int) -> str:
    """`file:line` below the project."""
    return f"{file.name}:{file.line(offset)}"
