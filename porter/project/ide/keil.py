"""Project files of Keil MDK: .uvprojx, and .uvproj before version 5. The first target counts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from porter.project.ide.project_file import Element, ProjectFile, distinct, place

_COMPILED = ("1", "2", "8", "12")  # C, assembler, C++, assembler with a preprocessor
_HEADERS = (".h", ".hpp", ".inc")
# <default> is what the compiler does without an option. armclang has two more for size.
_ARMCC_LEVELS = dict(enumerate(("-O2", "-O0", "-O1", "-O2", "-O3")))
_ARMCLANG_LEVELS = dict(enumerate(("-O0", "-O0", "-O1", "-O2", "-O3", "-Ofast", "-Os", "-Oz")))
_CORE = re.compile(r'CPUTYPE\("(Cortex-M\d+\+?)"\)')


def read(path: Path, root: Element) -> ProjectFile | None:
    """What it says; None if it is no project of Keil's."""
    target = root.find("Targets/Target")
    if target is None:
        return None
    common = target.findtext("TargetOption/TargetCommonOption/Cpu") or ""
    core = _CORE.search(common)
    ads = target.find("TargetOption/TargetArmAds")
    compiler = ads.find("Cads") if ads is not None else None
    options = compiler.find("VariousControls") if compiler is not None else None
    unit = ads.findtext(".//RvdsVP") if ads is not None else None
    components = list(_components(path, root, target.findtext("TargetName") or ""))
    return ProjectFile(
        files=distinct([*_files(path, target), *(it for it in components if _is_source(it))]),
        include_dirs=distinct(
            [
                *_folders(path, options),
                *(it.parent for it in components if not _is_source(it)),
            ]
        ),
        defines=(*_defines(options), *(("_RTE_",) if components else ())),
        core=core.group(1).lower().replace("+", "plus") if core else None,
        has_fpu=unit in ("2", "3"),  # single, double precision
        optimize=_level(target, compiler),
        language=tuple(_language(target, compiler)),
    )


def _is_armclang(target: Element) -> bool:
    return (target.findtext("uAC6") or "").strip() == "1"


def _level(target: Element, compiler: Element | None) -> str:
    text = ((compiler.findtext("Optim") if compiler is not None else "") or "").strip()
    levels = _ARMCLANG_LEVELS if _is_armclang(target) else _ARMCC_LEVELS
    return levels.get(int(text), "") if text.isdecimal() else ""


def _language(target: Element, compiler: Element | None) -> Iterator[str]:
    """GCC's options for the boxes that change what C means: of what size an enumeration is, and
    whether plain `char` has a sign. Without them the compilers agree, but for armclang's enums."""

    def is_on(name: str) -> bool:
        return compiler is not None and (compiler.findtext(name) or "").strip() == "1"

    if compiler is None:
        return
    if is_on("PlainCh"):
        yield "-fsigned-char"
    if is_on("EnumInt") or (_is_armclang(target) and not is_on("vShortEn")):
        yield "-fno-short-enums"
    if _is_armclang(target) and is_on("vShortWch"):
        yield "-fshort-wchar"


def _files(path: Path, target: Element) -> Iterator[Path]:
    for group in target.iterfind("Groups/Group"):
        if _is_left_out(group.find("GroupOption/CommonProperty")):
            continue
        for file in group.iterfind("Files/File"):
            if _is_left_out(file.find("FileOption/CommonProperty")):
                continue
            if (file.findtext("FileType") or "").strip() in _COMPILED:
                yield place(file.findtext("FilePath") or "", path.parent)


def _components(path: Path, root: Element, target: str) -> Iterator[Path]:
    """Files of packs that the project has copies of, beside the headers that choose among them
    (CMSIS-Pack's "run-time environment")."""
    for file in root.iterfind("RTE/files/file"):
        instance = file.find("instance")
        targets = {it.get("name") for it in file.iterfind("targetInfos/targetInfo")}
        if instance is None or instance.get("removed") == "1" or target not in targets:
            continue
        if (file.get("category") or "").startswith(("source", "header")):
            yield place(instance.text or "", path.parent)
    if any(target == it.get("name") for it in root.iterfind("RTE//targetInfo")):
        yield path.parent / "RTE" / f"_{re.sub(r'[^A-Za-z0-9]', '_', target)}" / "RTE_Components.h"


def _is_source(file: Path) -> bool:
    return file.suffix.lower() not in _HEADERS


def _is_left_out(options: Element | None) -> bool:
    return options is not None and (options.findtext("IncludeInBuild") or "").strip() == "0"


def _folders(path: Path, options: Element | None) -> Iterator[Path]:
    for text in ((options.findtext("IncludePath") if options is not None else "") or "").split(";"):
        if text.strip():
            yield place(text, path.parent)


def _defines(options: Element | None) -> Iterator[str]:
    text = (options.findtext("Define") if options is not None else "") or ""
    yield from (name for name in re.split(r"[,\s]+", text) if name)
