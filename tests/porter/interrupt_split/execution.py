"""Runs handlers and mid-sections as Arm code in an emulator, with a peripheral behind the bus."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import unicorn
from elftools.elf.elffile import ELFFile
from unicorn import arm_const as arm

from tests.porter.example_domains import ROOT, RUNTIME
from tests.porter.interrupt_split.peripherals import Peripheral

CODE, DATA, STACK, RETURN = 0x0800_0000, 0x2000_0000, 0x2002_0000, 0x0820_0000
PAGE = 0x1000
_MOST_INSTRUCTIONS = 20_000
RECORDS, WORDS = 8, 8

DOMAIN_HEADER = """\
#include <stdint.h>
#include <fvm/split.h>
extern struct fvm_split fvm_split_{irq};
#define FVM_CAP_{irq} 1u
#define FVM_CAP_{irq}_DONE 2u
#define FVM_CAP_{irq}_POST 3u
#define FVM_SHM_{irq}_RING ((volatile void *)0x20001000u)
#define FVM_SHM_{irq}_RING_SIZE 512u
"""
# Stands in for the runtime's two ends: the records go through plain memory.
HARNESS = """\
#include "{section}.c"
struct fvm_split fvm_split_{irq};
uint32_t test_records[8][8], test_count, test_next;
int fvm_split_take(struct fvm_split *split, uint32_t *record, uint32_t words)
{{
    (void)split;
    if (test_next == test_count) {{
        return 0;
    }}
    for (uint32_t i = 0; i < words; i++) {{
        record[i] = test_records[test_next][i];
    }}
    test_next++;
    return 1;
}}
void fvm_split_run(const struct fvm_split_section *section)
{{
    (void)section;
    for (;;) {{
    }}
}}
uint32_t test_capture(uint32_t number) {{ return capture(test_records[number]); }}
uint32_t test_judge(uint32_t number, uint32_t consumed)
{{
    return {judge};
}}
"""
_COMPILER = ["arm-none-eabi-gcc", "-mcpu=cortex-m4", "-mthumb", "-std=gnu11", "-O1"]
STRICT = ("-Wall", "-Wextra", "-Werror")


def compile_object(source: Path, target: Path, folders: Sequence[Path], *options: str) -> str:
    """What the compiler says; empty if all is well."""
    includes = [f"-I{folder}" for folder in (*folders, *(ROOT / name for name in RUNTIME))]
    done = subprocess.run(
        [*_COMPILER, *options, *includes, "-c", "-o", str(target), str(source)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stderr


@dataclass(frozen=True)
class Program:
    """Linked code."""

    segments: tuple[tuple[int, bytes], ...]
    symbols: dict[str, tuple[int, int]]  # address and size

    @classmethod
    def link(cls, objects: Sequence[Path], target: Path) -> Program:
        """Link objects for the emulator."""
        done = subprocess.run(
            [*_COMPILER, "-nostdlib", f"-Wl,-Ttext={CODE:#x},-Tdata={DATA:#x},-e0", "-o",
             str(target), *map(str, objects), "-lc", "-lgcc"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        with target.open("rb") as stream:
            elf = ELFFile(stream)
            segments = tuple(
                (part["p_vaddr"], part.data())
                for part in elf.iter_segments()
                if part["p_type"] == "PT_LOAD"
            )
            table: Any = elf.get_section_by_name(".symtab")
            symbols = {s.name: (s["st_value"], s["st_size"]) for s in table.iter_symbols()}
        return cls(segments, symbols)


class Machine:
    """A program with one peripheral."""

    def __init__(self, program: Program, base: int) -> None:
        self.program = program
        self.peripheral = Peripheral()
        self.uc = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        self.uc.mem_map(CODE, 0x10000)
        self.uc.mem_map(DATA, 0x30000)
        page = base & ~(PAGE - 1)
        shift = base - page
        self.uc.mmio_map(
            page, PAGE,
            lambda _uc, offset, _size, _data: self.peripheral.read(offset - shift), None,
            lambda _uc, offset, _size, value, _data: self.peripheral.write(offset - shift, value),
            None,
        )  # fmt: skip
        for address, data in program.segments:
            self.uc.mem_write(address, data)

    def call(self, name: str, *arguments: int) -> int:
        """Call a function; AssertionError if it doesn't come back."""
        for number, value in enumerate(arguments):
            self.uc.reg_write(arm.UC_ARM_REG_R0 + number, value)
        self.uc.reg_write(arm.UC_ARM_REG_SP, STACK)
        self.uc.reg_write(arm.UC_ARM_REG_LR, RETURN | 1)
        start = self.program.symbols[name][0] | 1
        self.uc.emu_start(start, RETURN, count=_MOST_INSTRUCTIONS)
        assert self.uc.reg_read(arm.UC_ARM_REG_PC) == RETURN, f"{name} doesn't end"
        return int(self.uc.reg_read(arm.UC_ARM_REG_R0))

    def variable(self, name: str) -> bytes:
        """Content of a variable."""
        address, size = self.program.symbols[name]
        return bytes(self.uc.mem_read(address, size))

    def set(self, name: str, content: bytes) -> None:
        """Change a variable."""
        self.uc.mem_write(self.program.symbols[name][0], content)

    def set_word(self, name: str, value: int) -> None:
        """Change a word."""
        self.set(name, struct.pack("<I", value))
