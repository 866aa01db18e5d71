"""Whether code that stays goes to a numbered label of a function that is taken out of its file.

A named label that is missing is an error; of numbers (`b 0f`, `B %F1`) the next one counts, and the
branch would lead to another function's. What counts the assembler knows best: it is asked with more
labels of those numbers in front of the function and behind it. A branch that one of them catches
and the other doesn't goes to a label between them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cached_property

from porter.context_switch.assemble import CompileError
from porter.context_switch.dialect import PROLOGUE, gnu_text
from porter.context_switch.object_file import ObjectFile
from porter.context_switch.place import Place
from porter.context_switch.result import NotTranscribable
from porter.context_switch.variants import Span
from porter.source.asm_text import Dialect, blank_comments

Assembled = Callable[[bytes], ObjectFile]
"""Assembles a text of GNU's assembler that could stand in the file's place."""

# Numbers that nobody means do no harm, so that a reference need only look like one.
_REFERENCE = re.compile(rb"(?<![\w.$])(\d+)[fb](?!\w)")

_Led = tuple[ObjectFile, set[tuple[int, int]]]


class NumberedLabels:
    """Those of one file. Of another assembler's they are looked at as GNU's, where each reference
    has a direction."""

    def __init__(self, data: bytes, dialect: Dialect, assembled: Assembled) -> None:
        self._data, self._dialect, self._assembled = data, dialect, assembled
        self._known: dict[Span, _Led] = {}

    @cached_property
    def _lines(self) -> list[bytes]:
        """As many as the file has, in front of all what has to be there."""
        if self._dialect == "gnu":
            return self._data.split(b"\n")
        first, *others = gnu_text(self._data, Place("")).split(b"\n")
        return [PROLOGUE.encode() + first, *others]

    @cached_property
    def _labels(self) -> list[bytes]:
        clean = blank_comments(b"\n".join(self._lines), "gnu")
        numbers = {int(number) for number in _REFERENCE.findall(clean)}
        return [b"%d:" % number for number in sorted(numbers)]

    def refuse_users(self, place: Span, gone: Collection[str]) -> None:
        """NotTranscribable where something goes into the text at a place by a number, and isn't of
        the functions that go too."""
        if not self._labels:
            return
        if place not in self._known:
            self._known[place] = self._led_into(place)
        plain, found = self._known[place]
        ranges = [(it.section, it.start, it.end) for it in plain.functions if it.name in gone]
        users = [
            (section, address)
            for section, address in sorted(found)
            if not any(section == home and low <= address < high for home, low, high in ranges)
        ]
        if not users:
            return
        raise NotTranscribable(
            f"{' and '.join(dict.fromkeys(_names(plain, users)))} goes to a label in the text "
            "that goes with this function, by its number: the branch would lead to another label "
            "of that number. Give the label a name, or move it, with what stands there, to a "
            "function that stays"
        )

    def _led_into(self, place: Span) -> _Led:
        """An object of the file, and what of it goes in there or, from there, out."""
        first, last = (self._data.count(b"\n", 0, offset) for offset in place)
        try:
            plain = self._with(first, [], last, [])
            in_front = plain.differing(self._with(first, self._labels, last, []))
            behind = plain.differing(self._with(first, [], last, self._labels))
        except CompileError as error:
            raise NotTranscribable(
                f"whether numbered labels of it are used elsewhere can't be asked: {error}"
            ) from error
        return plain, in_front ^ behind

    def _with(self, first: int, front: list[bytes], last: int, back: list[bytes]) -> ObjectFile:
        """The file with labels in front of some lines and behind them. Each has an instruction on
        both sides, so that it has an address that no label of the file's has."""
        lines, nop = self._lines, b"    nop"
        parts = (
            lines[:first],
            [nop, *front, nop],
            lines[first:last],
            [nop, *back, nop, *lines[last:]],
        )
        return self._assembled(b"\n".join(line for part in parts for line in part))


def _names(unit: ObjectFile, places: list[tuple[int, int]]) -> Iterator[str]:
    for section, address in places:
        function = unit.function_at(section, address)
        yield function.name if function is not None else "code of no function"
