"""Paths of the machine on which a project was built, where its files lie elsewhere here.

IDEs and compile_commands.json write them in full, and people commit them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path, PureWindowsPath

from porter.project.compiler_command import CompilerCommand
from porter.project.source_tree import is_ported_copy

_DRIVE = re.compile(r"(?:^|/)[A-Za-z]:[\\/]")
_SURE = 2  # names at the end of a path that tell a folder wherever it is
_MOST = 20_000  # folders that are looked at


class Relocated:
    """Finds folders in a project's own by the end of their paths. `taken`: which became which."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[Path, Path] = {}
        self.taken: dict[str, Path] = {}

    def command(self, command: CompilerCommand) -> CompilerCommand:
        """The same compiler call, here."""
        folders = tuple(map(self.folder, command.options.include_dirs))
        files = tuple(self.folder(it.parent) / it.name for it in command.files)
        others = tuple(self.folder(it.parent) / it.name for it in command.others)
        return CompilerCommand(files, replace(command.options, include_dirs=folders), others)

    def folder(self, path: Path) -> Path:
        """Where a folder is here; the path itself if that is here, or nobody knows."""
        if path not in self._known:
            self._known[path] = path
            parts = () if path.is_dir() else _elsewhere(path, self._root)
            found = self._by_its_end(parts)
            if found is not None:
                self._known[path] = found
                self.taken["/".join(parts)] = found
        return self._known[path]

    def _by_its_end(self, parts: tuple[str, ...]) -> Path | None:
        """The longest end that a folder has here: a project's own, or the only one there is."""
        lower = tuple(part.lower() for part in parts)
        for first in range(len(lower)):
            end = lower[first:]
            alike = [it for it in self._folders.get(end[-1], ()) if _lower(it)[-len(end) :] == end]
            if (exact := next((it for it in alike if _lower(it) == end), None)) is not None:
                return self._root / exact
            if alike:
                return self._root / alike[0] if len(alike) == 1 and len(end) >= _SURE else None
        return None

    @cached_property
    def _folders(self) -> dict[str, list[Path]]:
        """The project's folders, counted from its own, by their names in small letters."""
        found: dict[str, list[Path]] = {}
        for number, folder in enumerate(_below(self._root)):
            if number == _MOST:
                break
            found.setdefault(folder.name.lower(), []).append(folder)
        return found


def _below(root: Path) -> Iterator[Path]:
    for place, names, _ in os.walk(root):
        names[:] = sorted(
            name
            for name in names
            if not name.startswith(".") and not is_ported_copy(Path(place, name))
        )
        yield from ((Path(place) / name).relative_to(root) for name in names)


def _lower(path: Path) -> tuple[str, ...]:
    return tuple(part.lower() for part in path.parts)


def _elsewhere(path: Path, root: Path) -> tuple[str, ...]:
    """The names in a path that another machine wrote, without its drive; () for one of here."""
    text = str(path)
    if (drive := _DRIVE.search(text)) is not None:
        return PureWindowsPath(text[drive.end() :].lstrip("/\\")).parts
    is_here = not path.is_absolute() or path.is_relative_to(root)
    return () if is_here or root.is_relative_to(path.parent) else path.parts[1:]
