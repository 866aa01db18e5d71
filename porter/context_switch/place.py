"""Where a text begins in a file, for reasons that a person can follow to a line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from porter.context_switch.result import NotTranscribable


@dataclass(frozen=True)
class Place:
    """`line` counts from 1."""

    file: str
    line: int = 1

    def behind(self, lines: int) -> Place:
        """That of a line of the text."""
        return Place(self.file, self.line + lines)

    @contextmanager
    def told(self, lines: int) -> Iterator[None]:
        """Puts a line of the text in front of the reason that something is given for there."""
        try:
            yield
        except NotTranscribable as error:
            raise NotTranscribable(f"{self.file}:{self.line + lines}: {error}") from error
