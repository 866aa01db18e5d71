"""Which functions of a file hold together: written, compiled and proved as one, without those that
don't."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from porter.context_switch.arms import Transcribed
from porter.context_switch.proved import NoYield, Refused
from porter.context_switch.result import NotTranscribable, SwitchPort

Found = TypeVar("Found", bound=Transcribed)


@dataclass(frozen=True)
class Attempt(Generic[Found]):
    """`together`: all edits for some functions, proved; `alone`: one of them without the others.
    Both raise NotTranscribable. `give_up` escalates one for a reason; `orphans` are those that
    can't be without what was given up, with the reason."""

    together: Callable[[Sequence[Found]], list[SwitchPort]]
    alone: Callable[[Found], object]
    give_up: Callable[[Found, str], None]
    orphans: Callable[[Sequence[Found]], list[tuple[Found, str]]]


def settled(functions: Sequence[Found], attempt: Attempt[Found]) -> list[SwitchPort]:
    """The edits for those that hold; each of the others is given up."""
    left = list(functions)
    wrong = attempt.orphans(left)
    while True:
        while wrong:
            for one, why in wrong:
                left.remove(one)
                attempt.give_up(one, why)
            wrong = attempt.orphans(left)
        if not left:
            return []
        try:
            return attempt.together(left)
        except NoYield as slow:
            left = [replace(one, handler=slow.without(one.handler)) for one in left]
        except Refused as refused:
            wrong = [(one, str(refused)) for one in left if one.handler.symbol == refused.symbol]
        except NotTranscribable as reason:
            wrong = _guilty(left, attempt.alone, str(reason))


def _guilty(
    functions: Sequence[Found], alone: Callable[[Found], object], reason: str
) -> list[tuple[Found, str]]:
    """Those for which `alone` raises NotTranscribable, each with its own reason; all of them, for
    `reason`, where it does for none."""
    found = []
    for one in functions:
        try:
            alone(one)
        except NotTranscribable as own:
            found.append((one, str(own)))
    return found or [(one, reason) for one in functions]
