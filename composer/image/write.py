"""Write several files: all of them, or none."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from scanner.report.errors import FvmError, MissingError


def temporary_copy(path: Path, content: bytes) -> Path:
    """Put `content` on the disk beside `path`."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    Path(name).chmod(0o644)
    return Path(name)


def check_regular(path: Path) -> None:
    """MissingError for what a file must not take the place of: a folder, or /dev/null."""
    if path.exists() and not path.is_file():
        what = "is a folder" if path.is_dir() else "is no regular file"
        raise MissingError(what, file=path, hint="choose another -o")


def write_all(files: dict[Path, bytes]) -> None:
    """Replace every file; on any failure, Ctrl-C included, all are as they were before.

    Raises FvmError for what the disk or the rights refuse, MissingError for a folder or a device
    in the way.
    """
    for path in files:
        check_regular(path)
    try:
        before = {path: path.read_bytes() if path.exists() else None for path in files}
    except OSError as error:
        raise FvmError(f"can't be replaced: {error.strerror}", file=error.filename) from error
    ready: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            ready[path] = temporary_copy(path, content)
        for path, copy in ready.items():
            os.replace(copy, path)
    except BaseException as error:
        for copy in ready.values():
            copy.unlink(missing_ok=True)
        for path, content_before in before.items():
            if content_before is None:
                if path.exists():
                    path.unlink()
            elif path.read_bytes() != content_before:
                os.replace(temporary_copy(path, content_before), path)
        if isinstance(error, OSError):
            raise FvmError(f"can't be written: {error.strerror}", file=error.filename) from error
        raise
