"""The benchmark on a real STM32F405; see docs/hardware-benchmark.md.

python -m benchmarks.hardware build --hse 8
python -m benchmarks.hardware collect /dev/ttyUSB0
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from benchmarks.build import ROOT
from benchmarks.hardware.build import build as build_images
from benchmarks.hardware.collect import read_table, serial_lines, store, text
from scanner.report.errors import FvmError

RESULTS = ROOT / "build" / "bench" / "hardware.json"


@click.group()
def main() -> None:
    """Build for a board, and collect what it measured."""


@main.command()
@click.option("--hse", default=8, type=click.IntRange(4, 26), help="the board's crystal, in MHz")
def build(hse: int) -> None:
    """Build both images; says where they are."""
    built = build_images(hse)
    print(f"bare metal: {built.bare.elf.with_suffix('.bin')}, to 0x08000000")
    print(f"virtual:    {built.virtual.elf.with_suffix('.bin')}, to 0x08000000; verify accepts it")


@main.command()
@click.argument("port", type=click.Path(path_type=Path))
def collect(port: Path) -> None:
    """Read one table from a serial PORT (or a file), add it to build/bench/hardware.json."""
    tables = store(RESULTS, read_table(serial_lines(port)))
    print("\n".join(text(tables)))


if __name__ == "__main__":
    try:
        main()
    except FvmError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
