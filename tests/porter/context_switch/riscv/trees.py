"""RV32 projects: FreeRTOS' port layer, and small ones of our own."""

from __future__ import annotations

import shutil
from pathlib import Path

from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.trees import KERNEL, ROOT, Tree

HANDLERS = Path(__file__).parent / "handlers"
QEMU = Path(__file__).parent / "qemu"
PORT = ROOT / "benchmarks" / "FreeRTOS-Kernel" / "portable" / "GCC" / "RISC-V"
CHIP = "chip_specific_extensions/RISCV_MTIME_CLINT_no_extensions"
GCC = "riscv64-unknown-elf-gcc"
IMAC = ("-march=rv32imac", "-misa-spec=2.2", "-mabi=ilp32", "--specs=picolibc.specs")
IMAFC = ("-march=rv32imafc", "-misa-spec=2.2", "-mabi=ilp32f", "-ffreestanding")


def freertos(folder: Path) -> Tree:
    """FreeRTOS' port layer, copied into a folder, with a configuration."""
    shutil.copytree(PORT, folder, dirs_exist_ok=True)
    shutil.copy(QEMU / "FreeRTOSConfig.h", folder)
    headers = KERNEL / "include"
    options = CompileOptions((folder, folder / CHIP, headers), (), IMAC, GCC)
    files = (folder / "portASM.S", folder / "port.c", headers / "portable.h", headers / "task.h")
    return Tree(folder, (*files, headers / "FreeRTOS.h"), options)


def own(folder: Path, name: str, text: str | None = None) -> Tree:
    """A handler of our own with its header; `text` in place of what the file has."""
    folder.mkdir(parents=True, exist_ok=True)
    source, header = folder / f"{name}.S", folder / f"{name}.h"
    source.write_text((HANDLERS / source.name).read_text() if text is None else text)
    shutil.copy(HANDLERS / header.name, header)
    return Tree(folder, (source, header), CompileOptions((folder,), (), IMAFC, GCC))


def naked(folder: Path, text: str) -> Tree:
    """A C file."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "trap.c"
    source.write_text(text)
    return Tree(folder, (source,), CompileOptions((folder,), (), IMAFC, GCC))
