"""Real programs of some size: everything that the compilers' libraries hold, linked for a core."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCE = """
int main(void) { return 0; }
void *__dso_handle;
void _start(void) { main(); for (;;) ; }
"""
LINKER_SCRIPT = """
ENTRY(_start)
MEMORY { FLASH (rx) : ORIGIN = 0x08000000, LENGTH = 64M
         RAM (rw) : ORIGIN = 0x20000000, LENGTH = 16M }
SECTIONS {
  .text : { *(.text .text.*) } > FLASH
  .rodata : { *(.rodata .rodata.* .srodata .srodata.*) } > FLASH
  .ARM.exidx : { *(.ARM.exidx*) *(.ARM.extab*) } > FLASH
  .data : { *(.data .data.* .sdata .sdata.*) } > RAM AT> FLASH
  .bss (NOLOAD) : { *(.bss .bss.* .sbss .sbss.*) *(COMMON) end = .; _end = .; } > RAM
}
"""
_LINK = "-S,--no-gc-sections,--no-warnings,--unresolved-symbols=ignore-all,-z,muldefs"


@dataclass(frozen=True)
class Core:
    """A core that the libraries are built for, and how they are linked for it."""

    name: str
    arch: str
    prefix: str
    flags: tuple[str, ...]
    libraries: tuple[str, ...]


_NEWLIB = ("-lstdc++", "-lc", "-lm", "-lgcc")
_PICOLIBC = ("-lc", "-lgcc")

CORES = {
    core.name: core
    for core in (
        Core("m0plus", "armv6m", "arm-none-eabi-", ("-mcpu=cortex-m0plus", "-mthumb"), _NEWLIB),
        Core("m3", "armv7m", "arm-none-eabi-", ("-mcpu=cortex-m3", "-mthumb"), _NEWLIB),
        Core(
            "m4f",
            "armv7em",
            "arm-none-eabi-",
            ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"),
            _NEWLIB,
        ),
        Core(
            "m7",
            "armv7em",
            "arm-none-eabi-",
            ("-mcpu=cortex-m7", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-d16"),
            _NEWLIB,
        ),
        Core(
            "m33",
            "armv8m.main",
            "arm-none-eabi-",
            ("-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"),
            _NEWLIB,
        ),
        Core(
            "rv32imac",
            "rv32imac",
            "riscv64-unknown-elf-",
            ("-march=rv32imac", "-mabi=ilp32", "--specs=picolibc.specs"),
            _PICOLIBC,
        ),
    )
}


def whole_libraries(core: Core, folder: Path) -> Path:
    """Link all that the core's libraries hold to an ELF, about a megabyte of code."""
    (folder / "all.c").write_text(SOURCE)
    (folder / "all.ld").write_text(LINKER_SCRIPT)
    elf = folder / f"{core.name}.elf"
    command = [f"{core.prefix}gcc", *core.flags, "-nostartfiles", "-T", "all.ld", f"-Wl,{_LINK}"]
    command += ["all.c", "-Wl,--whole-archive", *core.libraries, "-Wl,--no-whole-archive"]
    subprocess.run([*command, "-o", elf.name], cwd=folder, check=True)
    return elf
