"""Symbolic links of a project in its ported copy, which stands in another place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from porter.project.folder_links import linked_folder, real

Ignore = Callable[[str, list[str]], list[str]]
"""As shutil.copytree takes it."""


def settle_links(root: Path, copy: Path, ignore: Ignore) -> None:
    """Make links into the project lead into the copy, and what lies elsewhere part of it.

    Links that lead nowhere, or in a circle, stay as they are.
    """
    _settle(root, copy, root, copy, frozenset(), ignore)


def _settle(
    root: Path, copy: Path, source: Path, target: Path, above: frozenset[Path], ignore: Ignore
) -> None:
    for entry in sorted(os.listdir(target)):
        original, copied = source / entry, target / entry
        if not copied.is_symlink():
            if copied.is_dir():
                _settle(root, copy, original, copied, above, ignore)
            continue
        meant = real(original)
        if meant.is_relative_to(root):
            inside = copy / meant.relative_to(root)
            if real(copied) != real(inside) and meant.exists():
                copied.unlink()
                copied.symlink_to(os.path.relpath(real(inside), real(target)))
        elif meant.is_file():
            copied.unlink()
            shutil.copy2(meant, copied)
        elif (folder := linked_folder(root, original, above)) is not None:
            copied.unlink()
            shutil.copytree(folder, copied, symlinks=True, ignore=ignore)
            _settle(root, copy, original, copied, above | {folder}, ignore)
