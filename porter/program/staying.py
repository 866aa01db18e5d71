"""Files that the ported machine never runs: other files are built, or nothing is compiled."""

from __future__ import annotations

from pathlib import PurePosixPath

from porter.program.knowledge import Knowledge
from porter.project.domain import Domain
from porter.source.source_file import SourceFile

START_UP = (
    "replaced by the generated start-up",
    "the generated start-up takes the place of a start-up file",
)
"""Why a start-up file stays, with and without a description."""
NOT_BUILT = "not part of this project's build"


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
            return START_UP[0]
    elif has_vectors and file.is_asm:
        return START_UP[1]
    if not knowledge.is_built(file.path):
        return NOT_BUILT
    if (reason := knowledge.why_never(file.path)) is not None:
        return reason
    return None
