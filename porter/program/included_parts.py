"""Files that C includes under names that no source has: `#include "table.def"`.

They are read as headers are, where they lie in the project; what they name is used wherever.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from porter.source.source_file import (
    ASM_SUFFIXES,
    C_SUFFIXES,
    CPLUSPLUS_SUFFIXES,
    SourceFile,
)

# A macro may say which file it is.
_QUOTED = re.compile(rb'(?m)^[ \t]*#[ \t]*(?:include\b[ \t]*|define\b[^"<\n]*)["<]([^">\n]+)[">]')
_SOURCES = C_SUFFIXES | CPLUSPLUS_SUFFIXES | ASM_SUFFIXES


def parts_of(source: SourceFile, folders: Iterable[Path]) -> list[bytes]:
    """What such files hold, of one C file, and what they include in turn. `folders`: where they may
    be, besides its own."""
    return list(_parts(source.data, [source.path.parent, *folders], set()))


def included_names(texts: Iterable[bytes]) -> set[str]:
    """Names, without folders, that C texts include and that no source has."""
    paths = (Path(name.decode("utf-8", "surrogateescape")) for data in texts
             for name in _QUOTED.findall(data))  # fmt: skip
    return {path.name for path in paths if path.suffix.lower() not in _SOURCES}


def _parts(data: bytes, folders: Sequence[Path], seen: set[Path]) -> Iterator[bytes]:
    for name in _QUOTED.findall(data):
        path = Path(name.decode("utf-8", "surrogateescape"))
        if path.suffix.lower() in _SOURCES:
            continue
        places = (folder / path for folder in folders)
        file = next((it for it in places if it.is_file()), None)
        if file is not None and file not in seen:
            seen.add(file)
            inner = file.read_bytes()
            yield inner
            yield from _parts(inner, [file.parent, *folders], seen)
