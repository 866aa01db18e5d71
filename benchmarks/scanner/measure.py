"""How long the scanner and others take for the same code."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import capstone
import numpy as np

from benchmarks.scanner.corpus import ORIGIN, Text, repeated
from scanner.arch.registry import architecture
from scanner.decode.code_space import CodeSpace, executable_pieces
from scanner.decode.marks import Marks
from scanner.decode.search import search
from scanner.image.elf import load_elf
from scanner.policy import Policy
from scanner.scan import scan_bytes

_ROUNDS = 5
_CAPSTONE_BYTES = 2 << 20
_MODES = {
    "arm": (capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS),
    "rv3": (capstone.CS_ARCH_RISCV, capstone.CS_MODE_RISCV32 | capstone.CS_MODE_RISCVC),
}


_BRANCHES = {
    "arm": (b"\xff\xe7", b"\xff\xd0\xff\xe7", b"\x00\xf0\x00\xf8\xff\xe7"),  # B; BEQ, B; BL, B
    "rv3": (b"\x09\xa0", b"\x09\xc1\x09\xa0", b"\xef\x00\x40\x00"),  # J; BEQZ, J; JAL
}
_MIB = 1 << 20


def random_code(machine: int, size: int) -> bytes:
    """An ELF of random bytes."""
    noise = np.random.default_rng(6).bytes(size)
    empty = np.zeros(0, dtype=[("value", "<u4"), ("name", "<u4"), ("section", "<u2")])
    return repeated([Text(machine, noise, empty, b"", b"")], size, with_symbols=False)


def silent_speed(arch: str, elf: bytes) -> float:
    """MB/s of the search for what is looked for at every address."""
    core = architecture(arch)
    space = CodeSpace(executable_pieces(load_elf(elf), ()))
    narrowed = (
        replace(r, patterns=tuple(p for p in r.patterns if p.everywhere)) for r in core.rules
    )
    rules = [rule for rule in narrowed if rule.patterns]
    nowhere = Marks.none(len(space))
    return _speed(2 * len(space), lambda: list(search(space, core.isa, rules, nowhere)))


def everything_speed(arch: str, elf: bytes) -> float:
    """MB/s of a whole scan of a file in memory: loading, code map, rules, addresses."""
    size = sum(len(s.data) for s in load_elf(elf).segments)
    return _speed(size, lambda: scan_bytes(elf, "benchmark", Policy(), arch))


def capstone_speed(arch: str, elf: bytes) -> float:
    """MB/s of Capstone going through the code without operands."""
    handle = capstone.Cs(*_MODES[arch[:3]])
    handle.skipdata = True
    code = bytes(load_elf(elf).segments[0].data[:_CAPSTONE_BYTES])
    return _speed(len(code), lambda: sum(1 for _ in handle.disasm_lite(code, 0)), rounds=1)


def disassembler_speed(program: str, elf: Path) -> dict[str, Any]:
    """MB/s of a disassembler's whole process, or that it isn't there."""
    if shutil.which(program) is None:
        return {"missing": True}
    size = sum(len(s.data) for s in load_elf(elf.read_bytes()).segments)
    seconds, _, _ = _process([program, "-d", str(elf)])
    return {"mb_s": round(size / 1e6 / seconds, 1)}


def process_cost(elf: Path, least: Path) -> dict[str, Any]:
    """Processor time, time by the clock and memory of `fvmkit scan`.

    `least` is a program of a few bytes: what the scan of it takes is the interpreter, the libraries
    and the tables of the instruction set, so the rest is what the larger file costs.
    """
    seconds, clock, memory = _process([sys.executable, "-m", "composer.cli", "scan", str(elf)])
    _, _, start = _process([sys.executable, "-m", "composer.cli", "scan", str(least)])
    return {
        "processor_s": round(seconds, 3),
        "clock_s": round(clock, 3),
        "memory_mb": round(memory / 1e6, 1),
        "memory_at_least_mb": round(start / 1e6, 1),
        "memory_beyond_that_per_byte": round((memory - start) / elf.stat().st_size, 2),
    }


def branches_cost(arch: str) -> float:
    """Seconds of processor time for a MiB of branches, each to the next one, at the worst."""
    units = _BRANCHES[arch[:3]]
    worst = 0.0
    for unit in units:
        code = unit * (_MIB // len(unit))
        begin = _processor_time()
        scan_bytes(code, "benchmark", Policy(), arch, base=ORIGIN, entries=[ORIGIN])
        worst = max(worst, _processor_time() - begin)
    return round(worst, 2)


def _process(command: list[str]) -> tuple[float, float, int]:
    """Processor time and time by the clock in seconds, and the most memory in bytes."""
    probe = (
        "import resource, subprocess, sys, time; t = time.perf_counter();"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); d = time.perf_counter() - t;"
        "u = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(u.ru_utime + u.ru_stime, d, u.ru_maxrss * 1024)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, *command], check=True, capture_output=True, text=True
    )
    seconds, clock, memory = done.stdout.split()
    return float(seconds), float(clock), int(memory)


def _speed(size: int, work: Callable[[], object], rounds: int = _ROUNDS) -> float:
    """MB of so many bytes per second of processor time, the best of some rounds."""
    best = float("inf")
    for _ in range(rounds):
        begin = _processor_time()
        work()
        best = min(best, _processor_time() - begin)
    return round(size / 1e6 / best, 1)


def _processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
