"""What a port never saw: headers that nobody could find, functions that nobody here defines."""

from __future__ import annotations

from dataclasses import dataclass

from porter.program.unknown_calls import UnknownCall
from porter.source.source_file import SourceFile


@dataclass(frozen=True)
class MissingHeader:
    """A header that an #include line names, at a place of a file, and how often it is named.
    `is_certain`: this build includes it, whatever conditions mean that nobody here knows."""

    name: str
    file: SourceFile
    offset: int
    conditions: tuple[str, ...]
    count: int
    is_certain: bool = True


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
