"""In which language each file of a project is written."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from porter.source.assembler_text import included_names
from porter.source.c_lexer import LexedSource
from porter.source.grammar import CPLUSPLUS, C, Grammar, has_cplusplus
from porter.source.source_file import SourceFile


class Languages:
    """Answers for one project. A header without a suffix of its own is C++ if it has what C
    hasn't, or if only C++ includes it."""

    def __init__(self, sources: Sequence[SourceFile]) -> None:
        self._sources = [source for source in sources if not source.is_asm]
        self._has_cplusplus = any(source.is_cplusplus for source in self._sources)

    def grammar(self, file: SourceFile, lexed: LexedSource) -> Grammar:
        """That of a file."""
        if file.is_cplusplus:
            return CPLUSPLUS
        if not file.is_header or not self._has_cplusplus:
            return CPLUSPLUS if file.is_header and has_cplusplus(lexed) else C
        name = file.path.name.encode()
        if has_cplusplus(lexed) or (name in self._by_cplusplus and name not in self._by_c):
            return CPLUSPLUS
        return C

    @cached_property
    def _by_c(self) -> frozenset[bytes]:
        first = (it for it in self._sources if it.path.suffix.lower() == ".c")
        return included_names(first, self._sources)

    @cached_property
    def _by_cplusplus(self) -> frozenset[bytes]:
        return included_names((it for it in self._sources if it.is_cplusplus), self._sources)
