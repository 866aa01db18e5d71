"""Was every part built from what compose generated last, and from its sources as they are?

An image whose kernel was built for another plan than its domains looks right and isn't: it may
even run with the protection off.
"""

from __future__ import annotations

import hashlib
import re
import shlex
import subprocess
from pathlib import Path

from composer.build import make_environment
from composer.image.composed import Composed
from scanner.report.errors import FvmError

_UP_TO_DATE, _OUT_OF_DATE = 0, 1  # exit status of make --question; others: it can't tell
_RECORDED = re.compile(r"([0-9a-f]{64}) [ *](\S+)")  # a line of sha256sum


def check_fresh(system: Composed) -> None:
    """FvmError that names every part that changed since it was built."""
    stale = [part.name for part in system.parts if _stale(system.folder / part.name, part.name)]
    if stale:
        names = ", ".join(f"'{name}'" for name in stale)
        raise FvmError(
            f"{names} changed since the last build, so nothing was written",
            file=system.folder,
            hint=f"run: fvmkit build {shlex.quote(str(system.folder))}",
        )


def _stale(folder: Path, name: str) -> bool:
    """Whether the ELF in a part's folder is older than what it is made from."""
    record, objects = folder / f"{name}.inputs", folder / "obj"
    if not record.exists() and not objects.exists():
        return False  # nothing was built here: the ELF was put there, and the other checks judge it
    answer = _question(folder) if objects.exists() else None
    if answer in (_UP_TO_DATE, _OUT_OF_DATE):
        return answer == _OUT_OF_DATE
    return _differs_from_record(folder, record)


def _question(folder: Path) -> int | None:
    """Ask make; None where it isn't installed."""
    try:
        done = subprocess.run(
            ["make", "--question"],
            cwd=folder,
            env=make_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError:
        return None
    return done.returncode


def _differs_from_record(folder: Path, record: Path) -> bool:
    """What make can't tell: whether the generated files are those of the build."""
    try:
        recorded = _RECORDED.findall(record.read_text("utf-8"))
        return not recorded or any(
            hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest
            for digest, name in recorded
        )
    except (OSError, ValueError):
        return True
