"""How a project is built: who tells it, by which compiler, in which language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from composer.analyze.model import BuildFacts, Told, Work
from composer.init.foreign import build_system
from porter.port import Judged
from porter.project.build import Build
from porter.project.ide.choice import chosen_file
from porter.source.source_file import ASM_SUFFIXES, CPLUSPLUS_SUFFIXES

_ARMCLANG = re.compile(rb"<uAC6>\s*1\s*</uAC6>")
_MAKE = "make that work, or have the build write compile_commands.json, by `bear`"
_EVERY_FILE = "every C file was taken, with every folder that has headers"


def build_facts(root: Path, judged: Judged) -> BuildFacts:
    """Who says which files are compiled, and how."""
    build = judged.docket.project.build
    project = chosen_file(root) if build.source == "project file" else None
    name = project.relative_to(root).as_posix() if project is not None else ""
    known = build_system(root)
    told = Told(build.source, name)
    if not build.units:
        why = f"{known[0]}, which tells nothing as it is" if known else "no build file was found"
        why = "the makefile stops" if build.stopped else why
        told = Told(None, f"{why}: {_EVERY_FILE}")
    files = list(build.units) or [it.path for it in judged.docket.project.live if not it.is_header]
    return BuildFacts(
        told, _toolchain(build, project), _standard(build), len(files),
        tuple(sorted(set(_languages(files)))), len(judged.result.unread),
    )  # fmt: skip


def unread_build(root: Path, judged: Judged) -> Iterator[Work]:
    """What of the build couldn't be learnt."""
    build, known = judged.docket.project.build, build_system(root)
    how = known[1] if known else "have the build write compile_commands.json, by `bear` for one"
    if build.stopped:
        why, how = f"make --dry-run --always-make stops: {build.stopped}", _MAKE
    elif not build.units:
        why = f"nothing tells which files are compiled and how: {_EVERY_FILE}"
    elif not build.complete:
        why = f"not all that is compiled is said by {build.source}"
    else:
        return
    yield Work("the build", 1, why, how)


def _toolchain(build: Build, project: Path | None) -> Told:
    if project is not None and project.suffix in (".uvprojx", ".uvproj"):
        is_clang = _ARMCLANG.search(project.read_bytes()) is not None
        return Told(
            "Arm Compiler 6 (armclang)" if is_clang else "Arm Compiler 5 (armcc)", "Keil MDK"
        )
    if project is not None and project.suffix == ".ewp":
        return Told("IAR C compiler (iccarm)", "IAR Embedded Workbench")
    if not build.units:
        return Told(None, "no build says it")
    original = next(iter(build.compilers), None)
    compiler = Path(original or build.options.compiler).name
    level = f" {build.options.optimize}" if build.options.optimize else ""
    return Told(f"{compiler}{level}", build.source)


def _standard(build: Build) -> Told:
    found = dict.fromkeys(
        flag.removeprefix("-std=")
        for options in build.units.values()
        for flag in options.cpu_flags
        if flag.startswith("-std=")
    )
    if found:
        return Told(", ".join(found), "-std=")
    return Told(None, "no -std= among the options: the compiler's default")


def _languages(files: list[Path]) -> Iterator[str]:
    for path in files:
        suffix = path.suffix.lower()
        yield (
            "assembler"
            if suffix in ASM_SUFFIXES
            else "C++"
            if suffix in CPLUSPLUS_SUFFIXES
            else "C"
        )
