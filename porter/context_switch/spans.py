"""Which text of a file says what a function does: its own, and of other functions what
it goes on in. Offsets are into a text with as many lines as the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.context_switch.result import NotTranscribable
from porter.context_switch.variants import Span

_CONDITION = re.compile(rb"[ \t]*#[ \t]*(if|endif)")


class Spans:
    """Of one file. `data` is the text with conditions as C has them."""

    def __init__(self, original: bytes, data: bytes) -> None:
        self._original = original
        self._lines = data.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._depth = [_depth(line) for line in self._lines]

    def same(self, start: int, end: int) -> Span:
        """The lines at [start, end) of the file."""
        lines = [len(self._original[:offset].splitlines()) for offset in (start, end)]
        return self._starts[lines[0]], self._starts[lines[1]]

    def around(self, numbers: Iterable[int]) -> Span:
        """All lines from the first to the last of these, which count from 1, and of an #if that
        only begins or ends there the rest."""
        first, last = min(numbers := list(numbers)) - 1, max(numbers)
        while (open_ifs := _left_open(self._depth[first:last])) != (0, 0):
            first -= open_ifs[0] > 0
            last += open_ifs[0] == 0
            if first < 0 or last > len(self._lines):
                raise NotTranscribable("an #if begins or ends in the middle of the function")
        return self._starts[first], self._starts[last]


def _depth(line: bytes) -> int:
    found = _CONDITION.match(line)
    if found is None:
        return 0
    return 1 if found.group(1) == b"if" else -1


def _left_open(steps: list[int]) -> tuple[int, int]:
    """How many #ifs end here that don't begin here, and how many begin that don't end."""
    before = after = 0
    for step in steps:
        if step < 0 and not after:
            before += 1
        else:
            after += step
    return before, after
