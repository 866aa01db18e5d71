"""Speed and precision of the scanner, beside disassemblers: build/bench/scanner.json.

All contenders run in turns. Of each figure the median of the rounds and the best are told; it is
the median that is compared with a target.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from benchmarks.scanner.corpus import Text, repeated
from benchmarks.scanner.measure import (
    branches_cost,
    disassembler,
    everything,
    plain_capstone,
    process,
    random_code,
    silent,
)
from benchmarks.scanner.programs import CORES, whole_libraries
from benchmarks.scanner.rounds import ROUNDS, Contender, Figure, in_turns
from scanner import scan_file
from scanner.image.elf import load_elf

OUTPUT = Path(__file__).resolve().parents[2] / "build" / "bench" / "scanner.json"
MIB = 1 << 20
TARGETS = {"silent": 1000.0, "everything": 25.0, "process_s": 0.5, "memory": 4.0, "capstone": 100.0}
COMPARED = "the median of the rounds; of processes that of processor time"
_FORBIDDEN = {"armv7em": b"\x72\xb6\x70\x47", "rv32imac": b"\x02\x90\x02\x90"}
SUBJECTS = {"thumb": ("armv7em", ("m3", "m4f", "m7")), "rv32c": ("rv32imac", ("rv32imac",))}


@click.command()
@click.option("--size", default=32, type=click.IntRange(1), help="MiB of code to scan")
def main(size: int) -> None:
    """Measure, print, and write the results."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = {core: Text.of(whole_libraries(CORES[core], folder)) for core in CORES}
        results: dict[str, Any] = {"size_mib": size, "rounds": ROUNDS}
        results |= {"targets": TARGETS, "compared_with_targets": COMPARED}
        for subject, (arch, cores) in SUBJECTS.items():
            chosen = [texts[core] for core in cores]
            click.echo(f"{subject}: {size} MiB of {', '.join(cores)}")
            results[subject] = _measured(arch, chosen, size * MIB, folder)
        results["precision"] = {core: _precision(folder / f"{core}.elf") for core in CORES}
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(json.dumps(results, indent=2) + "\n")
    click.echo(f"{json.dumps(results, indent=2)}\nwritten to {OUTPUT}")


def _measured(arch: str, texts: list[Text], size: int, folder: Path) -> dict[str, Any]:
    """MB/s of every way to look at the same code, and the cost of whole processes."""
    whole, stripped = repeated(texts, size), repeated(texts, size, with_symbols=False)
    small = repeated(texts[-1:], 512 << 10)
    least = repeated([replace(texts[0], code=_FORBIDDEN[arch])], 4, with_symbols=False)
    noise = random_code(texts[0].machine, size)
    paths = {}
    inputs = {"512k": small, "whole": whole, "stripped": stripped, "least": least}
    for name, data in inputs.items():
        paths[name] = folder / f"{arch}-{name}.elf"
        paths[name].write_bytes(data)
    contenders: dict[str, Contender] = {
        "silent": silent(arch, whole),
        "silent_random": silent(arch, noise),
        "silent_512k": silent(arch, small),
        "everything": everything(arch, whole),
        "everything_stripped": everything(arch, stripped),
        "everything_random": everything(arch, noise),
        "everything_512k": everything(arch, small),
        "capstone": plain_capstone(arch, stripped),
        **{name: disassembler(name, paths["512k"]) for name in _disassemblers(arch)},
        **{f"process_{name}": process(path) for name, path in paths.items()},
    }
    figures = in_turns(contenders)
    memory = {name: _memory(figures, name, paths) for name in ("whole", "stripped")}
    ratio = figures["silent"]["mb_s"].median / figures["capstone"]["mb_s"].median
    return {
        **{
            contender: {name: figure._asdict() for name, figure in found.items()}
            for contender, found in figures.items()
        },
        "silent_to_capstone": round(ratio),
        "memory_beyond_least_per_byte": memory,
        "branches_s_per_mib": branches_cost(arch),
        "met": {
            "silent": figures["silent"]["mb_s"].median >= TARGETS["silent"],
            "everything": figures["everything"]["mb_s"].median >= TARGETS["everything"],
            "process_s": figures["process_512k"]["processor_s"].median <= TARGETS["process_s"],
            "memory": max(memory.values()) <= TARGETS["memory"],
            "capstone": ratio >= TARGETS["capstone"],
        },
    }


def _memory(figures: dict[str, dict[str, Figure]], name: str, paths: dict[str, Path]) -> float:
    """Bytes of memory for a byte of a file.

    What the scan of one forbidden instruction takes is the interpreter, all libraries and the
    tables of the instruction set; the rest is what the larger file costs.
    """
    most, least = (figures[f"process_{n}"]["memory_mb"].median for n in (name, "least"))
    return round((most - least) * 1e6 / paths[name].stat().st_size, 2)


def _disassemblers(arch: str) -> list[str]:
    """Those that are installed."""
    prefix = "riscv64-unknown-elf-" if arch.startswith("rv") else "arm-none-eabi-"
    return [name for name in (f"{prefix}objdump", "llvm-objdump") if shutil.which(name)]


def _precision(elf: Path) -> dict[str, Any]:
    """Findings that may be instructions, per megabyte that can run; and those that are certain."""
    report = scan_file(elf)
    image = load_elf(elf.read_bytes())
    size = sum(len(segment.data) for segment in image.segments if segment.executable)
    possible = Counter(f.rule for f in report.findings if f.certainty == "possible")
    certain = Counter(f.rule for f in report.findings if f.certainty == "certain")
    per_megabyte = {rule: round(count * 1e6 / size, 1) for rule, count in possible.items()}
    return {"bytes": size, "possible_per_mb": per_megabyte, "certain": dict(certain)}


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        print(f"benchmarks.scanner: {error}", file=sys.stderr)
        sys.exit(1)
