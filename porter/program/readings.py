"""Files that mean different things: headers where they are included, and C files that are compiled
several times."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from porter.program.preprocess import TranslationUnit
from porter.source.c_lexer import LexedSource
from porter.source.evaluate import Evaluator
from porter.source.macros import parse_define

_Meaning = tuple[object, ...]


class Readings:
    """Answers for files that the compiler preprocessed. `units`: by the C file of each."""

    def __init__(self, units: Mapping[Path, TranslationUnit]) -> None:
        self._units = [(file, it) for file, unit in units.items() for it in unit.readings]
        self._by_file: dict[Path, list[tuple[Path, Evaluator]]] = {}
        for source, unit in self._units:
            for path in unit.lines:
                self._by_file.setdefault(path, []).append((source, unit.evaluator))

    def of(self, path: Path, lexed: LexedSource) -> Sequence[tuple[Path, Evaluator]]:
        """The C files that read a file in different ways, one for each way."""
        sources = self._by_file.get(path, [])
        if len(sources) < 2:
            return sources
        names = sorted(self._reached(lexed, sources[0][1]) & self._varying)
        found: dict[_Meaning, tuple[Path, Evaluator]] = {}
        for source, evaluator in sources:
            meaning = tuple(_meaning(name, evaluator) for name in names)
            found.setdefault(meaning, (source, evaluator))
        return list(found.values())

    @cached_property
    def _varying(self) -> frozenset[bytes]:
        """Names of macros and types that aren't the same in all units."""
        seen: dict[bytes, _Meaning] = {}
        count: dict[bytes, int] = {}
        varying: set[bytes] = set()
        evaluators = [unit.evaluator for _, unit in self._units]
        for evaluator in evaluators:
            for name in (*evaluator.macros, *evaluator.types.named):
                meaning = _meaning(name, evaluator)
                count[name] = count.get(name, 0) + 1
                if seen.setdefault(name, meaning) != meaning:
                    varying.add(name)
        # What a unit doesn't define at all means something else there.
        return frozenset(varying | {it for it, times in count.items() if times < len(evaluators)})

    def _reached(self, lexed: LexedSource, evaluator: Evaluator) -> set[bytes]:
        """The names that the code of a file uses, and those that its macros lead to."""
        new = {token.text for token in lexed.tokens if token.kind == "identifier"}
        for directive in lexed.directives:
            if (macro := parse_define(directive)) is not None:
                new.update(_words(macro.text))
        found: set[bytes] = set()
        while new:
            found |= new
            known = (evaluator.macros.get(name) for name in new)
            new = {word for macro in known if macro is not None for word in _words(macro.text)}
            new -= found
        return found


def _words(texts: Iterable[bytes]) -> Iterator[bytes]:
    return (text for text in texts if text[:1].isalpha() or text[:1] == b"_")


def _meaning(name: bytes, evaluator: Evaluator) -> _Meaning:
    macro = evaluator.macros.get(name)
    if macro is not None:
        return macro.parameters, macro.text
    return (evaluator.types.spelt(name),)
