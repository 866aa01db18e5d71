"""What the texts of a project declare and define, read once for all the files that are ported."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import cache, cached_property
from pathlib import Path

from porter.context_switch.names import declarations_of, names_of_void, with_plain_void
from porter.source.comments import without_comments
from porter.source.source_file import C_SUFFIXES, CPLUSPLUS_SUFFIXES

_DECLARING = C_SUFFIXES | CPLUSPLUS_SUFFIXES
_HEADERS = (".h", ".hpp")
_DEFINED = re.compile(r"#[ \t]*define[ \t]+(\w+)")


class ProjectTexts:
    """`headers` are those of a project's files, `declaring` all of its C and C++."""

    def __init__(self, files: Iterable[Path]) -> None:
        self.declaring = [it for it in files if it.suffix.lower() in _DECLARING]
        self.headers = [it for it in self.declaring if it.suffix in _HEADERS]
        self._plain = cache(_plain)
        self._defined = cache(lambda file: frozenset(_DEFINED.findall(_read(file))))
        self._last: tuple[Path, list[Path], str] | None = None

    @cached_property
    def voids(self) -> frozenset[str]:
        """Names for void, macros and types."""
        return frozenset().union(*(self._plain(file)[1] for file in self.declaring))

    def defines(self, name: str, source: Path) -> bool:
        """Whether a file of the project or the source itself defines a macro."""
        return name in self._all_defined or name in self._defined(source)

    def headers_define(self, name: str, source: Path) -> bool:
        """The same of headers and the source."""
        return name in self._headers_defined or name in self._defined(source)

    @cached_property
    def _all_defined(self) -> frozenset[str]:
        return frozenset().union(*map(self._defined, self.declaring))

    @cached_property
    def _headers_defined(self) -> frozenset[str]:
        return frozenset().union(*map(self._defined, self.headers))

    def nearest(self, file: Path) -> list[Path]:
        """C and C++ files, nearest first: of several prototypes that one counts."""
        return self._around(file)[1]

    def declarations(self, file: Path) -> str:
        """The text of the nearest files, as `declarations_of` has it; names for void are void."""
        return self._around(file)[2]

    def _around(self, file: Path) -> tuple[Path, list[Path], str]:
        """Of one folder at a time: ports of many machines lie side by side, and each text is as
        long as the project."""
        if self._last is None or self._last[0] != file.parent:
            folders = {it.parent for it in self.declaring}
            away = {it: len(Path(os.path.relpath(it, file.parent)).parts) for it in folders}
            files = sorted(self.declaring, key=lambda it: away[it.parent])
            text = "\n".join(self._plain(it)[0] for it in files)
            text = with_plain_void(text, self.voids)
            self._last = (file.parent, files, text)
        return self._last


def _plain(file: Path) -> tuple[str, frozenset[str]]:
    """What a file declares, and its names for void."""
    text = without_comments(_read(file).encode("latin-1")).decode("latin-1")
    return declarations_of(text), frozenset(names_of_void(text))


def _read(file: Path) -> str:
    """With plain ends of lines."""
    return file.read_text(encoding="latin-1")
