"""Which project file of a folder is asked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from porter.project.compiler_command import CompilerCommand
from porter.project.ide import eclipse, iar, keil
from porter.project.ide.project_file import Element, ProjectFile, parsed
from porter.project.relocated import Relocated
from porter.source.source_file import CPLUSPLUS_SUFFIXES

_DEPTHS = ("", "*/", "*/*/")
_DEEPER = ("*/*/*/", "*/*/*/*/")  # where examples of a library have theirs
_MOST = 200  # project files that are looked at
_C_SUFFIXES = CPLUSPLUS_SUFFIXES | {".c"}
_Read = Callable[[Path, Element], ProjectFile | None]
_Candidate = tuple[Path, _Read]
_CMSIS = "core_cm[0-9]*.h"  # IDEs that have their own give its folder to the compiler unasked
_HAVE_CMSIS = (keil.read, iar.read)
# What compiles with GCC comes first: of a project that has several it is the one nearest to ours.
_KINDS: tuple[tuple[str, _Read], ...] = (
    (".cproject", eclipse.read),
    ("*.uvprojx", keil.read),
    ("*.uvproj", keil.read),
    ("*.ewp", iar.read),
)


def project_commands(
    root: Path,
    wanted: Collection[Path] = (),
) -> tuple[list[CompilerCommand], bool, Mapping[str, Path], tuple[Path, ...]]:
    """The compiler's calls of the project file that has most of the wanted files, the first that
    can be read if several have, and whether these are all:
    every file that it names is there, and no other project file has C of its own; and which linked
    folders of another machine became which of the project's; and files that it names and that
    aren't there."""
    moved = Relocated(root)
    near, below = (
        [it.with_linked(moved.folder) for it in _readable(_candidates(root, depths))]
        for depths in (_DEPTHS, _DEEPER)
    )
    choice = [*near, *below] if wanted else near
    if not choice:
        return [], False, {}, ()
    asked = {file.resolve() for file in wanted}
    project = max(choice, key=lambda it: _how_many(it, asked))  # the first of several
    if project.has_cmsis and not any(any(it.glob(_CMSIS)) for it in project.include_dirs):
        nearest = sorted(root.rglob(_CMSIS), key=lambda it: (len(it.parts), it))[:1]
        folders = (*project.include_dirs, *(it.parent for it in nearest))
        project = replace(project, include_dirs=folders)
    several = (it for it in [*near, *below] if it is not project)
    others = {file.resolve() for other in several for file in other.files if _is_c(file)}
    missing = tuple(
        file
        for file in project.files
        if not file.is_file() and not (moved.folder(file.parent) / file.name).is_file()
    )
    is_whole = not missing
    is_whole &= others <= {file.resolve() for file in project.files}
    return project.commands(), is_whole, moved.taken, missing


def chosen_file(root: Path) -> Path | None:
    """The project file that is asked; None if there is none that can be read."""
    project = next(_readable(_candidates(root, _DEPTHS)), None)
    return project.path if project is not None else None


def _how_many(project: ProjectFile, asked: set[Path]) -> int:
    return len({file.resolve() for file in project.files} & asked)


def _is_c(file: Path) -> bool:
    return file.suffix.lower() in _C_SUFFIXES and file.is_file()


def _readable(candidates: Iterator[_Candidate]) -> Iterator[ProjectFile]:
    for path, read in islice(candidates, _MOST):
        document = parsed(path)
        project = read(path, document) if document is not None else None
        if project is not None and any(file.is_file() for file in project.files):
            yield replace(project, has_cmsis=read in _HAVE_CMSIS, path=path)


def _candidates(root: Path, depths: Sequence[str]) -> Iterator[_Candidate]:
    for pattern, read in _KINDS:
        for depth in depths:
            yield from ((path, read) for path in sorted(root.glob(depth + pattern)))
