"""The crimes of the campaign: which class, who commits it, with what, and what must follow."""

from __future__ import annotations

from tests.faults.crimes import calls, context, control, spatial, state, temporal
from tests.faults.crimes.crime import Crime

CRIMES = (
    *context.CRIMES,
    *spatial.CRIMES,
    *control.CRIMES,
    *calls.CRIMES,
    *temporal.CRIMES,
    *state.CRIMES,
)

_OF_A_CLASS = 2


def short_form() -> list[Crime]:
    """The first ones of each class."""
    chosen: dict[str, list[Crime]] = {}
    for crime in CRIMES:
        mine = chosen.setdefault(crime.id, [])
        if crime.short and len(mine) < _OF_A_CLASS:
            mine.append(crime)
    return [crime for mine in chosen.values() for crime in mine]
