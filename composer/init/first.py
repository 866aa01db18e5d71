"""The steps of `fvmkit init`: read the projects, draft the system, look whether it is valid."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from composer.chips.chip import load_board, load_chip
from composer.description.model import Place
from composer.description.parse import parse
from composer.init.draft import Draft, draft
from composer.init.project import read_project, renamed, vm_name
from composer.init.xml_text import xml_text
from composer.resolve import resolve
from scanner.report.errors import FvmError, MissingError

_RESERVED = frozenset({"kernel", "hypervisor", "ported", "image", "split"})
_LONGEST_NAME = 23
FAMILY = "stm32f4"  # whose registers the readers of set-up code know


@dataclass(frozen=True)
class First:
    """A first description: `problem` is what compose would refuse, None if it is valid."""

    draft: Draft
    text: str
    problem: FvmError | None


def first_description(
    folders: Sequence[Path],
    chip_name: str,
    board_name: str | None,
    target: Path,
    progress: Callable[[str], None] = lambda _message: None,
) -> First:
    """The description of these projects, to be written to `target`. Raises FvmError."""
    place = Place("the command line")
    try:
        chip = load_chip(known_name(chip_name), place)
        board = load_board(board_name, place) if board_name else None
    except FvmError as error:
        raise MissingError(error.message, hint=error.hint) from None
    if board is not None and board.chip != chip.name:
        raise MissingError(
            f"board '{board.name}' has chip {board.chip}, not {chip.name}",
            hint="correct --chip or --board",
        )
    if chip.family != FAMILY:
        raise MissingError(
            f"init reads set-up code for {FAMILY} chips only, {chip.name} is {chip.family}",
            hint="write the description by hand: docs/own-board.md, docs/system-description.md",
        )
    projects = []
    taken: set[str] = set(_RESERVED)
    for folder in folders:
        project = read_project(folder, chip, _prefixed(progress, folder.name))
        projects.append(renamed(project, _unique(project.name, taken)))
    system = draft(_system_name(target), chip, board, projects)
    text = xml_text(system, target.parent)
    return First(system, text, _problem(text, target))


def known_name(name: str) -> str:
    """A chip's own name for one in other letters, or for the only one that it begins."""
    folder = files("composer.chips") / "data"
    known = [f.name.removesuffix(".json") for f in folder.iterdir() if f.name.endswith(".json")]
    same = [chip for chip in known if chip.upper() == name.upper()]
    begun = [chip for chip in known if chip.upper().startswith(name.upper())] if name else []
    return (same or (begun if len(begun) == 1 else [name]))[0]


def _prefixed(progress: Callable[[str], None], name: str) -> Callable[[str], None]:
    return lambda message: progress(f"{name}: {message}")


def _unique(name: str, taken: set[str]) -> str:
    number = 1
    unique = name
    while unique in taken:
        number += 1
        unique = f"{name[: _LONGEST_NAME - 3]}-{number}"
    taken.add(unique)
    return unique


def _system_name(target: Path) -> str:
    name = vm_name(target.resolve().parent)
    return name if name else "system"


def _problem(text: str, target: Path) -> FvmError | None:
    """What compose says about a description, at its place in the file to be."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "system.xml")
        file.write_text(text, encoding="utf-8")
        try:
            resolve(replace(parse(file), file=target.resolve()), Path(folder, "out"))
        except FvmError as error:
            return FvmError(
                error.message, file=target, line=error.line, column=error.column, hint=error.hint
            )
    return None
