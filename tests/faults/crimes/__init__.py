"""The crimes of the campaign: which class, who commits it, with what, and what must follow."""

from __future__ import annotations

from tests.faults.crimes import calls, context, control, spatial, state, temporal

CRIMES = (
    *context.CRIMES,
    *spatial.CRIMES,
    *control.CRIMES,
    *calls.CRIMES,
    *temporal.CRIMES,
    *state.CRIMES,
)
