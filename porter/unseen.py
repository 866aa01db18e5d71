"""Looks for what a port can't see: headers and functions that the project uses and doesn't have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from porter.libraries.data import Libraries
from porter.program.unseen import MissingHeader, Unseen
from porter.whole_project import WholeProject


def unseen_in(project: WholeProject, libraries: Libraries, known: Sequence[str]) -> Unseen:
    """What isn't there of a project. `known`: patterns of functions that a person vouched for."""
    calls = project.program.unknown_calls.found(
        libraries, lambda it: project.program.why_not(it) is not None
    )
    unknown = [call for call in calls if not any(fnmatchcase(call.name, it) for it in known)]
    return Unseen(tuple(_missing(project)), tuple(unknown))


def _missing(project: WholeProject) -> list[MissingHeader]:
    by_path = {source.path.resolve(): source for source in project.live if not source.is_asm}
    knowledge = project.knowledge
    unasked = [path for path in by_path if not knowledge.was_asked(path)]
    if not unasked:
        return []
    found: dict[str, MissingHeader] = {}
    for include, is_certain in knowledge.includes.missing(unasked):
        source = by_path.get(include.file)
        if source is None:
            continue  # a header outside the project, or one of a file that stays
        if (known := found.get(include.name)) is not None:
            certain = known.is_certain or is_certain
            found[include.name] = replace(known, count=known.count + 1, is_certain=certain)
        else:
            found[include.name] = MissingHeader(
                include.name, source, include.offset, include.conditions, 1, is_certain
            )
    return list(found.values())
