"""Sites that the ported machine never runs: other files are built, or nothing is compiled."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from porter.project.domain import Domain
from porter.project.knowledge import Knowledge
from porter.project.vectors import PENDSV, SVC, Vectors
from porter.rules.verdict import Status, Verdict
from porter.source.source_file import SourceFile

_LOST = (
    "stands in the start-up file, whose place the generated one takes: move it to a file of its "
    "own, where it is transcribed"
)
_START_UP = (
    "replaced by the generated start-up",
    "the generated start-up takes the place of a start-up file",
)


def file_stays(
    file: SourceFile, domain: Domain | None, knowledge: Knowledge, has_vectors: bool
) -> str | None:
    """Why a whole file is left alone, or None if it takes part in the build.

    `has_vectors`: a legacy vector table stands in it. Without a description an assembler file
    with one is taken for the start-up file.
    """
    name = PurePosixPath(file.name)
    if domain is not None:
        for replacement in domain.replaced:
            if name == PurePosixPath(replacement.file):
                return f"replaced by {replacement.by}"
        if any(name == PurePosixPath(startup) for startup in domain.startup):
            return _START_UP[0]
    elif has_vectors and file.is_asm:
        return _START_UP[1]
    if not knowledge.is_built(file.path):
        return "not part of this project's build"
    if (reason := knowledge.why_never(file.path)) is not None:
        return reason
    return None


def refuse_lost(verdicts: Iterable[Verdict], vectors: Vectors) -> tuple[Verdict, ...]:
    """Verdicts on a file that is left; a start-up file has no context switch of the machine's."""
    return tuple(
        Verdict(it.site, Status.ESCALATED, it.rule, f"{it.site.where} {_LOST}")
        if it.reason in _START_UP and vectors.served_by([it.site.where]) & {SVC, PENDSV}
        else it
        for it in verdicts
    )
