"""Files that mean different things: headers where they are included, C files that are compiled
several times, and what uses a macro that is defined anew on the way."""

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
        self._by_file: dict[Path, list[tuple[Path, TranslationUnit]]] = {}
        for source, unit in self._units:
            for path in unit.lines:
                self._by_file.setdefault(path, []).append((source, unit))

    def of(self, path: Path, lexed: LexedSource) -> Sequence[tuple[str, Evaluator]]:
        """Who reads a file in different ways, for a person, one for each way."""
        units = self._by_file.get(path, [])
        anew = {name for _, unit in units for name in unit.redefined}
        if len(units) < 2 and not anew:
            return [(source.name, unit.evaluator) for source, unit in units]
        names = sorted(self._reached(lexed, units[0][1].evaluator) & (self._varying | anew))
        found: dict[_Meaning, tuple[str, Evaluator]] = {}
        for reader, evaluator in _readers(units, names):
            meaning = tuple(_meaning(name, evaluator) for name in names)
            found.setdefault(meaning, (reader, evaluator))
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


def _readers(
    units: Iterable[tuple[Path, TranslationUnit]], names: Sequence[bytes]
) -> Iterator[tuple[str, Evaluator]]:
    seen: set[Path] = set()
    for source, unit in units:
        yield f"{source.name}, compiled again," if source in seen else source.name, unit.evaluator
        seen.add(source)
        if anew := [it.decode("latin-1") for it in names if it in unit.redefined]:
            reader = f"{source.name} before {' and '.join(anew)} is defined anew"
            yield from ((reader, it) for it in unit.earlier(names))


def _words(texts: Iterable[bytes]) -> Iterator[bytes]:
    return (text for text in texts if text[:1].isalpha() or text[:1] == b"_")


def _meaning(name: bytes, evaluator: Evaluator) -> _Meaning:
    macro = evaluator.macros.get(name)
    if macro is not None:
        return macro.parameters, macro.text
    return (evaluator.types.spelt(name),)
