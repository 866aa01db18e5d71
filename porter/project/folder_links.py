"""Symbolic links to folders outside a project: the build follows them, so the porter does too."""

from __future__ import annotations

import os
from pathlib import Path


def real(path: Path) -> Path:
    """Where a path leads; unlike Path.resolve, a link to itself is no error."""
    return Path(os.path.realpath(path))


def linked_folder(root: Path, link: Path, above: frozenset[Path]) -> Path | None:
    """The folder outside `root` that a link leads to; None if there is nothing to follow.

    What lies inside is found without the link. `above` are the real folders that led here: a
    link back to one of them, or to a folder around one of them, would never end.
    """
    if not link.is_symlink():
        return None
    target = real(link)
    if not target.is_dir() or target.is_relative_to(root):
        return None
    if any(folder.is_relative_to(target) for folder in (root, *above)):
        return None
    return target
