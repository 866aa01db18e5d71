"""Edits a project's own files: all of them, or none.

New contents are written and synced next to their files first. A journal in the project folder
names them, so that a run that was killed half way is undone by the next one. Outside git each
edited file keeps a copy with the suffix `.orig`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from scanner.report.errors import FvmError

JOURNAL = ".fvm-port-journal"
_NEW = ".fvm-new"
_OLD = ".fvm-old"


@dataclass(frozen=True)
class Change:
    """A file, what it held when it was read (None: there is none yet), and what it shall hold."""

    path: Path
    before: bytes | None
    after: bytes


def apply_changes(root: Path, changes: Sequence[Change], force: bool = False) -> None:
    """Replace all files. Raises FvmError, with every file as it was, when one can't be replaced.

    Refuses files that changed since they were read and, unless `force`, files that git shows as
    modified: their edits could not be told apart afterwards.
    """
    recover(root)
    in_git = _git(root, "rev-parse", "--is-inside-work-tree") == b"true\n"
    if in_git and not force:
        _refuse_dirty(root, changes)
    for change in changes:
        if _read(change.path) != change.before:
            raise FvmError("changed while it was being ported", file=change.path)
    try:
        _prepare(root, changes)
        for change in changes:
            os.replace(_beside(change.path, _NEW), change.path)
    except BaseException as error:
        recover(root)
        if isinstance(error, OSError):
            raise FvmError(
                f"can't be edited: {error.strerror}; nothing was changed", file=error.filename
            ) from error
        raise
    _finish(root, changes, keep_originals=not in_git)


def recover(root: Path) -> None:
    """Undo what a killed run left behind; no journal, nothing to do."""
    journal = root / JOURNAL
    if not journal.is_file():
        return
    for name, is_new in json.loads(journal.read_text(encoding="utf-8")).items():
        path = root / name
        old = _beside(path, _OLD)
        if old.is_file():
            os.replace(old, path)
        elif is_new:
            path.unlink(missing_ok=True)
        _beside(path, _NEW).unlink(missing_ok=True)
    journal.unlink()
    _sync_folder(root)


def _prepare(root: Path, changes: Sequence[Change]) -> None:
    """Journal, then the old copies, then the new contents: each on disk before the next."""
    names = {os.path.relpath(change.path, root): change.before is None for change in changes}
    _write(root / JOURNAL, json.dumps(names).encode())
    _sync_folder(root)
    for change in changes:
        new = _beside(change.path, _NEW)
        _write(new, change.after)
        if change.before is not None:
            old = _beside(change.path, _OLD)
            _write(old, change.before)
            shutil.copystat(change.path, old)
            shutil.copymode(change.path, new)


def _finish(root: Path, changes: Sequence[Change], keep_originals: bool) -> None:
    for folder in {change.path.parent for change in changes}:
        _sync_folder(folder)
    (root / JOURNAL).unlink()  # from here on the new files are the project
    for change in changes:
        if change.before is None:
            continue
        old = _beside(change.path, _OLD)
        original = change.path.with_name(change.path.name + ".orig")
        if keep_originals and not original.exists():
            os.replace(old, original)
        else:
            old.unlink()


def _refuse_dirty(root: Path, changes: Sequence[Change]) -> None:
    paths = [str(change.path) for change in changes]
    status = _git(root, "status", "--porcelain", "-z", "--untracked-files=all", "--", *paths)
    for entry in status.split(b"\0"):
        if entry:
            raise FvmError(
                "has changes that git doesn't have",
                file=os.fsdecode(entry[3:]),
                hint="commit them, or use --force",
            )


def _git(root: Path, *arguments: str) -> bytes:
    """Output of a git command; empty where there is no git or no repository."""
    with suppress(OSError):
        process = subprocess.run(
            ["git", "-C", str(root), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if process.returncode == 0:
            return process.stdout
    return b""


def _read(path: Path) -> bytes | None:
    with suppress(OSError):
        return path.read_bytes()
    return None


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(f".{path.name}{suffix}")


def _write(path: Path, data: bytes) -> None:
    with path.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
