"""The memory that a GNU ld script gives a program, and the stack and heap that it keeps free."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from composer.init.facts import Region
from porter.project.folder_links import real
from porter.project.linker_symbols import LinkerSymbol, linker_symbols, script_number
from porter.source.comments import without_comments

_MEMORY = re.compile(rb"\bMEMORY\s*\{(.*?)\}", re.DOTALL)
_ENTRY = re.compile(
    rb"([A-Za-z_.][\w.]*)\s*(?:\([^)]*\))?\s*:\s*(?:ORIGIN|org|o)\s*=\s*([^,\n]+),\s*"
    rb"(?:LENGTH|len|l)\s*=\s*([^\n,}]+)"
)
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
            if path.suffix in (".ld", ".lds") and _MEMORY.search(without_comments(_text(path))):
                found.append(path)
    return sorted(found, key=lambda path: (len(path.parts), path))


def _walk(root: Path) -> Iterator[tuple[Path, list[str], list[str]]]:
    import os

    for folder, subfolders, names in os.walk(real(root)):
        yield Path(folder), subfolders, names


def choose(scripts: list[Path], root: Path) -> list[Path]:
    """Those that the build files name; all of them when none is named."""
    texts = b""
    for pattern in ("[Mm]akefile", "GNUmakefile", "*.mk", "CMakeLists.txt", "*.cmake"):
        for path in root.glob(pattern):
            texts += _text(path)
    named = [path for path in scripts if re.search(rb"\b" + re.escape(path.name.encode()), texts)]
    return named or scripts


def read_script(path: Path, root: Path) -> LinkerScript:
    """What a script says; what can't be read is left out."""
    text = without_comments(_text(path))
    name = path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
    symbols = linker_symbols([path])
    known = {symbol.name.encode(): symbol.value for symbol in symbols}
    regions = []
    memory = _MEMORY.search(text)
    for entry in _ENTRY.finditer(memory.group(1)) if memory else ():
        origin, length = (script_number(entry.group(part).strip(), known) for part in (2, 3))
        if memory is not None and origin is not None and length is not None:
            line = text.count(b"\n", 0, memory.start(1) + entry.start()) + 1
            regions.append(Region(entry.group(1).decode(), origin, length, f"{name}:{line}"))
    stack, heap = _size(symbols, "stack"), _size(symbols, "heap")
    return LinkerScript(
        path,
        tuple(regions),
        stack.value if stack else None,
        heap.value if heap else None,
        f"{name}:{heap.line}" if heap else "",
    )


def _size(symbols: list[LinkerSymbol], what: str) -> LinkerSymbol | None:
    """The one that says how large stack or heap is: `_Min_Heap_Size`, `__heap_size__`."""
    for symbol in symbols:
        low = symbol.name.lower()
        if what in low and "size" in low and symbol.value < 1 << 24:
            return symbol
    return None


def _text(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(_LARGEST)
    except OSError:
        return b""
