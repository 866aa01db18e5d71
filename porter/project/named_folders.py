"""Folders of a project from which its #include lines count: `include`, where a line has
`<common/lock.h>` and the file is include/common/lock.h."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from porter.project.toolchain import header_folders

# A line in a comment does no harm: the folder is there all the same.
_INCLUDE = re.compile(rb'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\r\n]*[/\\][^>"\r\n]*)[>"]')


def named_folders(sources: Sequence[Path], compiler: str) -> Iterator[Path]:
    """Those of names that have a folder in them, and that aren't the compiler's own headers."""
    by_name: dict[str, list[Path]] = {}
    for path in sources:
        by_name.setdefault(path.name, []).append(path)
    own = header_folders(compiler)
    for name in sorted(set(_named(sources))):
        parts = PurePosixPath(name).parts
        if any((folder / name).is_file() for folder in own):
            continue
        for path in by_name.get(parts[-1], ()):
            if path.parts[-len(parts) :] == parts and len(path.parts) > len(parts):
                yield path.parents[len(parts) - 1]


def _named(sources: Iterable[Path]) -> Iterator[str]:
    for path in sources:
        try:
            found = _INCLUDE.findall(path.read_bytes())
        except OSError:
            continue
        for name in found:
            yield name.replace(b"\\", b"/").decode("utf-8", "replace")
