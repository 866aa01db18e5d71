"""What a project is linked with besides its sources: libraries, archives, linker scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import DEFAULT_COMPILER, compiler_for
from porter.project.linker_symbols import linker_words
from porter.project.source_tree import find_sources
from porter.project.toolchain import (
    archive_needs,
    archive_symbols,
    header_macros,
    library_functions,
    library_needs,
)


@dataclass(eq=False)
class Outside:
    """Answers for the project below `root`."""

    root: Path
    options: CompileOptions
    scripts: Sequence[Path]

    def used(self) -> frozenset[str]:
        """Names that the compiler's libraries, archives in the tree and linker scripts use."""
        found = linker_words(self.scripts).union(*map(library_needs, self._compilers))
        return found.union(*(archive_needs(DEFAULT_COMPILER, path) for path in self._archives))

    def provided(self, headers: Iterable[str]) -> frozenset[str]:
        """Names that the compiler's libraries and these of its headers define."""
        headers = set(headers)
        return frozenset[str]().union(
            *map(library_functions, self._compilers),
            *(header_macros(compiler, headers) for compiler in self._compilers),
        )

    def archived(self) -> dict[str, str]:
        """In which archive of the tree names are."""
        return {name: it.name for it in self._archives for name in archive_symbols(it)}

    @property
    def _compilers(self) -> set[str]:
        """Those whose libraries the project may be linked with."""
        return {self.options.compiler, compiler_for(self.options.cpu_flags), DEFAULT_COMPILER}

    @cached_property
    def _archives(self) -> list[Path]:
        return [Path(it) for it in find_sources(self.root, (), frozenset({".a", ".lib"}))]
