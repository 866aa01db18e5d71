"""Which files of a project folder are source text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from porter.project.folder_links import linked_folder, real
from porter.source.source_file import SOURCE_SUFFIXES
from scanner.report.errors import MissingError

PORT_RECORD = ".fvm-port.json"
_SKIPPED_DIRECTORIES = frozenset({".git", ".svn", ".hg", "__pycache__", ".venv", "node_modules"})


def find_sources(
    root: Path, excluded: Iterable[Path] = (), suffixes: frozenset[str] = SOURCE_SUFFIXES
) -> list[Path]:
    """Source files below `root`, by suffix, sorted; also those in linked folders that lie
    elsewhere, but none in ported copies.

    Raises MissingError when `root` is no folder that can be read.
    """
    if not root.is_dir():
        raise MissingError("no such project folder", file=root)
    if not os.access(root, os.R_OK | os.X_OK):
        raise MissingError("the project folder can't be opened", file=root)
    avoid = {real(path) for path in excluded}
    return sorted(_sources(real(root), root, frozenset(), avoid, suffixes))


def is_ported_copy(folder: Path) -> bool:
    """Whether a folder is what an earlier port of a project wrote."""
    return (folder / PORT_RECORD).is_file()


def _sources(
    root: Path, start: Path, above: frozenset[Path], avoid: set[Path], suffixes: frozenset[str]
) -> Iterator[Path]:
    """Sources below `start`, which the real folders `above` led to."""
    for folder, subfolders, names in os.walk(start):
        here = Path(folder)
        subfolders[:] = sorted(
            name
            for name in subfolders
            if name not in _SKIPPED_DIRECTORIES
            and real(here / name) not in avoid
            and not is_ported_copy(here / name)
        )
        for name in subfolders:  # os.walk goes into the folders, but not into the links
            target = linked_folder(root, here / name, above)
            if target is not None:
                yield from _sources(root, here / name, above | {target}, avoid, suffixes)
        for name in names:
            if Path(name).suffix.lower() in suffixes and (here / name).is_file():
                yield here / name
