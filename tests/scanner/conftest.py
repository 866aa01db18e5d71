"""Programs for the scanner, built with the cross compiler as a user would."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Build = Callable[..., Path]

LINKER_SCRIPT = """
ENTRY(_start)
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 4M
         RAM (rw) : ORIGIN = 0x20000000, LENGTH = 128K }
SECTIONS {
  .text : { KEEP(*(.isr_vector)) *(.text .text.*) *(.rodata .rodata.*) } > FLASH
  .ARM.exidx : { *(.ARM.exidx*) } > FLASH
  .data : { *(.data .data.*) } > RAM AT> FLASH
  .bss (NOLOAD) : { *(.bss .bss.*) *(COMMON) end = .; _end = .; } > RAM
}
"""


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """`build(source, *flags)` compiles text to an ELF; assembly unless `c` is true."""
    folder = tmp_path_factory.mktemp("with space")
    (folder / "flash.ld").write_text(LINKER_SCRIPT)

    def run(source: str, *flags: str, cpu: str = "cortex-m4", c: bool = False) -> Path:
        number = len(list(folder.glob("*.elf")))
        path = folder / f"program{number}.{'c' if c else 's'}"
        preamble = "" if c else ".syntax unified\n.thumb\n.text\n.global _start\n"
        path.write_text(preamble + source)
        elf = path.with_suffix(".elf")
        command = ["arm-none-eabi-gcc", f"-mcpu={cpu}", "-mthumb", "-g", "-nostartfiles"]
        command += ["-T", "flash.ld", "-Wl,--no-warn-rwx-segments", path.name, "-o", elf.name]
        subprocess.run([*command, *flags], cwd=folder, check=True)
        return elf

    return run


@pytest.fixture(scope="session")
def strip() -> Callable[[Path], Path]:
    """A copy of a program without symbols."""

    def run(elf: Path) -> Path:
        bare = elf.with_name(elf.stem + "-stripped.elf")
        command = ["arm-none-eabi-objcopy", "--strip-all", elf.name, bare.name]
        subprocess.run(command, cwd=elf.parent, check=True)
        return bare

    return run
