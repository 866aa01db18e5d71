"""The old chip's memory: what its name, the project file and the linker script say, and how much
of it the built program takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from composer.analyze.model import Memory, Work
from composer.init.linker_script import choose, find_scripts, read_script
from composer.init.memory import built_elf
from porter.project.build import Build
from porter.project.other_builds import build_files

# Flash by the letter behind the number of pins (ST's data sheets, "ordering information").
_ST_FLASH = {"4": 16, "6": 32, "8": 64, "B": 128, "Z": 192, "C": 256, "D": 384, "E": 512,
             "F": 768, "G": 1024, "H": 1536, "I": 2048}  # fmt: skip
_ST_PART = re.compile(r"STM32[A-Z]{1,2}\w{3}[A-Z]([0-9A-Z])(?:[A-Z0-9x].*)?")
_ST_LINE = re.compile(r"STM32[A-Z]{1,2}\w{2,3}x([0-9A-Z])")
_KEIL_CPU = re.compile(r"<Cpu>([^<]+)</Cpu>")
_KEIL_RANGE = re.compile(r"(I(?:RAM|ROM)\d?)\((0x[0-9A-Fa-f]+)([-,])(0x[0-9A-Fa-f]+)\)")
_GNU_MAP = re.compile(
    r"(?m)^(\.[\w.]+)[ \t]*\n?[ \t]+(0x[0-9a-f]+)[ \t]+(0x[0-9a-f]+)(?:[ \t]+load address)?"
)
_KEIL_MAP = re.compile(r"Total (RW|ROM)\s+Size \([^)]*\)\s+(\d+)")
_RAM = range(0x2000_0000, 0x4000_0000)
_NEAR_RAM = range(0x1000_0000, 0x1800_0000)
_SIZED = re.compile(r"heap|stack", re.IGNORECASE)
_NOT_LOADED = re.compile(r"bss|heap|stack|noinit", re.IGNORECASE)
_LARGEST = 64 << 20
_MOST_FILES = 20_000


def memories_of(root: Path, part: str, build: Build) -> tuple[list[Memory], list[Work]]:
    """What is said, the project's own files first; and what can't be told."""
    scripts, problems = scripts_of(root, part, build)
    found = [
        Memory(region.name, region.length, region.place, region.origin)
        for script in scripts
        for region in read_script(script, root).regions
        if region.length
    ]
    found = found or list(_of_keil(root))
    match = _ST_PART.fullmatch(part) or _ST_LINE.fullmatch(part)
    size = _ST_FLASH.get(match.group(1)) if match is not None else None
    if size is not None and not found:
        found.append(Memory("flash", size << 10, f"the part's name, {part}"))
    return found, problems


def scripts_of(root: Path, part: str, build: Build) -> tuple[list[Path], list[Work]]:
    """The linker script of the build; of several the one with the part's name."""
    named = [script for it in build.linked for script in it.scripts if script.is_file()]
    found = list(dict.fromkeys(named)) or choose(find_scripts(root), root)
    if named or len(found) < 2:
        return found, []
    line = part[:9].lower()
    own = [it for it in found if line and line in it.name.lower()] or found
    if len(own) == 1:
        return own, []
    names = tuple(it.relative_to(root).as_posix() for it in own)
    return [], [
        Work(
            "linker scripts",
            len(own),
            "no build file says which of them is linked, so no size was taken from them",
            "have the build say its linker call (make, or a built ELF)",
            names,
        )
    ]


def _of_keil(root: Path) -> Iterator[Memory]:
    for path in build_files(root):
        if path.suffix not in (".uvprojx", ".uvproj"):
            continue
        cpu = _KEIL_CPU.search(path.read_text(encoding="utf-8", errors="replace"))
        for name, first, sign, last in _KEIL_RANGE.findall(cpu.group(1) if cpu else ""):
            begin, end = int(first, 16), int(last, 16)
            size = end - begin + 1 if sign == "-" else end
            yield Memory(name, size, path.relative_to(root).as_posix(), begin)
        return


def used_by(root: Path, build: Build) -> tuple[int | None, int | None, str]:
    """Flash and RAM that the newest built program takes without heap and stack, and its file."""
    elf = built_elf(root, build)
    if elf is not None:
        return elf.flash, elf.ram, elf.name
    for path in _maps(root):
        sizes = _in_map(path)
        if sizes is not None:
            return *sizes, path.relative_to(root).as_posix()
    return None, None, ""


def _maps(root: Path) -> list[Path]:
    found = [it for count, it in enumerate(root.rglob("*.map")) if count < _MOST_FILES]
    found = [it for it in found if it.is_file() and it.stat().st_size <= _LARGEST]
    return sorted(found, key=lambda it: -it.stat().st_mtime)


def _in_map(path: Path) -> tuple[int, int] | None:
    """What a linker's map says: GNU's, or armlink's totals."""
    text = path.read_text(encoding="utf-8", errors="replace")
    totals = dict(_KEIL_MAP.findall(text))
    if totals:
        return int(totals.get("ROM", 0)), int(totals.get("RW", 0))
    flash = ram = 0
    for found in _GNU_MAP.finditer(text.partition("Linker script and memory map")[2]):
        address, size = int(found.group(2), 16), int(found.group(3), 16)
        in_ram = address in _RAM or address in _NEAR_RAM
        # ld prints a load address for what follows .data, too; only the name tells.
        is_loaded = "load address" in found.group() and not _NOT_LOADED.search(found.group(1))
        if in_ram and not _SIZED.search(found.group(1)):
            ram += size
        if (address and not in_ram and address < _RAM.start) or (in_ram and is_loaded):
            flash += size
    return (flash, ram) if flash else None
