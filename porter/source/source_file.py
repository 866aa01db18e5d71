"""One file as it is on disk. Nothing here decodes text: offsets count bytes, ends of line stay."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from scanner.report.errors import MissingError

C_SUFFIXES = frozenset({".c", ".h", ".inc", ".inl"})
_CPLUSPLUS_HEADERS = frozenset({".hpp", ".hh", ".hxx", ".h++", ".ipp", ".tpp", ".tcc"})
CPLUSPLUS_SUFFIXES = frozenset({".cpp", ".cc", ".cxx", ".c++", ".ino"}) | _CPLUSPLUS_HEADERS
ASM_SUFFIXES = frozenset({".s", ".asm", ".sx", ".s79"})
HEADER_SUFFIXES = frozenset({".h", ".inc", ".inl"}) | _CPLUSPLUS_HEADERS
SOURCE_SUFFIXES = C_SUFFIXES | CPLUSPLUS_SUFFIXES | ASM_SUFFIXES


def is_included(path: Path) -> bool:
    """Whether a file's suffix says that others include it: a header's, or none of a source's."""
    suffix = path.suffix.lower()
    return suffix in HEADER_SUFFIXES or suffix not in SOURCE_SUFFIXES


@dataclass(frozen=True)
class SourceFile:
    """`name` is the path below the project in POSIX form, as diffs and reports show it."""

    path: Path
    name: str
    data: bytes

    @classmethod
    def read(cls, root: Path, path: Path) -> SourceFile:
        """Raises MissingError when the file can't be read."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise MissingError(f"can't be read: {error.strerror}", file=path) from error
        return cls(path, PurePosixPath(path.relative_to(root)).as_posix(), data)

    @property
    def is_asm(self) -> bool:
        """Assembler source, by suffix."""
        return self.path.suffix.lower() in ASM_SUFFIXES

    @property
    def is_header(self) -> bool:
        """Whether other files include it."""
        return is_included(self.path)

    @property
    def is_cplusplus(self) -> bool:
        """C++ source, by suffix."""
        return self.path.suffix.lower() in CPLUSPLUS_SUFFIXES

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        position = self.data.find(b"\n")
        while position != -1:
            starts.append(position + 1)
            position = self.data.find(b"\n", position + 1)
        return starts

    def line(self, offset: int) -> int:
        """Line number of an offset, from 1."""
        return bisect_right(self._line_starts, offset)

    def start_of(self, line: int) -> int:
        """Offset of the first byte of a line, which is numbered from 1."""
        return self._line_starts[line - 1]

    def column(self, offset: int) -> int:
        """Column of an offset, from 1, in bytes."""
        return offset - self._line_starts[self.line(offset) - 1] + 1

    def line_start(self, offset: int) -> int:
        """Offset of the first byte of the line that `offset` is on."""
        return self._line_starts[self.line(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Offset just past the line's end-of-line characters (or the end of the file)."""
        line = self.line(offset)
        return self._line_starts[line] if line < len(self._line_starts) else len(self.data)

    def eol(self, offset: int) -> bytes:
        """The end-of-line characters of the line, or of the line before if it has none."""
        end = self.line_end(offset)
        if end and self.data[end - 1 : end] == b"\n":
            return b"\r\n" if self.data[end - 2 : end] == b"\r\n" else b"\n"
        start = self.line_start(offset)
        return self.eol(start - 1) if start else b"\n"
