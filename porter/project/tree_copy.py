"""A copy of a project for its own build to work in: not even a dry run of make leaves a folder as
it was. It makes the makefiles that others include, and runs what `$(shell ...)` says."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

_LINKED = frozenset({".git", ".svn", ".hg"})  # asked for versions, and large


@contextmanager
def tree_copy(root: Path) -> Iterator[Path]:
    """The copy of a folder, below a folder of its own under the same path. What lies beside it and
    above is linked there, so that `../library` leads where it did. Raises OSError."""
    root = root.resolve()
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as room:
        copy = Path(os.path.realpath(room), *root.parts[1:])
        for folder in reversed(root.parents):
            _link(folder, Path(os.path.realpath(room), *folder.parts[1:]))
        _copy(root, copy)
        yield copy


def _link(folder: Path, there: Path) -> None:
    """A folder with links to what another one has."""
    if there.is_symlink():  # to the folder, as its own folder's was made
        there.unlink()
    there.mkdir(exist_ok=True)
    with suppress(OSError):  # one that may be gone through and not looked into
        for entry in os.scandir(folder):
            os.symlink(entry.path, os.path.join(there, entry.name))


def _copy(root: Path, copy: Path) -> None:
    def skipped(_folder: str, names: Sequence[str]) -> set[str]:
        return set(names) & _LINKED

    copy.unlink(missing_ok=True)
    with suppress(shutil.Error):  # single files that can't be read, pipes and sockets
        shutil.copytree(root, copy, symlinks=True, ignore=skipped)
    for name in _LINKED:
        if (root / name).exists():
            (copy / name).symlink_to(root / name)
