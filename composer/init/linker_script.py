"""The memory that a GNU ld script gives a program, and the stack and heap that it keeps free."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from composer.init.facts import Region
from porter.project.folder_links import real

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_MEMORY = re.compile(r"\bMEMORY\s*\{(.*?)\}", re.DOTALL)
_ENTRY = re.compile(
    r"([A-Za-z_.][\w.]*)\s*(?:\([^)]*\))?\s*:\s*(?:ORIGIN|org|o)\s*=\s*([^,\n]+),\s*"
    r"(?:LENGTH|len|l)\s*=\s*([^\n,}]+)"
)
_SYMBOL = re.compile(r"(?m)^\s*(?:PROVIDE\s*\(\s*)?(\w+)\s*=\s*([^;]+?)\)?\s*;")
_NUMBER = re.compile(r"(0x[0-9A-Fa-f]+|\d+)([KkMm]?)")
_LARGEST = 1 << 20  # bytes of a linker script
_SKIPPED = frozenset({".git", "node_modules", ".venv"})


@dataclass(frozen=True)
class LinkerScript:
    """`stack` and `heap` in bytes, None where the script has no such symbol."""

    path: Path
    regions: tuple[Region, ...]
    stack: int | None
    heap: int | None
    heap_place: str


def find_scripts(root: Path) -> list[Path]:
    """Linker scripts with a MEMORY command, those nearest to the project's folder first."""
    found = []
    for folder, subfolders, names in _walk(root):
        subfolders[:] = sorted(name for name in subfolders if name not in _SKIPPED)
        for name in sorted(names):
            path = folder / name
            if path.suffix in (".ld", ".lds") and _MEMORY.search(_COMMENT.sub("", _text(path))):
                found.append(path)
    return sorted(found, key=lambda path: (len(path.parts), path))


def _walk(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    import os

    for folder, subfolders, names in os.walk(real(root)):
        yield Path(folder), subfolders, names


def choose(scripts: list[Path], root: Path) -> list[Path]:
    """Those that the build files name; all of them when none is named."""
    texts = ""
    for pattern in ("[Mm]akefile", "GNUmakefile", "*.mk", "CMakeLists.txt", "*.cmake"):
        for path in root.glob(pattern):
            texts += _text(path)
    named = [path for path in scripts if re.search(rf"\b{re.escape(path.name)}", texts)]
    return named or scripts


def read_script(path: Path, root: Path) -> LinkerScript:
    """What a script says; what can't be read is left out."""
    raw = _text(path)
    text = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), raw)
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)

    def place(offset: int) -> str:
        return f"{name}:{text.count(chr(10), 0, offset) + 1}"

    symbols = {m.group(1): (m.group(2), m.start(1)) for m in _SYMBOL.finditer(text)}
    regions = []
    memory = _MEMORY.search(text)
    for entry in _ENTRY.finditer(memory.group(1)) if memory else ():
        origin = _number(entry.group(2), symbols)
        length = _number(entry.group(3), symbols)
        if origin is not None and length is not None:
            at = (memory.start(1) if memory else 0) + entry.start()
            regions.append(Region(entry.group(1), origin, length, place(at)))
    stack = _size(symbols, "stack")
    heap = _size(symbols, "heap")
    return LinkerScript(
        path,
        tuple(regions),
        stack[0] if stack else None,
        heap[0] if heap else None,
        place(heap[1]) if heap else "",
    )


def _size(symbols: dict[str, tuple[str, int]], what: str) -> tuple[int, int] | None:
    """The symbol that says how large stack or heap is: `_Min_Heap_Size`, `__heap_size__`."""
    for name, (value, offset) in symbols.items():
        low = name.lower()
        if what in low and "size" in low:
            number = _number(value, symbols)
            if number is not None and number < 1 << 24:
                return number, offset
    return None


def _number(text: str, symbols: dict[str, tuple[str, int]], depth: int = 0) -> int | None:
    """A number, or sums and differences of numbers and symbols."""
    total, sign = 0, 1
    for part in re.split(r"([+-])", text.strip()):
        part = part.strip()
        if part in ("+", "-", ""):
            sign = -1 if part == "-" else 1
            continue
        match = _NUMBER.fullmatch(part)
        if match is not None:
            scale = {"": 1, "K": 1024, "M": 1 << 20}[match.group(2).upper()]
            total += sign * int(match.group(1), 0 if match.group(1)[:2] == "0x" else 10) * scale
        elif part in symbols and depth < 8:
            value = _number(symbols[part][0], symbols, depth + 1)
            if value is None:
                return None
            total += sign * value
        else:
            return None
    return total


def _text(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
