"""What a user says of a project beside what its files say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Request:
    """`include_dirs`: folders of headers that the project doesn't contain; `known`: patterns of
    functions that need no looking at; `all_arms`: port arms that this build can't contain, too;
    `theirs` and `own`: folders below the project that are somebody else's, or aren't."""

    include_dirs: tuple[Path, ...] = ()
    known: tuple[str, ...] = ()
    all_arms: bool = False
    theirs: tuple[str, ...] = ()
    own: tuple[str, ...] = ()


NOTHING_MORE = Request()
