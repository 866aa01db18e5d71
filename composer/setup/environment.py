"""The virtual environment `.venv` of a checkout."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from composer.setup.progress import run, say

INPUTS = ("setup.cfg", "pyproject.toml")
STAMP = ".fvmkit-setup"


def fingerprint(root: Path) -> str:
    """What the environment was made from: another value means that it must be made again.

    The path is part of it because scripts in a virtual environment name it.
    """
    digest = hashlib.sha256(f"{root}\n{sys.version}\n".encode())
    for name in INPUTS:
        digest.update((root / name).read_bytes())
    return digest.hexdigest()


def make_environment(root: Path) -> None:
    """Make `.venv` and install fvmkit in it; nothing when it is up to date."""
    folder = root / ".venv"
    stamp = folder / STAMP
    wanted = fingerprint(root)
    if stamp.is_file() and stamp.read_text() == wanted:
        say("virtual environment: up to date")
        return
    stamp.unlink(missing_ok=True)
    # sys._base_executable: inside another virtual environment, the Python that it was made from.
    python = getattr(sys, "_base_executable", sys.executable)
    run("making .venv", [python, "-m", "venv", str(folder)], cwd=root)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    run("installing fvmkit and its libraries in .venv", [*pip, "install", "-e", ".[dev]"], cwd=root)
    stamp.write_text(wanted)
