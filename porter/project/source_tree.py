"""Which files of a project folder are source text."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from porter.source.source_file import SOURCE_SUFFIXES
from scanner.report.errors import MissingError

_SKIPPED_DIRECTORIES = frozenset({".git", ".svn", ".hg", "__pycache__", ".venv", "node_modules"})


def find_sources(root: Path, excluded: Iterable[Path] = ()) -> list[Path]:
    """Source files below `root`, sorted. Symbolic links to folders are not followed.

    Raises MissingError when `root` is no folder that can be read.
    """
    if not root.is_dir():
        raise MissingError("no such project folder", file=root)
    if not os.access(root, os.R_OK | os.X_OK):
        raise MissingError("the project folder can't be opened", file=root)
    avoid = {path.resolve() for path in excluded}
    found: list[Path] = []
    for folder, subfolders, names in os.walk(root):
        here = Path(folder)
        subfolders[:] = sorted(
            name
            for name in subfolders
            if name not in _SKIPPED_DIRECTORIES and (here / name).resolve() not in avoid
        )
        found += [
            here / name
            for name in sorted(names)
            if Path(name).suffix.lower() in SOURCE_SUFFIXES and (here / name).is_file()
        ]
    return sorted(found)
