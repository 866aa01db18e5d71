"""Why a handler isn't split."""

from __future__ import annotations


class Refusal(Exception):
    """The handler stays in the VM as a whole. `reason` says why and what to do, on one line;
    `place` is `file:line` where the reason stands."""

    def __init__(self, reason: str, place: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.place = place


class At(Refusal):
    """A refusal whose file isn't known yet: that of the handler."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
