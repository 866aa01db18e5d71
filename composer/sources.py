"""Which files of a legacy project are built, found by the patterns of the description.

The original project is looked at; the ported copy has the same relative names and needs not
exist yet.
"""

from __future__ import annotations

import glob
import os
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from composer.description.model import Domain, Place, Project, System, section_name
from scanner.report.errors import FvmError, MissingError

CPLUSPLUS = (".cpp", ".cc", ".cxx", ".c++")
_BUILDABLE = (".c", ".s", ".S", *CPLUSPLUS)


@dataclass(frozen=True)
class Sources:
    """Absolute paths. `built` and `includes` are where the build finds them: the ported copy, and
    for mid-sections what `fvmkit split` writes.
    """

    original: Path | None
    ported: Path | None
    built: tuple[Path, ...]
    includes: tuple[Path, ...]
    startup: tuple[str, ...]
    replaced: tuple[tuple[str, str], ...]
    sections: tuple[Path, ...] = ()
    """Of `built`, the mid-sections that `fvmkit split` writes."""


def runtime_folder() -> Path:
    """Where the C runtime lies."""
    return Path(str(files("fvm-runtime")))


def find_all_sources(system: System, out: Path) -> list[Sources]:
    """The files of every domain; each is ported to a folder of its own."""
    all_sources: list[Sources] = []
    for domain in system.domains:
        sources = find_sources(system, domain, out)
        taken = [s.ported for s in all_sources if s.ported != s.original]
        if domain.project.is_ported and sources.ported and sources.ported in taken:
            raise domain.project.place.error(
                f"two domains are ported to {sources.ported}",
                "give each its own 'ported': the same source is rewritten differently for each",
            )
        all_sources.append(sources)
    return all_sources


def find_sources(system: System, domain: Domain, out: Path) -> Sources:
    """The files of `domain`. MissingError: no such project or no file for a pattern."""
    project = domain.project
    if project.builtin is not None:
        return _builtin(project)
    sections = _sections(system, domain, out)
    if not project.path and sections is not None:
        return sections
    if not project.path:
        raise project.place.error(
            "<project> has neither 'path' nor 'builtin'", 'add path="FOLDER" of the sources'
        )
    original = (system.folder / project.path).resolve()
    if not original.is_dir():
        raise _missing(project.place, f"project folder '{project.path}' doesn't exist")
    ported = _ported(system, domain, original, out)
    left_out = {n.name for n in project.startup} | {r.file for r in project.replacements}
    _inside(project)
    for include in project.includes:
        if not (original / include.name).is_dir():
            raise _missing(
                include.place, f"include folder '{include.name}' isn't in '{project.path}'"
            )
    for name, place in [(n.name, n.place) for n in project.startup] + [
        (r.file, r.place) for r in project.replacements
    ]:
        if not (original / name).is_file():
            raise _missing(place, f"'{name}' isn't in project '{project.path}'")
    names = [name for name in _matches(project, original) if name not in left_out]
    built = [ported / name for name in names]
    built += [_replacement(system, original, ported, r.by, r.place) for r in project.replacements]
    includes = [ported / include.name for include in project.includes]
    if sections is not None:
        built += sections.built
        includes += sections.includes
    return Sources(
        original,
        ported,
        tuple(built),
        tuple(includes),
        tuple(n.name for n in project.startup),
        tuple((r.file, r.by) for r in project.replacements),
        sections.built if sections is not None else (),
    )


def _inside(project: Project) -> None:
    """What the project names lies in its folder: only that is ported, and moves with it."""
    named = [(n.name, n.place) for n in (*project.sources, *project.includes, *project.startup)]
    named += [(r.file, r.place) for r in project.replacements]
    for name, place in named:
        # By its text alone: a link in the project may lead to a library elsewhere.
        if os.path.isabs(name) or os.path.normpath(name).split(os.sep)[0] == os.pardir:
            raise place.error(
                f"'{name}' is outside of project '{project.path}'",
                "let 'path' name a folder that holds everything",
            )


def _ported(system: System, domain: Domain, original: Path, out: Path) -> Path:
    project = domain.project
    if not project.is_ported:
        return original
    if project.ported is None:
        return out / "ported" / domain.name
    ported = (system.folder / project.ported).resolve()
    if ported == original:
        raise project.place.error(
            "'ported' is the project folder itself", "name another folder; port writes a copy"
        )
    if ported in (out, out / domain.name):
        raise project.place.error(
            f"'ported' is {ported}, where generated files of '{domain.name}' go",
            f"name another folder, as {out.name}/ported/{domain.name}",
        )
    return ported


def _matches(project: Project, original: Path) -> list[str]:
    """Names of sources relative to the project, in pattern order, each once."""
    names: list[str] = []
    for pattern in project.sources:
        found = sorted(glob.glob(pattern.name, root_dir=original, recursive=True))
        found = [n for n in found if n.endswith(_BUILDABLE) and (original / n).is_file()]
        if not found:
            raise _missing(
                pattern.place, f"no source file in '{project.path}' matches '{pattern.name}'"
            )
        names += [name for name in found if name not in names]
    if not names:
        raise project.place.error("<project> names no sources", "add <source>src/*.c</source>")
    return names


def _replacement(system: System, original: Path, ported: Path, by: str, place: Place) -> Path:
    """A replacement stands in the project or next to the description."""
    if (original / by).is_file():
        return ported / by
    beside = (system.folder / by).resolve()
    if beside.is_file():
        return beside
    raise _missing(place, f"'{by}' is neither in the project nor next to the description")


def _sections(system: System, domain: Domain, out: Path) -> Sources | None:
    """The mid-sections that a process runs, as `fvmkit split --out` names them; None: it has none.

    They need not exist yet.
    """
    name = domain.project.split
    if name is None:
        return None
    folder = out / "split" / name
    vm = next(vm for vm in system.vms if vm.name == name)
    irqs = [i for i in vm.irqs if i.split and i.split.process == domain.name]
    built = tuple(folder / f"{section_name(irq.name)}.c" for irq in irqs)
    return Sources(None, None, built, (folder,), (), (), built)


def _builtin(project: Project) -> Sources:
    folder = runtime_folder() / "native"
    known = sorted(f.name for f in folder.iterdir() if f.is_dir() and any(f.glob("*.c")))
    if project.builtin not in known:
        raise project.place.error(
            f"the runtime has no process '{project.builtin}'", f"known: {', '.join(known)}"
        )
    built = tuple(sorted((folder / project.builtin).glob("*.c")))
    return Sources(None, None, built, (), (), ())


def _missing(place: Place, message: str) -> FvmError:
    return MissingError(
        message,
        file=place.file,
        line=place.line,
        column=place.column,
        hint="correct the path; it is relative to the description or the project",
    )
