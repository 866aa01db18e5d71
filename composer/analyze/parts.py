"""Names of chips in the files of a project: which part it is written for, and what says so."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from composer.init.linker_script import find_scripts
from porter.execution.guess import beginning_of
from porter.project.build import Build
from porter.project.other_builds import build_files
from scanner.arch.chips import chip as chip_named
from scanner.report.errors import MissingError

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]{3,}")
_DIGITS = re.compile(r"\d")
_LINE = 9  # letters: STM32F103, NRF52840_
_WHOLE = frozenset({"rp2040", "RP2040", "rp2350", "RP2350"})
_SHORTEST = 6  # letters of a part's name; less is a family, or a board
_IDE = ("*.ioc", "*/*.ioc")
_KEIL_DEVICE = re.compile(r"<Device>([^<]+)</Device>")
_IOC_PART = re.compile(r"(?m)^Mcu\.(?:CPN|UserName)=(\S+)")
_IAR_PART = re.compile(r"<name>OGChipSelectEditMenu</name>\s*<state>([^<\t]+)")
_CUBE_PART = re.compile(r'target_mcu"[^>]*value="([^"]+)"')
_STATED = (
    (".uvprojx", _KEIL_DEVICE), (".uvproj", _KEIL_DEVICE), (".ioc", _IOC_PART),
    (".ewp", _IAR_PART), (".cproject", _CUBE_PART),
)  # fmt: skip
_BOARD = re.compile(r"(?m)^\s*board\s*=\s*\w+_([fglhuwc]\d[0-9a-z]{3,5})\s*$")
_OF_CORE = re.compile(r"(?i)(?:ARM)?CM\d+|cortex\w*")


@dataclass(frozen=True)
class Evidence:
    """A part's name in a file; `rank`: the smaller, the more it says of what is built."""

    part: str
    by: str
    rank: int


def evidence(
    root: Path, build: Build, tables: Iterable[Path], read: Sequence[Path]
) -> list[Evidence]:
    """Every name, what says most first. `tables`: files with a vector table that is built; `read`:
    what the program is made of."""
    scripts = [script for it in build.linked for script in it.scripts]
    found = [
        *_defines(build),
        *_stated(root),
        *_of_files(scripts, "linker script", 2, root),
        *_of_files(tables, "start-up file", 3, root),
        *_in_texts(root),
    ]  # fmt: skip
    found += _headers(read, root)
    if not scripts:
        found += _of_files(find_scripts(root), "linker script", 8, root)
    return sorted(dict.fromkeys(found), key=lambda it: it.rank)


def is_part(word: str) -> bool:
    """Whether a word is a part of a family that is known, and no core or board."""
    if len(word) < _SHORTEST or _DIGITS.search(word) is None or _OF_CORE.fullmatch(word):
        return False
    try:
        return chip_named(word).core is not None
    except MissingError:
        return False


def family_of(part: str) -> str:
    """The family that a part's name begins with, as `scan` knows it."""
    return chip_named(part).name


def rest_of(part: str) -> str:
    """What a part's name says beyond its family; x stands for anything there."""
    return part[len(family_of(part)) :].rstrip("xX") if not part.lower().startswith("at") else part


def alike(one: str, other: str) -> bool:
    """Whether two names may be of one part. A header serves parts of several sizes, so that the
    letters behind a family and its line say nothing."""
    pairs = zip(one[:_LINE].upper(), other[:_LINE].upper(), strict=False)
    return family_of(one) == family_of(other) and all(a == b or "X" in (a, b) for a, b in pairs)


def parts_in(text: str, is_whole: bool = False) -> Iterator[str]:
    """Parts among the words of a text, in order; `is_whole`: not those that name a family only."""
    words = (it.removeprefix("generic") for it in _WORD.findall(text))
    for word in words:
        if is_part(word) and (not is_whole or rest_of(word)[:1].isdigit() or word in _WHOLE):
            yield word


def _defines(build: Build) -> Iterator[Evidence]:
    names = dict.fromkeys(it.partition("=")[0] for it in build.options.defines)
    for define in (it for it in names if not it.startswith("USE_")):
        for part in parts_in(define.replace("_", " ")):
            yield Evidence(part, f"-D{define} of the build", 0)


def _stated(root: Path) -> Iterator[Evidence]:
    files = [*build_files(root), *(it for name in _IDE for it in sorted(root.glob(name)))]
    for path in files:
        for suffix, pattern in _STATED:
            if path.name.endswith(suffix):
                for part in dict.fromkeys(pattern.findall(beginning_of(path))):
                    yield Evidence(part.strip(), _name(path, root), 1)


def _of_files(paths: Iterable[Path], what: str, rank: int, root: Path) -> Iterator[Evidence]:
    for path in paths:
        for part in parts_in(path.name.replace("_", " ")):
            yield Evidence(part, f"{what} {_name(path, root)}", rank)


def _in_texts(root: Path) -> Iterator[Evidence]:
    for path in build_files(root):
        if path.suffix in (".uvprojx", ".uvproj", ".ewp", ".json") or path.name == ".cproject":
            continue
        depth = len(path.relative_to(root).parts) - 1  # programs of their own may lie below
        for number, line in enumerate(beginning_of(path).splitlines(), 1):
            code = line.partition("#")[0]
            for part in parts_in(code.replace("_", " "), is_whole=True):
                yield Evidence(part, f"{_name(path, root)}:{number}", 4 + depth)
        if path.name == "platformio.ini":
            for board in _BOARD.findall(beginning_of(path)):
                yield Evidence(f"STM32{board.upper()}", f"board of {_name(path, root)}", 1)


def _headers(read: Sequence[Path], root: Path) -> Iterator[Evidence]:
    """Device headers that the program includes, where there is only one of the kind."""
    names = {it.stem: it for it in read if it.suffix == ".h" and is_part(it.stem)}
    devices = {stem: path for stem, path in names.items() if "_" not in stem}
    for path in devices.values():
        yield Evidence(path.stem, f"device header {_name(path, root)}", 7)


def _name(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)
