"""Which files of a project folder the program is made of: the rest has nothing to say of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from porter.project.build import Build
from porter.project.domain import Domain
from porter.source.assembler_text import included_names
from porter.source.source_file import SourceFile

_BY_MACRO = re.compile(rb"(?m)^[ \t]*#[ \t]*(?:include|import)(?:_next)?[ \t]+[A-Za-z_]")


def program_files(
    root: Path, sources: Sequence[SourceFile], build: Build, domain: Domain | None
) -> list[SourceFile]:
    """Files that a known build compiles or the description names, and what they may include: every
    file of a name that their #include lines have, and of those in turn. All files where nobody
    tells; all headers where a macro says which, and all assembler where the build names none, which
    it may make by commands that nobody reads."""
    named = _named(root, domain)
    compiled = set(build.units) if build.is_known else set()
    if not compiled and not (named and domain is not None and domain.sources):
        return list(sources)
    first = {path.resolve() for path in (*compiled, *named)}
    forced = {Path(name).resolve() for it in build.units.values() for name in _forced(it.cpu_flags)}
    own = {it.path: it.path.resolve() for it in sources}
    assembles = any(it.is_asm and own[it.path] in first for it in sources)

    def is_first(it: SourceFile) -> bool:
        return own[it.path] in first or own[it.path] in forced or (it.is_asm and not assembles)

    begin = [it for it in sources if is_first(it)]
    found = _closed(begin, sources)
    if any(_BY_MACRO.search(it.data) for it in found):
        found = _closed([*begin, *(it for it in sources if it.is_header)], sources)
    return found


def _closed(begin: Sequence[SourceFile], sources: Sequence[SourceFile]) -> list[SourceFile]:
    names = included_names(begin, sources)
    known = {it.path for it in begin}
    return [it for it in sources if it.path in known or it.path.name.encode() in names]


def _named(root: Path, domain: Domain | None) -> list[Path]:
    if domain is None:
        return []
    names = (*domain.sources, *(it.file for it in domain.replaced), *domain.startup)
    return [root / name for name in names]


def _forced(flags: Sequence[str]) -> Iterable[str]:
    return (flags[at + 1] for at, flag in enumerate(flags[:-1]) if flag == "-include")
