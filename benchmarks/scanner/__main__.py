"""Speed and precision of the scanner, beside disassemblers: build/bench/scanner.json.

Speed is in bytes of code per second of processor time, so that other work on the machine changes
little; whole processes are measured by the clock as well.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import click

from benchmarks.scanner.corpus import Text, repeated
from benchmarks.scanner.measure import (
    branches_cost,
    capstone_speed,
    disassembler_speed,
    everything_speed,
    process_cost,
    random_code,
    silent_speed,
)
from benchmarks.scanner.programs import CORES, whole_libraries
from scanner import scan_file
from scanner.image.elf import load_elf

OUTPUT = Path(__file__).resolve().parents[2] / "build" / "bench" / "scanner.json"
MIB = 1 << 20
TARGETS = {"silent": 1000.0, "everything": 25.0, "process_s": 0.5, "memory": 4.0, "capstone": 100.0}
SUBJECTS = {"thumb": ("armv7em", ("m3", "m4f", "m7")), "rv32c": ("rv32imac", ("rv32imac",))}


@click.command()
@click.option("--size", default=32, type=click.IntRange(1), help="MiB of code to scan")
def main(size: int) -> None:
    """Measure, print, and write the results."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = {core: Text.of(whole_libraries(CORES[core], folder)) for core in CORES}
        results: dict[str, Any] = {"size_mib": size, "targets": TARGETS}
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
    noise = random_code(texts[0].machine, size)
    paths = {}
    least = repeated(texts[-1:], 64, with_symbols=False)
    inputs = {"whole": whole, "stripped": stripped, "small": small, "least": least}
    for name, data in inputs.items():
        paths[name] = folder / f"{arch}-{name}.elf"
        paths[name].write_bytes(data)
    plain = capstone_speed(arch, stripped)
    silent = silent_speed(arch, whole)
    results = {
        "silent_mb_s": silent,
        "silent_random_mb_s": silent_speed(arch, noise),
        "everything_mb_s": everything_speed(arch, whole),
        "everything_stripped_mb_s": everything_speed(arch, stripped),
        "everything_random_mb_s": everything_speed(arch, noise),
        "silent_512k_mb_s": silent_speed(arch, small),
        "everything_512k_mb_s": everything_speed(arch, small),
        "branches_s_per_mib": branches_cost(arch),
        "capstone_mb_s": plain,
        "silent_to_capstone": round(silent / plain),
        **{name: disassembler_speed(name, paths["small"]) for name in _disassemblers(arch)},
        "process_512k": process_cost(paths["small"], paths["least"]),
        "process_whole": process_cost(paths["whole"], paths["least"]),
        "process_stripped": process_cost(paths["stripped"], paths["least"]),
    }
    return {**results, "met": _met(results)}


def _met(results: dict[str, Any]) -> dict[str, bool]:
    """Whether each target was reached; of a process the processor time counts."""
    memory = results["process_whole"]["memory_beyond_that_per_byte"]
    return {
        "silent": results["silent_mb_s"] >= TARGETS["silent"],
        "everything": results["everything_mb_s"] >= TARGETS["everything"],
        "process_s": results["process_512k"]["processor_s"] <= TARGETS["process_s"],
        "memory": memory <= TARGETS["memory"],
        "capstone": results["silent_to_capstone"] >= TARGETS["capstone"],
    }


def _disassemblers(arch: str) -> tuple[str, ...]:
    prefix = "riscv64-unknown-elf-" if arch.startswith("rv") else "arm-none-eabi-"
    return f"{prefix}objdump", "llvm-objdump"


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
