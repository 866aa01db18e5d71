"""Sources and options of a project, in the form that a description has them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from composer.init.facts import BuildFacts, Decision
from composer.sources import CPLUSPLUS
from porter.execution.survey import Survey
from porter.project.folder_links import real

_BUILDABLE = (".c", ".s", *CPLUSPLUS)
_HARD = ("-mfloat-abi=hard", "-mfloat-abi=softfp")
_MOST_UP = 3  # folders that a project's sources may lie above it


def build_of(survey: Survey) -> tuple[BuildFacts, list[Decision]]:
    """What is built and how."""
    decisions: list[Decision] = []
    if survey.build.stopped:
        decisions.append(
            Decision(
                f"make stopped before it had named every file ({survey.build.stopped}), so some may"
                " be missing here: `make --dry-run --always-make` must say them all"
            )
        )
    elif survey.build.units and not survey.build.complete:
        decisions.append(
            Decision(
                f"not all that is compiled is said by {survey.build.source}: look for what is"
                " missing"
            )
        )
    if survey.build.moved:
        decisions.append(
            Decision(
                "folders of another machine were taken for those of the project that end alike",
                tuple(
                    f"{there} as {_name(it, survey.root)}"
                    for there, it in [*survey.build.moved.items()][:4]
                ),
            )
        )
    compiled = [path for path in survey.compiled if path.suffix.lower() in _BUILDABLE]
    if not survey.compiled:
        compiled = [unit.path for unit in survey.program.units]
    tables = {real(table.file.path) for table in survey.tables}
    start = [path for path in compiled if real(path) in tables]
    if not survey.compiled:
        start += [table.file.path for table in survey.tables if table.file.path not in start]
    for path in [path for path in start if _holds_main(survey, path)]:
        start.remove(path)
        decisions.append(
            Decision(
                "the vector table stands in the same file as main(): move it and the reset handler"
                " into a file of their own, and name that as <startup>",
                (_name(path, survey.root),),
            )
        )
    root = _root(survey.root, compiled)
    if root != survey.root:
        decisions.append(
            Decision(
                f"sources lie outside {survey.root.name}; path= is the folder that holds all of"
                f" them: port it as {root.name}, or copy what is needed into the project"
            )
        )
    outside = [p for p in survey.build.options.include_dirs if not _inside(p, root)]
    if outside:
        decisions.append(
            Decision(
                "include folders outside the project can't be named: copy what is needed",
                tuple(str(path) for path in outside[:4]),
            )
        )
    lost = [path for path in compiled if not _inside(path, root)]
    if lost:
        decisions.append(
            Decision(
                "these sources lie outside the project: copy them into it",
                tuple(str(path) for path in lost[:4]),
            )
        )
    names = sorted({_name(path, root) for path in compiled if _inside(path, root)})
    startup = sorted({_name(path, root) for path in start if _inside(path, root)})
    flags = survey.build.options.cpu_flags
    includes = [_name(p, root) for p in survey.build.options.include_dirs if _inside(p, root)]
    facts = BuildFacts(
        root,
        survey.build.source,
        survey.build.is_known,
        tuple(_patterns(root, [name for name in names if name not in startup], startup)),
        tuple(dict.fromkeys(name or "." for name in includes if (root / name).is_dir())),
        tuple(d for d in survey.build.options.defines if _is_plain(d)),
        tuple(startup),
        survey.entry,
        next((n for n in names if _holds_main(survey, root / n)), None),
        _standard(flags),
        any(flag in _HARD for flag in flags),
        survey.build.options.language,
        *_cplusplus(survey),
        survey.build.options.optimize,
        survey.build.options.plain_asm is False,
    )
    return facts, decisions + _optimized(survey, root) + _foreign(survey) + _refused(survey)


def _standard(flags: Iterable[str]) -> str | None:
    return next((flag.removeprefix("-std=") for flag in flags if flag.startswith("-std=")), None)


def _cplusplus(survey: Survey) -> tuple[str | None, tuple[str, ...] | None]:
    """The standard and the options of the project's C++."""
    if not survey.foreign:
        return None, None
    options = survey.build.units.get(survey.foreign[0], survey.build.options)
    level = (options.optimize,) if options.optimize else ()
    return _standard(options.cpu_flags), (*level, *options.language)


def _root(project: Path, paths: Iterable[Path]) -> Path:
    """The project's folder, or one a little above it that holds all its sources."""
    above = [real(project), *real(project).parents][: _MOST_UP + 1]
    wanted = [real(path) for path in paths]
    for folder in above:
        if len(folder.parts) > 2 and all(path.is_relative_to(folder) for path in wanted):
            return folder
    return project


def _holds_main(survey: Survey, path: Path) -> bool:
    main = survey.program.functions.get("main")
    return main is not None and real(survey.program.units[main.unit].path) == real(path)


def _inside(path: Path, root: Path) -> bool:
    return real(path).is_relative_to(real(root))


def _name(path: Path, root: Path) -> str:
    name = Path(os.path.relpath(real(path), real(root))).as_posix()
    return "" if name == "." else name


def _is_plain(define: str) -> bool:
    """Whether a macro can stand in a description."""
    return not set(define) & set("'\t\r\n") and "(" not in define.partition("=")[0]


def _patterns(root: Path, names: list[str], startup: list[str]) -> list[str]:
    """`src/*.c` where all C files of a folder are built, else the files."""
    patterns: list[str] = []
    by_folder: dict[tuple[str, str], list[str]] = {}
    for name in names:
        path = Path(name)
        by_folder.setdefault((path.parent.as_posix(), path.suffix), []).append(name)
    for (folder, suffix), files in by_folder.items():
        present = {p.name for p in (root / folder).glob(f"*{suffix}") if p.is_file()}
        present -= {Path(name).name for name in startup if Path(name).parent.as_posix() == folder}
        whole = len(files) > 1 and present == {Path(name).name for name in files}
        prefix = "" if folder == "." else f"{folder}/"
        patterns += [f"{prefix}*{suffix}"] if whole else files
    return patterns


def _optimized(survey: Survey, root: Path) -> list[Decision]:
    """What the compiler does with delay loops and the like is one option for a whole domain."""
    chosen = survey.build.options.optimize
    others = {
        path: options.optimize
        for path, options in survey.build.units.items()
        if options.optimize not in ("", chosen) and path.suffix.lower() == ".c"
    }
    if not others:
        return []
    words = ", ".join(sorted(set(others.values())))
    return [
        Decision(
            f"{len(others)} files are compiled with {words}, the others with {chosen}:"
            " a domain has one level, in cflags=",
            tuple(_name(path, root) for path in list(others)[:4]),
        )
    ]


def _foreign(survey: Survey) -> list[Decision]:
    if not survey.foreign:
        return []
    names = tuple(_name(path, survey.root) for path in survey.foreign[:4])
    return [
        Decision(
            f"{len(survey.foreign)} files are C++, which init doesn't follow: what they alone set"
            " up or use of the chip is missing here",
            names,
        )
    ]


def _refused(survey: Survey) -> list[Decision]:
    if not survey.refused:
        return []
    first = next(iter(survey.refused.values()))
    return [
        Decision(
            f"{len(survey.refused)} of {len(survey.refused) + len(survey.program.units)} C files"
            f" can't be preprocessed, so what they do isn't known; the first: {first}"
        )
    ]
