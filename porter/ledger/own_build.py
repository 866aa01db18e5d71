"""The program that a project's own makefile makes, built in a copy: the project stays as it is."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

from porter.ledger.program import Program, read_program
from porter.project.build import make_folders
from porter.project.domain import Domain
from porter.project.tree_copy import tree_copy
from scanner.report.errors import FvmError

_SECONDS = 900
_MAGIC, _TYPE_AT, _EXECUTABLE = b"\x7fELF", 16, b"\x02\x00"
_GIVE = "give what the project builds by --elf FILE"


def build_program(root: Path, domain: Domain | None) -> Program:
    """Raises FvmError where there is no makefile, it fails, or it makes none or several."""
    root = root.resolve()
    folders = make_folders(root)
    if not folders:
        raise FvmError("has no makefile, so it can't be built here", file=root, hint=_GIVE)
    with tree_copy(root) as copy:
        start = time.time()
        _make(root, copy / folders[0].relative_to(root))
        made = [path for path in copy.rglob("*") if _is_program(path)]
        fresh = [path for path in made if path.stat().st_mtime >= start - 1] or made
        if len(fresh) != 1:
            names = ", ".join(sorted(str(path.relative_to(copy)) for path in fresh)) or "none"
            raise FvmError(
                f"its makefile makes not one program but: {names}", file=root, hint=_GIVE
            )
        return read_program(fresh[0], domain, shown=fresh[0].relative_to(copy))


def _make(root: Path, folder: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    try:
        done = subprocess.run(
            ["make", f"-j{os.cpu_count() or 1}"],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_SECONDS,
            check=False,
        )
    except OSError as error:
        raise FvmError(f"make: {error.strerror}", hint="run fvmkit doctor") from error
    except subprocess.TimeoutExpired:
        raise FvmError(f"its build took longer than {_SECONDS} s", file=root, hint=_GIVE) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["no word"]
        errors = [line for line in said if "error" in line.lower()] or said
        raise FvmError(f"its own build fails here: {errors[0]}", file=root, hint=_GIVE)


def _is_program(path: Path) -> bool:
    """Whether it is a linked ELF of a microcontroller: what runs on a computer is dynamic."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as stream:
        head = stream.read(_TYPE_AT + 2)
    return head.startswith(_MAGIC + b"\x01") and head[_TYPE_AT:] == _EXECUTABLE
