"""Which files of a tree may say of a build, where the one that was read isn't all of it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

_NAMES = (
    "[Mm]akefile*", "*.mk", "*.mak", "CMakeLists.txt", "compile_commands.json", "platformio.ini",
    "*.uvprojx", "*.uvproj", "*.ewp", ".cproject", "SConstruct", "meson.build",
)  # fmt: skip
_FOLDERS = ("", "*/", "*/*/")


def build_files(root: Path) -> Iterator[Path]:
    """Those at most two folders deep, the outermost first."""
    found = chain.from_iterable(root.glob(deep + name) for deep in _FOLDERS for name in _NAMES)
    yield from sorted(filter(Path.is_file, found), key=lambda it: (len(it.parts), it))
