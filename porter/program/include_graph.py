"""Which files a file includes, by what is in the project's folders alone."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from porter.program.closure import closure
from porter.source.c_lexer import Directive

Directives = Callable[[Path], Sequence[Directive]]
"""The preprocessor lines of a file."""


class IncludeGraph:
    """Answers for the files of a project. Where folders could have a name twice, the file nearest
    to the one that includes it is meant; of several equally near ones nobody knows which."""

    def __init__(self, files: Iterable[Path], directives: Directives) -> None:
        self._directives = directives
        self._files = set(files)
        self._by_name: dict[str, list[Path]] = {}
        for path in sorted(self._files):
            self._by_name.setdefault(path.name, []).append(path)
        self._direct: dict[Path, frozenset[Path]] = {}
        self._reached: dict[Path, frozenset[Path]] = {}

    def reached(self, path: Path) -> frozenset[Path]:
        """A file and all that it includes, itself or by others."""
        if path not in self._reached:
            self._reached[path] = frozenset(closure((path,), self.direct))
        return self._reached[path]

    def direct(self, path: Path) -> frozenset[Path]:
        """What the #include lines of a file may mean."""
        if path not in self._direct:
            self._direct[path] = frozenset(
                found
                for directive in self._directives(path)
                if directive.name in (b"include", b"include_next", b"import")
                for found in self._meant(directive, path)
            )
        return self._direct[path]

    def _meant(self, directive: Directive, includer: Path) -> Iterator[Path]:
        words = b"".join(token.text for token in directive.tokens)
        quoted = words.startswith(b'"')
        name = words.strip(b'"<>').decode("utf-8", "surrogateescape")
        if not name or not (quoted or words.startswith(b"<")):
            return
        if quoted:
            beside = Path(posixpath.normpath(posixpath.join(includer.parent.as_posix(), name)))
            if beside in self._files:
                yield beside
                return
        wanted = [
            part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")
        ]
        candidates = [
            path
            for path in self._by_name.get(wanted[-1] if wanted else "", ())
            if list(path.parts[-len(wanted) :]) == wanted
        ]
        near = [_shared(path, includer) for path in candidates]
        for path, shared in zip(candidates, near, strict=True):
            if shared == max(near):
                yield path


def _shared(path: Path, other: Path) -> int:
    """How many folders two files have in common."""
    count = 0
    for one, two in zip(path.parts[:-1], other.parts[:-1], strict=False):
        if one != two:
            break
        count += 1
    return count
