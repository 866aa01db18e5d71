"""What a build compiles or links besides the sources that are read here: text that stands elsewhere
or is of another language, objects and archives, and what isn't there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from porter.project.build import Build
from porter.project.compiler_command import DEFAULT_COMPILER, compiles
from porter.project.source_tree import find_sources
from porter.project.toolchain import comes_with, library_named, symbols_of

_WORD = re.compile(rb"\b[A-Za-z_]\w*")
_OBJECTS = frozenset({".o", ".obj"})
_COMPILED = (b"\x7fELF", b"!<arch>\n", b"!<thin>\n")


@dataclass(frozen=True)
class UnreadInputs:
    """`texts` and `compiled` files are there; `absent` ones aren't, or say nothing; `libraries`
    come with the compiler; `scripts` are a linker's that no option names as such; `placed`: names
    that the link gives a place of their own, with the script that does."""

    texts: tuple[Path, ...] = ()
    compiled: tuple[Path, ...] = ()
    absent: tuple[Path, ...] = ()
    libraries: tuple[Path, ...] = ()
    scripts: tuple[Path, ...] = ()
    placed: Mapping[str, Path] = field(default_factory=dict)

    @property
    def there(self) -> tuple[Path, ...]:
        """Those that a person may want to know of, if they are there."""
        return (*self.texts, *self.compiled)

    @cached_property
    def used(self) -> frozenset[str]:
        """Names that they use, or may."""
        needs = (it.needed for file in (*self.compiled, *self.libraries)
                 if (it := symbols_of(DEFAULT_COMPILER, file)) is not None)  # fmt: skip
        return frozenset(self._words).union(*needs)

    def home_of(self, name: str, is_weak: bool) -> Path | None:
        """The file that may define a function which the project doesn't define, or only weakly."""
        for file in self.compiled:
            if (known := symbols_of(DEFAULT_COMPILER, file)) is not None and name in known.defined:
                return file
        if (text := self._words.get(name)) is not None:
            return text
        return next(iter(self.absent), None) if is_weak else None

    @cached_property
    def _words(self) -> dict[str, Path]:
        return {
            word.decode("latin-1"): file
            for file in reversed(self.texts)
            for word in _WORD.findall(file.read_bytes())
        }


NO_INPUTS = UnreadInputs()


def unread_inputs(root: Path, build: Build, read: Collection[Path]) -> UnreadInputs:
    """Of a build, where the files `read` below `root` are looked at."""
    known = {file.resolve() for file in read}
    sources = [file for file in build.units if file.resolve() not in known]
    texts = [*sources, *(it for it in build.others if it.is_file())]
    absent = [*build.missing, *(it for it in build.others if not it.is_file())]
    files = dict.fromkeys(file for it in build.linked for file in it.inputs)
    if not build.linked:
        files = dict.fromkeys(_without_source(root, read))
    names = dict.fromkeys(name for it in build.linked for name in it.libraries)
    libraries = {name: library_named(build.options.compiler, name) for name in names}
    absent += [Path(name) for name, file in libraries.items() if file is None]
    compiled, scripts = [], []
    for file in files:
        if not file.is_file():
            absent.append(file)
        elif not _begins(file).startswith(_COMPILED):
            scripts.append(file)
        elif symbols_of(DEFAULT_COMPILER, file) is None:
            absent.append(file)
        else:
            compiled.append(file)
    own = [it for it in compiled if comes_with(build.options.compiler, it)]
    theirs = [*own, *filter(None, libraries.values())]
    return UnreadInputs(
        _each(texts), _each(it for it in compiled if it not in own), _each(absent), _each(theirs),
        _each(scripts),
    )  # fmt: skip


def _without_source(root: Path, read: Collection[Path]) -> Iterator[Path]:
    """Objects in a tree that none of its sources was compiled to."""
    names = {file.name for file in read}
    stems = {file.stem for file in read}
    for file in find_sources(root, (), _OBJECTS):
        found = symbols_of(DEFAULT_COMPILER, file)
        sources = {it for it in found.made_of if compiles(it)} if found else frozenset()
        if not (sources <= names if sources else file.name.partition(".")[0] in stems):
            yield file


def _begins(file: Path) -> bytes:
    with file.open("rb") as opened:
        return opened.read(8)


def _each(files: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(files))
