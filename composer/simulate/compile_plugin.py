"""Compiles the plugin for QEMU with the computer's own C compiler; that takes a moment."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import as_file, files
from pathlib import Path

from composer.setup.tools import HOST_COMPILERS
from scanner.report.errors import InternalError, MissingError

FLAGS = ("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-shared", "-fPIC")
SOURCES = ("trace.c", "spans.c")
SECONDS = 120


def compile_plugin(folder: Path) -> Path:
    """The plugin in `folder`; MissingError when the computer has no C compiler."""
    compiler = next((name for name in HOST_COMPILERS if shutil.which(name)), None)
    if compiler is None:
        raise MissingError(
            "tracing needs a C compiler for this computer, and there is none",
            hint="install one (Debian: apt-get install gcc libc6-dev); fvmkit doctor looks for it",
        )
    target = folder / "trace.so"
    with as_file(files("composer.simulate") / "plugin") as source:
        done = subprocess.run(
            [compiler, *FLAGS, "-o", str(target), *(str(source / name) for name in SOURCES)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    if done.returncode != 0:
        words = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        if any("No such file" in line for line in words):
            raise MissingError(
                f"{compiler} can't compile the tracing plugin: {words[0]}",
                hint="install the C library's headers (Debian: apt-get install libc6-dev)",
            )
        raise InternalError(f"{compiler} can't compile the tracing plugin: {words[0]}")
    return target
