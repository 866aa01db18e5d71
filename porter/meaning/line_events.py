"""Lines that end a WFE and make no interrupt."""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.registers.line_events import ASKS


def has_line_events(unit: Unit) -> bool:
    """Whether the program asks for one."""
    return unit.sources_have(ASKS)
