"""Which of several functions, written together, are the ones that don't hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from porter.context_switch.result import NotTranscribable

Found = TypeVar("Found")


def guilty(
    everything: Sequence[Found], alone: Callable[[Found], object], reason: str
) -> list[tuple[Found, str]]:
    """Those for which `alone` raises NotTranscribable, each with its own reason; all of them, for
    `reason`, where it does for none."""
    found = []
    for one in everything:
        try:
            alone(one)
        except NotTranscribable as own:
            found.append((one, str(own)))
    return found or [(one, reason) for one in everything]
