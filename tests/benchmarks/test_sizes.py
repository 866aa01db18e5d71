"""Sizes are those of the sections that take room on the chip."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from benchmarks.sizes import listing, size_of, write_json

SOURCE = """
    .section .vectors, "a"
    .space 64
    .text
    .type start, %function
start: .space 100
    .size start, 100
    .section .rodata, "a"
    .space 40
    .data
    .space 8
    .bss
    .type large, %object
large: .space 24
    .size large, 24
    .section .debug_line
    .space 1000
"""
SCRIPT = """
SECTIONS {
    . = 0x08000000;
    .vectors : { *(.vectors) }
    .text : { *(.text) }
    .rodata : { *(.rodata) }
    .data 0x20000000 : AT(0x08001000) { *(.data) }
    .bss : { *(.bss) }
}
"""


def build(folder: Path, name: str) -> None:
    """An ELF where a composed system has that part."""
    place = folder / name
    place.mkdir()
    (place / "a.s").write_text(SOURCE)
    (place / "a.ld").write_text(SCRIPT)
    command = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-nostdlib", "-Wl,-T,a.ld,--build-id=none"]
    command += ["-Wl,--entry=start,-z,max-page-size=4", "a.s", "-o", f"{name}.elf"]
    subprocess.run(command, cwd=place, check=True, capture_output=True)


def test_initialised_data_takes_room_twice_and_zeroed_data_only_in_ram(tmp_path: Path) -> None:
    build(tmp_path, "kernel")
    size = size_of(tmp_path / "kernel" / "kernel.elf")
    assert (size.code, size.tables, size.ram) == (64 + 100 + 40 + 8, 40, 8 + 24)


def test_the_json_has_every_part(tmp_path: Path) -> None:
    for name in ("kernel", "hypervisor"):
        build(tmp_path, name)
    write_json(tmp_path / "sizes.json", {"cm4f-Os": tmp_path})
    size = {"code": 212, "tables": 40, "ram": 32}
    content = json.loads((tmp_path / "sizes.json").read_text())
    assert content == {"cm4f-Os": {"kernel": size, "hypervisor": size}}


def test_the_listing_begins_with_what_is_largest(tmp_path: Path) -> None:
    for name in ("kernel", "hypervisor"):
        build(tmp_path, name)
    lines = list(listing(tmp_path))
    first = lines.index("largest symbols") + 1
    assert [line.split() for line in lines[first : first + 2]] == [
        ["100", "start"],
        ["24", "RAM", "large"],
    ]
