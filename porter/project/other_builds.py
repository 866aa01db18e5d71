"""Which files of a tree may say of a build, where the one that was read isn't all of it, and what
they may ask of the linker."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

_NAMES = (
    "[Mm]akefile*", "*.mk", "*.mak", "CMakeLists.txt", "compile_commands.json", "platformio.ini",
    "*.uvprojx", "*.uvproj", "*.ewp", ".cproject", "SConstruct", "meson.build",
)  # fmt: skip
_FOLDERS = ("", "*/", "*/*/")


_COMPILES_ALONE = "compile_commands.json"
_LINK_COMMANDS = "**/CMakeFiles/*.dir/link.txt"
_LARGEST = 1 << 22
_NAME = re.compile(rb"(?<![\w./\\$-])[A-Za-z_]\w*(?![\w./\\])")
"""A word that is no part of a path."""


def tell_of_links(root: Path) -> list[Path]:
    """Files that may say with which options the programs of a tree are linked."""
    files = [it for it in build_files(root) if it.name != _COMPILES_ALONE]
    return [it for it in (*files, *root.glob(_LINK_COMMANDS)) if it.stat().st_size <= _LARGEST]


def words_about_links(root: Path) -> frozenset[str]:
    """Every name in them, and what --wrap makes of it: a function of theirs may be asked for."""
    words = {word.decode("latin-1") for file in tell_of_links(root)
             for word in _NAME.findall(file.read_bytes())}  # fmt: skip
    return frozenset(words | {f"__wrap_{it}" for it in words})


def build_files(root: Path) -> Iterator[Path]:
    """Those at most two folders deep, the outermost first."""
    found = chain.from_iterable(root.glob(deep + name) for deep in _FOLDERS for name in _NAMES)
    yield from sorted(filter(Path.is_file, found), key=lambda it: (len(it.parts), it))
