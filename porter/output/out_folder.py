"""Writes a ported copy of a project: a whole new folder, or none."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

from porter.ledger.record import Record, sha256, write_record
from porter.output.copied_links import settle_links
from porter.project.folder_links import real
from porter.project.source_tree import PORT_RECORD, is_ported_copy
from porter.result import PortResult
from scanner.report.errors import FvmError

_SKIPPED = frozenset({".git", ".svn", ".hg"})


def write_copy(result: PortResult, out: Path, force: bool, record: Record) -> None:
    """Copy the project to `out` with its edits and the record of the port; an older copy made by
    this command is replaced.

    Raises FvmError when `out` holds anything else, or a file that was edited by hand since, and
    not `force`.
    """
    out = out.resolve()
    if out == result.root or out in result.root.parents:
        raise FvmError("the ported copy can't contain the project itself", file=out)
    if out.exists() and not force:
        _check_replaceable(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as scratch:
            fresh = Path(scratch, "new")
            _copy(result, out, fresh, {out, real(Path(scratch))})
            edited = {port.file.name for port in result.files if port.edits}
            write_record(record, edited, fresh / PORT_RECORD)
            _swap(fresh, out, Path(scratch, "old"))
    except OSError as error:
        raise FvmError(f"can't be written: {error}", file=out) from error


def _swap(fresh: Path, out: Path, old: Path) -> None:
    """Put `fresh` in the place of `out`; an interruption leaves the old folder there."""
    if not out.exists():
        os.replace(fresh, out)
        return
    os.replace(out, old)
    try:
        os.replace(fresh, out)
    except BaseException:
        os.replace(old, out)
        raise


def _copy(result: PortResult, out: Path, fresh: Path, own: set[Path]) -> None:
    """Copy all but version control, earlier copies and `own` folders: `out` may lie in the
    project."""

    def ignored(folder: str, names: list[str]) -> list[str]:
        paths = {name: Path(folder, name) for name in names}
        return [
            name
            for name, path in paths.items()
            if name in _SKIPPED or real(path) in own or is_ported_copy(path)
        ]

    shutil.copytree(result.root, fresh, ignore=ignored, symlinks=True)
    settle_links(result.root, fresh, ignored)
    for port in result.files:
        if port.edits:
            target = fresh / port.file.name
            previous = out / port.file.name
            data = port.ported
            if not port.is_new:
                target.unlink()  # a link must not lead the edit back into the project
            target.write_bytes(data)
            if not port.is_new:
                shutil.copymode(port.file.path, target)
            # An unchanged result keeps its time, so that the next build has nothing to do.
            if previous.is_file() and previous.read_bytes() == data:
                shutil.copystat(previous, target)


def _check_replaceable(out: Path) -> None:
    if not out.is_dir():
        raise FvmError("exists and is no folder", file=out)
    if not any(out.iterdir()):
        return
    manifest = out / PORT_RECORD
    if not manifest.is_file():
        raise FvmError(
            "exists and was not made by this command", file=out, hint="name another or use --force"
        )
    try:
        edited = dict(json.loads(manifest.read_text())["edited"])
    except (ValueError, KeyError, TypeError) as error:
        raise FvmError("is no list of ported files", file=manifest) from error
    for name, expected in edited.items():
        path = out / name
        if path.is_file() and sha256(path.read_bytes()) != expected:
            raise FvmError(
                "was edited since it was ported", file=path, hint="use --force to overwrite it"
            )
