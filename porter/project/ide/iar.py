"""Project files of IAR Embedded Workbench: .ewp. The first configuration counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from porter.project.compiler_command import COMPILED
from porter.project.ide.project_file import Element, ProjectFile, core_of, distinct, place

_LEVELS = {"0": "-O0", "1": "-O1", "2": "-O2", "3": "-O2"}  # none, low, medium, high
_OF_HIGH = {"1": "-Os", "2": "-O3"}  # for size, for speed; else balanced


def read(path: Path, root: Element) -> ProjectFile | None:
    """What it says; None if it is no project of IAR's."""
    configuration = root.find("configuration")
    if root.tag != "project" or configuration is None:
        return None
    name = configuration.findtext("name") or ""
    (part,) = _states(configuration, "General", "OGChipSelectEditMenu")[:1] or [""]
    units = _states(configuration, "General", "FPU2") or _states(configuration, "General", "FPU")
    folders = _states(configuration, "ICCARM", "CCIncludePath2")
    files = (_place(text, path) for text in _files(root, name))
    return ProjectFile(
        files=distinct(file for file in files if file.suffix.lower() in COMPILED),
        include_dirs=distinct(_place(text, path) for text in folders),
        defines=tuple(_states(configuration, "ICCARM", "CCDefines")),
        core=core_of(part.split("\t")[0]),
        has_fpu=units[:1] not in ([], ["0"]),
        optimize=_level(configuration),
    )


def _level(configuration: Element) -> str:
    level = "".join(_states(configuration, "ICCARM", "CCOptLevel")[:1])
    strategy = "".join(_states(configuration, "ICCARM", "CCOptStrategy")[:1])
    return (_OF_HIGH.get(strategy) if level == "3" else None) or _LEVELS.get(level, "")


def _states(configuration: Element, settings: str, option: str) -> list[str]:
    """The values of an option of one tool."""
    for group in configuration.iterfind("settings"):
        if group.findtext("name") != settings:
            continue
        for found in group.iterfind("data/option"):
            if found.findtext("name") == option:
                return [state.text.strip() for state in found.iterfind("state") if state.text]
    return []


def _files(folder: Element, configuration: str) -> Iterator[str]:
    """Paths as they are written, of all groups that the configuration doesn't leave out."""
    for item in folder:
        if item.tag not in ("file", "group"):
            continue
        if configuration in (left.text for left in item.iterfind("excluded/configuration")):
            continue
        if item.tag == "group":
            yield from _files(item, configuration)
        else:
            yield item.findtext("name") or ""


def _place(text: str, path: Path) -> Path:
    return place(text.replace("$PROJ_DIR$", "."), path.parent)
