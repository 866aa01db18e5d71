"""The programs that fvmkit needs from the system, and where Debian and Ubuntu keep them."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

HOST_COMPILERS = ("cc", "gcc", "clang")
CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
PROBE_SECONDS = 120  # a tool that says nothing for so long counts as missing


@dataclass(frozen=True)
class Tool:
    """A program, what it is for, and the package that brings it.

    `probe` returns the version as text, or None when the tool is missing or unusable. What isn't
    `needed` is installed where that is easy; without it something small is missing.
    """

    name: str
    package: str
    purpose: str
    probe: Callable[[], str | None]
    needed: bool = True


def first_line(*argv: str) -> str | None:
    """First line that a command prints, or None when it can't be run or fails."""
    if shutil.which(argv[0]) is None:
        return None
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.splitlines()
    return lines[0].strip() if done.returncode == 0 and lines else None


def version_of(command: str) -> Callable[[], str | None]:
    """A probe that takes the version number out of `command --version`."""

    def probe() -> str | None:
        line = first_line(command, "--version")
        if line is None:
            return None
        # Debian puts the version of its package in parentheses; the program's own is outside.
        found = re.search(r"\d+(?:\.\d+)+", re.sub(r"\(.*?\)", "", line))
        return found[0] if found else line

    return probe


def newlib() -> str | None:
    """The C library for the cross compiler: found when it resolves to a path."""
    path = first_line("arm-none-eabi-gcc", "-print-file-name=libc.a")
    return "found" if path is not None and "/" in path else None


def venv_module() -> str | None:
    """Debian splits ensurepip off into python3-venv."""
    return "found" if importlib.util.find_spec("ensurepip") is not None else None


def host_compiler() -> str | None:
    """The first compiler for this computer itself that there is."""
    versions = (version_of(name)() for name in HOST_COMPILERS)
    return next((version for version in versions if version is not None), None)


def host_headers() -> str | None:
    """The C library to compile with: Debian's gcc comes without."""
    for name in HOST_COMPILERS:
        if first_line(name, "-E", "-include", "sys/mman.h", "-x", "c", os.devnull) is not None:
            return "found"
    return None


def spin() -> str | None:
    """Spin tells its version by an option of its own."""
    line = first_line("spin", "-V")
    return line.removeprefix("Spin Version ").split()[0] if line else None


def multilib() -> str | None:
    """The host's compiler makes programs of 32 bits: found when it has their start-up code."""
    path = first_line("gcc", "-m32", "-print-file-name=crt1.o")
    return "found" if path is not None and "/" in path else None


def picolibc() -> str | None:
    """The C library for RISC-V: found when the compiler knows its specs."""
    path = first_line("riscv64-unknown-elf-gcc", "-print-file-name=picolibc.specs")
    return "found" if path is not None and "/" in path else None


def chromium() -> str | None:
    """The first Chromium that there is."""
    versions = (version_of(name)() for name in CHROMIUMS)
    return next((version for version in versions if version is not None), None)


TOOLS: tuple[Tool, ...] = (
    Tool("python3-venv", "python3-venv", "the virtual environment", venv_module),
    Tool("git", "git", "applying port diffs", version_of("git")),
    Tool("make", "make", "building the domains", version_of("make")),
    Tool("arm-none-eabi-gcc", "gcc-arm-none-eabi", "compiling", version_of("arm-none-eabi-gcc")),
    Tool("newlib", "libnewlib-arm-none-eabi", "the C library of the domains", newlib),
    Tool("qemu-system-arm", "qemu-system-arm", "fvmkit run", version_of("qemu-system-arm")),
    Tool("cc", "gcc", "fvmkit run --trace", host_compiler, needed=False),
    Tool("libc6-dev", "libc6-dev", "fvmkit run --trace", host_headers, needed=False),
    Tool(
        "gcc -m32", "gcc-multilib", "tests of the kernel on this computer", multilib, needed=False
    ),
    Tool("spin", "spin", "the models of proofs/models", spin, needed=False),
    Tool("gdb-multiarch", "gdb-multiarch", "debugging and some tests", version_of("gdb-multiarch")),
    Tool(
        "riscv64-unknown-elf-gcc",
        "gcc-riscv64-unknown-elf",
        "tests of the scanner on RISC-V",
        version_of("riscv64-unknown-elf-gcc"),
        needed=False,
    ),
    Tool(
        "picolibc",
        "picolibc-riscv64-unknown-elf",
        "tests of the scanner on RISC-V",
        picolibc,
        needed=False,
    ),
    Tool(
        "qemu-system-riscv32",
        "qemu-system-misc",
        "tests of the scanner on RISC-V",
        version_of("qemu-system-riscv32"),
        needed=False,
    ),
    # The headless shell is the smallest package that draws a page: 64 MB to download.
    Tool("chromium", "chromium-headless-shell", "tests of fvmkit report", chromium, needed=False),
)


def missing_tools() -> list[Tool]:
    """The tools that the system lacks, in the order of TOOLS."""
    return [tool for tool in TOOLS if tool.probe() is None]
