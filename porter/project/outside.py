"""What a project is linked with besides its sources: libraries, archives, linker scripts, and files
that a description builds in place of some of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import DEFAULT_COMPILER, compiler_for
from porter.project.linker_symbols import kept_sections, linker_words
from porter.project.linking import Linking
from porter.project.other_builds import words_about_links
from porter.project.source_tree import find_sources
from porter.project.toolchain import (
    archive_needs,
    archive_symbols,
    header_macros,
    library_functions,
    library_needs,
)
from porter.project.unread_inputs import NO_INPUTS, UnreadInputs
from scanner.report.errors import MissingError

_WORD = re.compile(rb"\b[A-Za-z_]\w*")
_OWN_SECTIONS = (".text", ".rodata", ".data", ".bss")
_USUALLY_KEPT = (
    ".init", ".fini", ".init_array*", ".fini_array*", ".preinit_array*", ".ctors*", ".dtors*",
    "*vector*", "*vtable*",
)  # fmt: skip


@dataclass(eq=False)
class Outside:
    """Answers for the project below `root`."""

    root: Path
    options: CompileOptions
    scripts: Sequence[Path]
    beside: Sequence[Path] = ()
    linked: Sequence[Linking] = ()
    inputs: UnreadInputs = NO_INPUTS

    @property
    def keeps_all(self) -> bool:
        """Whether any function may be used that others can call: by a file that isn't there, or by
        an option of the linker."""
        return bool(self.inputs.absent) or any(it.keeps_all for it in self.linked)

    @property
    def renamed(self) -> frozenset[tuple[str, str]]:
        """Names that the linker's options give another meaning, with what they mean."""
        return frozenset(pair for it in self.linked for pair in it.renamed)

    def used(self) -> frozenset[str]:
        """Names that the compiler's libraries, archives in the tree, linker scripts, the linker's
        options, files beside the project and whatever else is linked use."""
        found = linker_words(self.scripts).union(*map(library_needs, self._compilers))
        found = found.union(self.inputs.used, *(it.kept for it in self.linked))
        if not self.linked:
            found |= words_about_links(self.root)
        return found.union(
            self.named_beside, *(archive_needs(DEFAULT_COMPILER, path) for path in self._archives)
        )

    @property
    def called(self) -> frozenset[str]:
        """Functions of the compiler's libraries."""
        return frozenset[str]().union(*map(library_functions, self._compilers))

    def keeps_section(self, name: str) -> bool:
        """Whether the linker keeps what lies in a section though nothing has its name: a script
        says so, or the section's ends have names because it is an identifier of C."""
        return name.isidentifier() or any(
            fnmatchcase(name, pattern) for pattern in (*_USUALLY_KEPT, *self._kept_sections)
        )

    def keeps(self, name: str) -> bool:
        """The same for the section that the compiler makes for one function or object."""
        return any(
            fnmatchcase(f"{section}.{name}", pattern)
            for section in _OWN_SECTIONS
            for pattern in self._kept_sections
            if pattern.startswith(section)
        )

    @cached_property
    def _kept_sections(self) -> frozenset[str]:
        return kept_sections(self.scripts)

    def provided(self, headers: Iterable[str]) -> frozenset[str]:
        """Names that the compiler's libraries and these of its headers define."""
        headers = set(headers)
        return frozenset[str]().union(
            *map(library_functions, self._compilers),
            *(header_macros(compiler, headers) for compiler in self._compilers),
        )

    @cached_property
    def named_beside(self) -> frozenset[str]:
        """Every word of the files beside the project, which nobody ports."""
        return frozenset(
            word.decode("latin-1") for file in self.beside for word in _WORD.findall(_text_of(file))
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


def _text_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise MissingError(
            f"replaces a file of the project and can't be read: {error.strerror}",
            file=file,
            hint="what it uses isn't known; put it back, or run fvmkit compose again",
        ) from error
