"""RISC-V programs for the scanner, built with the cross compiler as a user would."""

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
  .text : { KEEP(*(.init)) *(.text .text.*) *(.rodata .rodata.* .srodata .srodata.*) } > FLASH
  .data : { *(.data .data.*) __global_pointer$ = . + 0x800; *(.sdata .sdata.*) } > RAM AT> FLASH
  .bss (NOLOAD) : { *(.sbss .sbss.* .bss .bss.*) *(COMMON) __heap_start = .; } > RAM
  __heap_end = ORIGIN(RAM) + LENGTH(RAM);
}
"""
ABI = {"rv32imac": "ilp32", "rv32imafc": "ilp32f"}


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """`build(source, *flags)` compiles text to an ELF; assembly unless `c` is true."""
    folder = tmp_path_factory.mktemp("with space")
    (folder / "flash.ld").write_text(LINKER_SCRIPT)

    def run(source: str, *flags: str, arch: str = "rv32imafc", c: bool = False) -> Path:
        number = len(list(folder.glob("*.elf")))
        path = folder / f"program{number}.{'c' if c else 's'}"
        preamble = "" if c else ".option arch, +zicsr, +zifencei\n.text\n.global _start\n"
        path.write_text(preamble + source)
        elf = path.with_suffix(".elf")
        command = ["riscv64-unknown-elf-gcc", f"-march={arch}", f"-mabi={ABI[arch]}", "-g"]
        command += ["--specs=picolibc.specs"] if c else ["-nodefaultlibs"]
        command += ["-nostartfiles", "-T", "flash.ld"]
        command += ["-Wl,--no-warn-rwx-segments", path.name, "-o", elf.name]
        subprocess.run([*command, *flags], cwd=folder, check=True)
        return elf

    return run


@pytest.fixture(scope="session")
def strip() -> Callable[[Path], Path]:
    """A copy of a program without symbols."""

    def run(elf: Path) -> Path:
        bare = elf.with_name(elf.stem + "-stripped.elf")
        command = ["riscv64-unknown-elf-objcopy", "--strip-all", elf.name, bare.name]
        subprocess.run(command, cwd=elf.parent, check=True)
        return bare

    return run
