"""What expressions would be if a macro with several definitions had another one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from porter.source.evaluate import Evaluator
from porter.source.macros import Layered, Macro, MacroTable

_MOST = 16  # variants of one expression; what more would tell is that nobody knows


class Variants:
    """Evaluators beside one of a file; each differs from it by one definition."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._made: dict[tuple[bytes, int], Evaluator] = {}

    def of(self, names: Iterable[bytes]) -> Iterator[tuple[bytes, Evaluator]]:
        """Those that differ in a macro that one of the names leads to, with its name."""
        count = 0
        for name in self._open(names):
            for number in range(1, len(self._evaluator.macros.all_of(name))):
                count += 1
                if count > _MOST:
                    return
                if (name, number) not in self._made:
                    self._made[name, number] = self._with(name, number)
                yield name, self._made[name, number]

    def _with(self, name: bytes, number: int) -> Evaluator:
        macros, types = self._evaluator.macros, self._evaluator.types
        count = types.count
        users = macros.users_of({name})
        like = self._evaluator if self._of_constants.isdisjoint(users) else None
        made = Evaluator(_Otherwise(macros, macros.all_of(name)[number]), types, like, users)
        types.count = count  # sizes stay those of the file itself
        return made

    @cached_property
    def _of_constants(self) -> frozenset[bytes]:
        """Words of constants that are no macros, as far as macros use these."""
        return self._evaluator.types.words(self._evaluator.macros.words())

    def _open(self, names: Iterable[bytes]) -> list[bytes]:
        """Macros with several definitions that names lead to, the nearest first."""
        macros = self._evaluator.macros
        found = dict.fromkeys(name for name in names if macros.is_open(name))
        new = list(found)
        while new:
            words = (word for macro in macros.all_of(new.pop(0)) for word in macro.text)
            more = [it for it in dict.fromkeys(words) if it not in found and macros.is_open(it)]
            found.update(dict.fromkeys(more))
            new += more
        return [name for name in found if len(macros.all_of(name)) > 1]


class _Otherwise(MacroTable):
    """A table in which one macro has another definition."""

    def __init__(self, others: MacroTable, macro: Macro) -> None:
        super().__init__()
        self._macros = Layered({macro.name: macro.alone}, others._macros)
        self._others = others
        self.assumed = others.assumed
        self._changed = frozenset({macro.name})
