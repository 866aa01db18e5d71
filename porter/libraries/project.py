"""Which calls of a project go to libraries that aren't in its tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path

from porter.libraries.calls import Lookup, library_uses
from porter.libraries.data import Known, used_libraries
from porter.libraries.expanded import ExpandedFile
from porter.program.functions import names_of_functions
from porter.program.own_members import OwnMembers
from porter.project.build import Build
from porter.result import FilePort
from porter.source.balanced import balanced
from porter.source.c_lexer import LexedSource, lex
from porter.source.declared_objects import objects_in
from porter.source.source_file import SourceFile

_INCLUDED = re.compile(rb"(?m)^[ \t]*#[ \t]*(?:include|import)[ \t]*[<\"]([^>\"\n]+)[>\"]")
_OWN_HEADER = re.compile(rb"(?m)^[ \t]*#[ \t]*include[ \t]*\"([^\"\n]+)\"")
_MACRO = re.compile(
    rb"(?m)^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)((?:[^\r\n\\]+|\\[^\S\n]*\n|\\)*)"
)
# ((bool (*)(void))ROM_INTTABLE[2]): a name for a function that a table outside of the program has.
_OF_TABLE = re.compile(rb"\s*\(\s*\([^()]*\(\s*\*\s*\)\s*\([^;]*\)\s*\)\s*\w+\s*\[[^\]]*\]\s*\)\s*")
_ALIAS = re.compile(rb"\s+([A-Za-z_]\w*)\s*")
_LABEL = re.compile(rb"(?m)^([A-Za-z_]\w*)|^[ \t]+([A-Za-z_]\w*)[ \t]*:")
_WORD = re.compile(rb"\w")
_SPACED = bytes(code if _WORD.match(bytes([code])) else ord(" ") for code in range(256))
"""Leaves what names consist of, and room between them."""
_SKETCH = ".ino"


class LibraryCalls:
    """Files of a project with the calls of libraries as what they do. `lexed`: files that were
    taken apart and stay as they are. What only files define that the build doesn't take, such as a
    test's stand-in for a library, isn't the project's own."""

    def __init__(self, sources: Sequence[SourceFile], build: Build) -> None:
        written = [source for source in sources if not source.is_asm]
        words = {it.path: set(it.data.translate(_SPACED).split()) for it in written}
        self.libraries = used_libraries(
            _included(written),
            words=lambda: _words(words) if _lacks_headers(sources) else frozenset(),
        )
        known = {word for found in words.values() for word in found if self._known(word)}
        lexed = {it.path: lex(it.data) for it in written if words[it.path] & known}
        takes = _takes_part(written, build)
        assembled = filter(takes, (source for source in sources if source.is_asm))
        defining = {it.path: lexed[it.path] for it in written if it.path in lexed and takes(it)}
        elsewhere = _functions(defining) | _labels(assembled)
        self._defined = elsewhere | self._macros(filter(takes, written), elsewhere)
        members = OwnMembers()
        for source in written:
            if source.path in defining and (source.is_cplusplus or source.is_header):
                members.add(balanced(lexed[source.path]))
        self.files: dict[Path, ExpandedFile] = {}
        self.lexed = lexed
        for source in written:
            if words[source.path] & (known - self._defined):
                text = lexed[source.path]
                uses = list(library_uses(text, self._lookup(text), members))
                if uses:
                    self.files[source.path] = ExpandedFile(source, uses)
                    del self.lexed[source.path]

    def expanded(self, source: SourceFile) -> SourceFile:
        """The file in which calls are what they do."""
        found = self.files.get(source.path)
        return source if found is None else found.file

    def settled(self, port: FilePort) -> FilePort:
        """The port of a file as it is on disk, from that of the expanded one."""
        found = self.files.get(port.file.path)
        return port if found is None else found.settled(port)

    def asked(self, path: Path) -> Mapping[int, str]:
        """Places in an expanded file where a person has to say what a call becomes, and why."""
        found = self.files.get(path)
        return {} if found is None else found.asked

    def offset(self, path: Path, original: int) -> int:
        """Where in an expanded file stands what is at an offset of it as it is on disk."""
        found = self.files.get(path)
        return original if found is None else found.offset(original)

    def _macros(self, sources: Iterable[SourceFile], functions: set[bytes]) -> set[bytes]:
        """Names that macros define. Those that only name a function of a ROM don't, nor does
        another name for such a one, or for a library's function."""
        bodies = {
            name: body.replace(b"\\", b" ")
            for source in sources
            for name, body in _MACRO.findall(source.data)
        }
        found = {
            it for it in bodies if self._known(it) is None or not _OF_TABLE.fullmatch(bodies[it])
        }

        def is_own(name: bytes, depth: int = 8) -> bool:
            alias = _ALIAS.fullmatch(bodies.get(name, b""))
            if alias is None or self._known(name) is None or not depth:
                return name in found or name in functions
            is_libraries = self._known(alias.group(1)) is not None
            return not is_libraries or is_own(alias.group(1), depth - 1)

        return {name for name in found if is_own(name)}

    def _known(self, word: bytes) -> Known | None:
        return self.libraries.known(word.decode("latin-1"))

    def _lookup(self, lexed: LexedSource) -> Lookup:
        """What is known of names in a file, of which some are those of its variables."""
        objects = objects_in(lexed)

        def lookup(name: str, is_called: bool) -> Known | None:
            word = name.encode("latin-1")
            if word in self._defined:
                return None
            may_be_meant = is_called or (self.libraries.names(name) and word not in objects)
            return self.libraries.known(name) if may_be_meant else None

        return lookup


def _included(sources: Iterable[SourceFile]) -> Iterable[str]:
    for source in sources:
        if source.path.suffix.lower() == _SKETCH:
            yield "Arduino.h"
        for name in _INCLUDED.findall(source.data):
            yield name.decode("utf-8", "replace").replace("\\", "/")


def _lacks_headers(sources: Sequence[SourceFile]) -> bool:
    """Whether a project has a header of its own somewhere else."""
    names = {source.path.name for source in sources}
    own = (name for source in sources for name in _OWN_HEADER.findall(source.data))
    return any(name.decode("utf-8", "replace").rpartition("/")[2] not in names for name in own)


def _words(words: Mapping[Path, set[bytes]]) -> Set[str]:
    return {word.decode("latin-1") for word in set().union(*words.values())}


def _takes_part(written: Sequence[SourceFile], build: Build) -> Callable[[SourceFile], bool]:
    """Whether a file may be compiled: a known build names it, or a file includes it."""
    if not build.is_known:
        return lambda _source: True
    units = {unit.resolve() for unit in build.units}
    included = {name.rpartition("/")[2] for name in _included(written)}
    return lambda it: it.is_header or it.path.resolve() in units or it.path.name in included


def _labels(sources: Iterable[SourceFile]) -> set[bytes]:
    """What assembler files define: labels with and without a colon, in any dialect."""
    return {
        name
        for source in sources
        for found in _LABEL.findall(source.data)
        for name in found
        if name
    }


def _functions(lexed: Mapping[Path, LexedSource]) -> set[bytes]:
    return {name for source in lexed.values() for name in names_of_functions(balanced(source))}
