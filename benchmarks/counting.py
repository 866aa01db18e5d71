"""Runs an image in QEMU under the counting plugin."""

from __future__ import annotations

import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from elftools.elf.elffile import ELFFile

from benchmarks.machines import Machine
from benchmarks.operations import LEFT, LINE, OUTSIDE, TICK, Operation
from benchmarks.samples import WARM_UP, Span, decode
from benchmarks.symbols import Symbols
from composer.setup.tools import HOST_COMPILERS
from composer.simulate.machine import QEMU
from scanner.report.errors import FvmError, MissingError

HERE = Path(__file__).resolve().parent
FLAGS = ("-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-shared", "-fPIC")
LIMIT_REACHED = 3
SECONDS = 1800  # of the host, for one run
INSTRUCTIONS_PER_SAMPLE = 80_000  # a tick is the longest way from one sample to the next


@dataclass(frozen=True)
class Image:
    """Something to run.

    `entries` has the number of the exception that goes to an address, the smallest one if there are
    several; `kernel` is the code that "outside" is outside of.
    """

    elf: Path
    symbols: Symbols
    entries: Mapping[int, int]
    kernel: range


def compile_plugin(folder: Path) -> Path:
    """The plugin, newly compiled if its source is newer."""
    target, source = folder / "measure.so", HERE / "plugin" / "measure.c"
    if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
        return target
    compiler = next((name for name in HOST_COMPILERS if shutil.which(name)), None)
    if compiler is None:
        raise MissingError("counting needs a C compiler for this computer, and there is none")
    include = HERE.parent / "composer" / "simulate" / "plugin"
    command = [compiler, *FLAGS, f"-I{include}", "-o", str(target), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FvmError(f"{compiler} can't compile it: {done.stderr}", file=source)
    return target


def patched(elf: Path, target: Path, words: Mapping[int, int]) -> Path:
    """A copy of the image with other words in its flash."""
    content = bytearray(elf.read_bytes())
    with elf.open("rb") as file:
        for address, word in words.items():
            struct.pack_into("<I", content, _offset(elf, file, address), word)
    target.write_bytes(content)
    return target


def _offset(elf: Path, file: BinaryIO, address: int) -> int:
    for segment in ELFFile(file).iter_segments("PT_LOAD"):
        base = segment["p_paddr"]
        if base <= address < base + segment["p_filesz"]:
            return int(segment["p_offset"]) + address - int(base)
    raise FvmError(f"stores nothing at 0x{address:08x}", file=elf)


def rounds_of(count: int) -> int:
    """How often an operation is performed: some samples are cut by ticks."""
    return count + WARM_UP + count // 4 + 32


def measure(
    machine: Machine, image: Image, operations: Sequence[Operation], count: int, folder: Path
) -> dict[str, Span]:
    """At least `count` undisturbed samples of each operation; FvmError if they don't come."""
    wanted = {operation.rounds for operation in operations}
    words = {
        address: rounds_of(count) if name in wanted else 0
        for name, places in image.symbols.rounds.items()
        for address in places
    }
    elf = patched(image.elf, folder / "run.elf", words)
    config, out = folder / "spans", folder / "samples"
    config.write_text("\n".join(_configuration(image, operations, count)) + "\n")
    out.unlink(missing_ok=True)
    plugin = compile_plugin(folder)
    arguments = [QEMU, "-M", machine.qemu, "-display", "none", "-monitor", "none"]
    arguments += ["-serial", "null", "-kernel", str(elf)]
    arguments += ["-icount", f"shift={machine.shift},sleep=off"]
    arguments += ["-plugin", f"{plugin},config={config},out={out}"]
    done = subprocess.run(
        arguments,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode not in (0, LIMIT_REACHED):
        raise FvmError(f"QEMU ended with status {done.returncode}: {done.stderr}", file=elf)
    spans = dict(zip((o.name for o in operations), decode(out), strict=True))
    missing = [
        name
        for name, span in spans.items()
        if int((span.samples["ticks"] == 0).sum()) < count + WARM_UP
    ]
    if missing:
        raise FvmError(f"didn't get to the end of {', '.join(missing)}", file=elf)
    return spans


def _configuration(image: Image, operations: Sequence[Operation], count: int) -> list[str]:
    code = image.kernel
    lines = [f"kernel {code.start:#x} {code.stop:#x}"]
    limit = (len(operations) + 2) * rounds_of(count) * INSTRUCTIONS_PER_SAMPLE
    lines.append(f"count {count + WARM_UP} {limit}")
    lines += [f"entry {address:#x} {number}" for address, number in image.entries.items()]
    handlers = {image.symbols.function(address) for address in image.entries}
    lines += [f"handler {it.start:#x} {it.end:#x}" for it in handlers]
    lines.append(f"handler {code.start:#x} {code.stop:#x}")
    for number, operation in enumerate(operations):
        for word, place in (("start", operation.start), ("stop", operation.stop)):
            lines += [f"{word} {number} {address}" for address in _places(image, place)]
    return lines


def _places(image: Image, place: str) -> list[str]:
    if place in (LINE, TICK, OUTSIDE, LEFT):
        return [place]
    if place not in image.symbols.marks:
        raise FvmError(f"has no mark '{place}'", file=image.elf)
    return [f"{address:#x}" for address in sorted(image.symbols.marks[place])]
