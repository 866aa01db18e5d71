"""Paths that a compiler saw, as those of the repository that is checked out here."""

from __future__ import annotations

import os
import posixpath
from functools import cache
from pathlib import Path

_LEAST = 2
"""A name alone is no evidence: every tree has a main.c."""


class SourceTree:
    """A folder with the sources. It is shown from the current folder, as people type paths."""

    def __init__(self, root: str) -> None:
        self._root = Path(root).resolve()
        self.place = cache(self._place)

    def _place(self, path: str) -> str:
        """The file of the tree that a path means: that very one, else the one with the longest end
        of the path that is there. Any other path stays as it is, with slashes."""
        plain = posixpath.normpath(path.replace("\\", "/"))
        parts = [part for part in plain.split("/") if part]
        if Path(plain).is_absolute() and Path(plain).is_relative_to(self._root):
            return os.path.relpath(plain)
        if ".." in parts:
            return plain
        for first in range(len(parts) - _LEAST + 1):
            file = self._root.joinpath(*parts[first:])
            if file.is_file():
                return os.path.relpath(file)
        return plain
