"""What a port never saw: headers that nobody could find, functions that nobody here defines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from porter.libraries.data import Libraries
from porter.program.includes import Include
from porter.program.knowledge import Knowledge
from porter.program.linked import Linked
from porter.program.unknown_calls import UnknownCall
from porter.source.source_file import SourceFile


@dataclass(frozen=True)
class MissingHeader:
    """A header that an #include line names, at a place of a file, and how often it is named.
    `is_certain`: this build includes it, whatever conditions mean that nobody here knows;
    `word`: what takes it in."""

    name: str
    file: SourceFile
    offset: int
    conditions: tuple[str, ...]
    count: int
    is_certain: bool = True
    word: str = "#include"


@dataclass(frozen=True)
class Unseen:
    """Both in the order in which they are told. True if a person has to see to it."""

    headers: tuple[MissingHeader, ...] = ()
    calls: tuple[UnknownCall, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.certain or self.calls)

    @property
    def certain(self) -> list[MissingHeader]:
        """The headers that this build can't do without."""
        return [header for header in self.headers if header.is_certain]


def unseen_in(
    knowledge: Knowledge,
    live: Sequence[SourceFile],
    program: Linked,
    libraries: Libraries,
    known: Sequence[str],
) -> Unseen:
    """What isn't there of a project, of which the files `live` are ported. `known`: patterns of
    functions that a person vouched for."""
    calls = program.unknown_calls.found(libraries, lambda it: program.why_not(it) is not None)
    unknown = [call for call in calls if not any(fnmatchcase(call.name, it) for it in known)]
    return Unseen(tuple(_missing(knowledge, live)), tuple(unknown))


def _missing(knowledge: Knowledge, live: Sequence[SourceFile]) -> list[MissingHeader]:
    by_path = {source.path.resolve(): source for source in live}
    found: dict[str, MissingHeader] = {}
    for include, is_certain in _nowhere(knowledge, live):
        source = by_path.get(include.file)
        if source is None:
            continue  # a header outside the project, or one of a file that stays
        if (known := found.get(include.name)) is not None:
            certain = known.is_certain or is_certain
            found[include.name] = replace(known, count=known.count + 1, is_certain=certain)
        else:
            found[include.name] = MissingHeader(
                include.name,
                source,
                include.offset,
                include.conditions,
                1,
                is_certain,
                include.word,
            )
    return list(found.values())


def _nowhere(knowledge: Knowledge, live: Sequence[SourceFile]) -> Iterator[tuple[Include, bool]]:
    """What these files include that nobody could find; whether they certainly do."""
    c = [it.path.resolve() for it in live if not it.is_asm]
    if unasked := [path for path in c if not knowledge.was_asked(path)]:
        yield from knowledge.includes.missing(unasked)
    if assembled := [it for it in live if it.is_asm]:
        yield from knowledge.includes.missing_in_assembler(assembled)
