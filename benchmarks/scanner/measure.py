"""What the scanner and others take for the same code: contenders that run once when called.

Speeds are in bytes of code per second of processor time, so that other work on the machine changes
little; of whole processes the time by the clock is told as well.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import capstone
import numpy as np

from benchmarks.scanner.corpus import ORIGIN, Text, repeated
from benchmarks.scanner.rounds import Contender, Figures
from scanner.arch.registry import architecture
from scanner.decode.code_space import CodeSpace, executable_pieces
from scanner.decode.marks import Marks
from scanner.decode.search import search
from scanner.image.elf import load_elf
from scanner.policy import Policy
from scanner.scan import scan_bytes

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


def silent(arch: str, elf: bytes) -> Contender:
    """The search for what is looked for at every address."""
    core = architecture(arch)
    space = CodeSpace(executable_pieces(load_elf(elf), ()))
    narrowed = (
        replace(r, patterns=tuple(p for p in r.patterns if p.everywhere)) for r in core.rules
    )
    rules = [rule for rule in narrowed if rule.patterns]
    nowhere = Marks.none(len(space))
    return _speed(2 * len(space), lambda: list(search(space, core.isa, rules, nowhere)))


def everything(arch: str, elf: bytes) -> Contender:
    """A whole scan of a file in memory: loading, code map, rules, addresses."""
    return _speed(_code_size(elf), lambda: scan_bytes(elf, "benchmark", Policy(), arch))


def plain_capstone(arch: str, elf: bytes) -> Contender:
    """Capstone going through the code without operands."""
    handle = capstone.Cs(*_MODES[arch[:3]])
    handle.skipdata = True
    code = bytes(load_elf(elf).segments[0].data[:_CAPSTONE_BYTES])
    return _speed(len(code), lambda: sum(1 for _ in handle.disasm_lite(code, 0)))


def disassembler(program: str, elf: Path) -> Contender:
    """The whole process of a disassembler."""
    size = _code_size(elf.read_bytes())
    return lambda: {"mb_s": size / 1e6 / _process([program, "-d", str(elf)])["processor_s"]}


def process(elf: Path) -> Contender:
    """The whole process of `fvmkit scan`.

    Its modules are compiled by a first run that doesn't count, as they are for whoever uses it
    twice.
    """
    command = [sys.executable, "-m", "composer.cli", "scan", str(elf)]
    _process(command)
    return lambda: _process(command)


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


def _code_size(elf: bytes) -> int:
    return sum(len(segment.data) for segment in load_elf(elf).segments)


def _process(command: list[str]) -> Figures:
    """Processor time and time by the clock in seconds, and the most memory in megabytes."""
    probe = (
        "import resource, subprocess, sys, time; t = time.perf_counter();"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); d = time.perf_counter() - t;"
        "u = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(u.ru_utime + u.ru_stime, d, u.ru_maxrss * 1024 / 1e6)"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", probe, *command],
        check=True, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    names = "processor_s", "clock_s", "memory_mb"
    return dict(zip(names, map(float, done.stdout.split()), strict=True))


def _speed(size: int, work: Callable[[], object]) -> Contender:
    """MB of so many bytes per second of processor time."""

    def run() -> Figures:
        begin = _processor_time()
        work()
        return {"mb_s": size / 1e6 / (_processor_time() - begin)}

    return run


def _processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
