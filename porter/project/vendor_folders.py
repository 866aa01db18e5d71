"""Which folders of a project are somebody else's: a vendor's library, CMSIS, an RTOS.

A folder is, if it brings a licence of its own, is a submodule of git, or if nearly all files looked
at in it name a maker of such code as their owner. STM32CubeMX puts ST's name into a project's own
files, too: what lies beside main and is main's owner's, and what has places for a user's code, is
the project's.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path, PurePosixPath

from porter.source.comments import without_comments
from porter.source.source_file import SourceFile
from scanner.report.errors import MissingError

_MAKERS = (
    "STMicroelectronics", "Arm Limited", "Arm Ltd", "Amazon", "Real Time Engineers",
    "Texas Instruments", "NXP", "Freescale", "Nordic Semiconductor", "Silicon Lab", "Infineon",
    "Cypress", "Microchip", "Atmel", "Renesas", "GigaDevice", "Artery", "Nuvoton", "Espressif",
    "Qinheng", "Raspberry Pi",
    "Microsoft", "Express Logic", "RT-Thread", "Micrium", "Giovanni Di Sirio", "SEGGER",
    "Swedish Institute of Computer Science", "ChaN", "libopencm3",
)  # fmt: skip
_OWNED = re.compile(
    rb"(?:copyright|\(c\))[^\n]*?\b(%s)" % b"|".join(re.escape(it.encode()) for it in _MAKERS),
    re.IGNORECASE,
)
_HEAD = 4000  # bytes in which a file says whose it is
_NEARLY_ALL = 0.8
_USERS_PLACE = b"USER CODE BEGIN"
_LICENCES = ("licen[cs]e*", "LICEN[CS]E*", "Licen[cs]e*", "COPYING*")
_SUBMODULE = re.compile(r"^\s*path\s*=\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class VendorFolders:
    """Folders, as paths below the project, and why each is somebody else's."""

    why: Mapping[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str | None:
        """The folder that a file is in; None for one of the project's own."""
        return next((it for it in self.why if name.startswith(f"{it}/")), None)


def vendor_folders(
    root: Path,
    sources: Sequence[SourceFile],
    entry: str = "main",
    theirs: Collection[str] = (),
    own: Collection[str] = (),
) -> VendorFolders:
    """Judged by the files that were looked at; `entry`: the function that the program begins in;
    `theirs` and `own`: folders of which a person says so."""
    search = _Search(root, sources, entry, frozenset(own))
    found = dict.fromkeys(theirs, "said by --vendor")
    for folder, why in search.below(""):
        if not any(_is_in(folder, it) or _is_in(it, folder) for it in theirs):
            found[folder] = why
    return VendorFolders(found)


@dataclass(frozen=True)
class _Search:
    root: Path
    sources: Sequence[SourceFile]
    entry: str
    said_own: frozenset[str]

    def below(self, folder: str) -> Iterator[tuple[str, str]]:
        """The folders of others in a folder that isn't theirs as a whole."""
        for child in sorted(self._children[folder]):
            if child in self.said_own:
                continue
            why = self._why(child)
            if why is not None:
                yield child, why
            else:
                yield from self.below(child)

    def _why(self, folder: str) -> str | None:
        """Why a folder is one library of somebody else."""
        files = self._files[folder]
        if any(_is_in(it, folder) for it in self.said_own) or any(map(self._is_own, files)):
            return None
        if folder in self._submodules:
            return "a submodule of git"
        if any(any(Path(self.root, folder).glob(name)) for name in _LICENCES):
            return "brings a licence of its own"
        owners = Counter(owner for it in files if (owner := owner_of(it)) is not None)
        is_one = folder in self._direct or any(it in self._direct for it in self._children[folder])
        if not is_one or sum(owners.values()) < _NEARLY_ALL * len(files):
            return None
        return f"its files name {' and '.join(name for name, _ in owners.most_common(2))}"

    def _is_own(self, file: SourceFile) -> bool:
        if file.path in self._begins or _USERS_PLACE in file.data:
            return True
        folder = PurePosixPath(file.name).parent
        return any(
            it.parent in (folder, folder.parent) and owner_of(file) in (None, owner)
            for it, owner in self._beside
        )

    @cached_property
    def _begins(self) -> set[Path]:
        entry = re.compile(rb"\b%s\s*\([^;{}]*\)\s*\{" % re.escape(self.entry.encode()))
        return {
            it.path
            for it in self.sources
            if not it.is_asm
            and entry.search(it.data)  # in a comment, most often: an RTOS shows how it is begun
            and entry.search(without_comments(it.data))
        }

    @cached_property
    def _beside(self) -> list[tuple[PurePosixPath, str | None]]:
        """Folders in which the program begins, and whose name it has there."""
        begins = (it for it in self.sources if it.path in self._begins)
        return [(PurePosixPath(it.name).parent, owner_of(it)) for it in begins]

    @cached_property
    def _files(self) -> Mapping[str, list[SourceFile]]:
        """Every file in a folder or below."""
        found: dict[str, list[SourceFile]] = defaultdict(list)
        for source in self.sources:
            for folder in _folders(source.name):
                found[folder].append(source)
        return found

    @cached_property
    def _direct(self) -> set[str]:
        """Folders that files are in."""
        return {_folders(source.name)[0] for source in self.sources}

    @cached_property
    def _children(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for source in self.sources:
            folders = _folders(source.name)
            for child, parent in pairwise(folders):
                found[parent].add(child)
        return found

    @cached_property
    def _submodules(self) -> set[str]:
        file = self.root / ".gitmodules"
        return (
            set(_SUBMODULE.findall(file.read_text("utf-8", "replace"))) if file.is_file() else set()
        )


def owner_of(file: SourceFile) -> str | None:
    """The maker whom a file names as its owner."""
    match = _OWNED.search(file.data, 0, _HEAD)
    if match is None:
        return None
    written = match.group(1).decode().lower()
    return next(it for it in _MAKERS if it.lower() == written)


def _folders(name: str) -> list[str]:
    """The folders around a file, the nearest first, the project's own folder ("") last."""
    return ["" if str(it) == "." else str(it) for it in PurePosixPath(name).parents]


def _is_in(folder: str, outer: str) -> bool:
    return folder == outer or folder.startswith(f"{outer}/")


def said(root: Path, folders: Iterable[str]) -> tuple[str, ...]:
    """Folders as a person wrote them, below the project. Raises MissingError for one that isn't."""
    found = []
    for folder in folders:
        inside = Path(root, folder)
        if not inside.is_dir() or not inside.resolve().is_relative_to(root.resolve()):
            raise MissingError("no such folder in the project", file=folder)
        found.append(inside.resolve().relative_to(root.resolve()).as_posix())
    return tuple(found)
