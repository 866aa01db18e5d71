"""Source trees of RTOSes that a user has, each known by files that it must have.

`RTOS_TREES` names a folder with a tree in each of its folders, whatever they are called."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

_DEEPEST = 2  # a tree may lie in a folder of its publisher's name


def trees_folder() -> Path | None:
    """The folder that the user named."""
    named = os.environ.get("RTOS_TREES", "")
    return Path(named).expanduser() if named else None


def find(wanted: Mapping[str, Iterable[str]], folder: Path | None) -> tuple[dict[str, Path], str]:
    """Where each tree is, or why it isn't to be had. `wanted` says of each what it must have."""
    if folder is None:
        return {}, "RTOS_TREES isn't set (a folder with a source tree in each of its folders)"
    found: dict[str, Path] = {}
    for name, marks in wanted.items():
        for candidate in _folders(folder):
            if all((candidate / mark).is_file() for mark in marks):
                found[name] = candidate
                break
        else:
            return {}, f"no folder in RTOS_TREES has {' and '.join(marks)}"
    return found, ""


def _folders(folder: Path) -> Iterator[Path]:
    """The folder and those in it, the upper ones first."""
    level = [folder]
    for _ in range(_DEEPEST + 1):
        yield from level
        level = [it for parent in level for it in sorted(parent.glob("*/")) if it.is_dir()]
