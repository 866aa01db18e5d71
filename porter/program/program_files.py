"""Which files of a project folder the program is made of: the rest has nothing to say of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from porter.program.preprocess import TranslationUnit, files_read
from porter.project.build import Build
from porter.project.domain import Domain
from porter.source.assembler_text import included_names
from porter.source.source_file import SourceFile

_BY_MACRO = re.compile(rb"(?m)^[ \t]*#[ \t]*(?:include|import)(?:_next)?[ \t]+[A-Za-z_]")


def program_files(
    root: Path,
    sources: Sequence[SourceFile],
    build: Build,
    domain: Domain | None,
    units: Mapping[Path, TranslationUnit],
) -> list[SourceFile]:
    """Files that a known build compiles or the description names, and what these include: as the
    compiler says, without headers that nobody has if need be, or where it couldn't be asked, every
    file of a name that their #include lines have, and of those in turn. All files where nobody
    tells; all headers where a macro says which, and all assembler where neither the build, which
    may make it by commands that nobody reads, nor the description names any.
    """
    described = set()
    if domain is not None and domain.sources:
        described = {root / name for name in (*domain.sources, *domain.startup)}
    compiled = set(build.units) if build.is_known else set()
    if not compiled and not described:
        return list(sources)
    own = {it.path: it.path.resolve() for it in sources}
    first = {path.resolve() for path in compiled | described}
    assembles = any(it.is_asm and own[it.path] in first for it in sources)
    seen = {path for unit in units.values() for it in unit.readings for path in it.lines}
    seen |= {path.resolve() for path in units}
    unasked = [
        it for it in sources
        if (own[it.path] in first and own[it.path] not in seen) or (it.is_asm and not assembles)
    ]  # fmt: skip
    for it in [*unasked]:
        options = build.units.get(it.path) if not it.is_asm else None
        read = files_read(it.path, options) if options is not None else None
        if read is not None:
            lost = {path.name for path in read if not path.exists()}
            unasked.remove(it)
            unasked += (header for header in sources if header.path.name in lost)
            seen |= read
    ways = [*build.units.values(), *(it for them in build.again.values() for it in them)]
    forced = (name for it in ways for name in _forced(it.cpu_flags))
    seen |= {Path(name).resolve() for name in forced}
    if domain is not None:
        seen |= {(root / name).resolve() for name in domain.startup}
        seen |= {(root / it.file).resolve() for it in domain.replaced}
    found = _closed(unasked, sources)
    if any(_BY_MACRO.search(it.data) for it in found):
        found = _closed([*unasked, *(it for it in sources if it.is_header)], sources)
    named = {it.path for it in found}
    return [it for it in sources if it.path in named or own[it.path] in seen]


def _closed(begin: Sequence[SourceFile], sources: Sequence[SourceFile]) -> list[SourceFile]:
    names = included_names(begin, sources)
    known = {it.path for it in begin}
    return [it for it in sources if it.path in known or it.path.name.encode() in names]


def _forced(flags: Sequence[str]) -> Iterable[str]:
    return (flags[at + 1] for at, flag in enumerate(flags[:-1]) if flag in ("-include", "-imacros"))
