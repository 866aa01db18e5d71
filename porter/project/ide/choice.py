"""Which project file of a folder is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from porter.project.compiler_command import CompilerCommand
from porter.project.ide import eclipse, iar, keil
from porter.project.ide.project_file import Element, ProjectFile, parsed

_DEPTHS = ("", "*/", "*/*/")
# What compiles with GCC comes first: of a project that has several it is the one nearest to ours.
_KINDS: tuple[tuple[str, Callable[[Path, Element], ProjectFile | None]], ...] = (
    (".cproject", eclipse.read),
    ("*.uvprojx", keil.read),
    ("*.uvproj", keil.read),
    ("*.ewp", iar.read),
)


def project_commands(root: Path) -> tuple[list[CompilerCommand], bool]:
    """The compiler's calls of the first project file that can be read, and whether every file
    that it names is there."""
    for path, read in _candidates(root):
        document = parsed(path)
        project = read(path, document) if document is not None else None
        if project is not None and any(file.is_file() for file in project.files):
            return project.commands(), all(file.is_file() for file in project.files)
    return [], False


def _candidates(
    root: Path,
) -> Iterator[tuple[Path, Callable[[Path, Element], ProjectFile | None]]]:
    for pattern, read in _KINDS:
        for depth in _DEPTHS:
            yield from ((path, read) for path in sorted(root.glob(depth + pattern)))
