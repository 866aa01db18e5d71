"""Which words large texts have: who is asked for thousands of names in hundreds of preprocessed
files can't look through all of them for each name.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from pathlib import Path

WORD = re.compile(rb"\w+")


class WordLists:
    """The words of texts, each of which is looked through once, when somebody asks for a word in
    it. `text_of`: the text of a file."""

    def __init__(self, text_of: Callable[[Path], bytes]) -> None:
        self._text_of = text_of
        self._numbers: dict[bytes, int] = {}
        self._listed = cache(self._list)

    def has(self, file: Path, name: bytes) -> bool:
        """Whether a name stands in a file's text with no letter, digit or underscore of the text
        beside it."""
        if WORD.fullmatch(name) is None:
            return re.search(rb"\b%s\b" % re.escape(name), self._text_of(file)) is not None
        listed = self._listed(file)
        number = self._numbers.get(name)
        if number is None:
            return False
        place = bisect_left(listed, number)
        return place < len(listed) and listed[place] == number

    def _list(self, file: Path) -> array[int]:
        """Numbers of the words, in order: sets of them would take more than the texts."""
        words = set(WORD.findall(self._text_of(file)))
        return array("L", sorted(self._numbers.setdefault(it, len(self._numbers)) for it in words))
