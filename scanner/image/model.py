"""What every loader delivers: segments, symbols, source lines, and what is wrong with the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scanner.image.lines import LineTable
    from scanner.image.symbols import SymbolTable


@dataclass(frozen=True)
class Problem:
    """Something wrong with the file itself; `rule` names the entry of scanner.rules.file_rules.

    Without `rejects` it is told, and the verdict is somebody else's.
    """

    rule: str
    text: str
    address: int | None = None
    rejects: bool = True


class UntrustedError(Exception):
    """Raised inside a loader where reading on makes no sense; becomes a problem of the image."""

    def __init__(self, rule: str, text: str, address: int | None = None) -> None:
        super().__init__(text)
        self.problem = Problem(rule, text, address)


@dataclass(frozen=True)
class Segment:
    """Bytes that are loaded: where they run, where they lie in flash, where they stand in the file.

    `memory_size` may exceed len(data); the rest is zero at run time. `offset` is None where the
    file does not hold the bytes as they are, one behind the other.
    """

    address: int
    load_address: int
    data: memoryview
    memory_size: int
    offset: int | None
    executable: bool
    writable: bool

    @property
    def end(self) -> int:
        """First address behind the segment in memory."""
        return self.address + self.memory_size


@dataclass(frozen=True)
class Image:
    """A loaded program. With problems, the rest holds what could be read all the same.

    `entry` is where it starts, `more_entries` where it says so besides; `toolchain` is what it says
    made it. `sections` are the addresses of those with content in memory, by name.
    """

    arch: str | None = None
    machine: int | None = None
    entry: int | None = None
    more_entries: tuple[int, ...] = ()
    segments: tuple[Segment, ...] = ()
    symbols: SymbolTable | None = None
    lines: LineTable | None = None
    problems: tuple[Problem, ...] = field(default=())
    toolchain: tuple[str, ...] = ()
    sections: Mapping[str, range] = field(default_factory=dict)


def span(start: int, end: int) -> str:
    """A range of addresses as reports show it."""
    return f"[0x{start:08x}, 0x{end:08x})"
