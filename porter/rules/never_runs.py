"""Code for settings that the project never asks a driver for."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Revision


class NeverRuns(Revision):
    """They stay: should one run all the same, protection stops it and names the line."""

    id = "never-runs"
    finds = "a place that would need a person, in a branch that nothing leads to"
    becomes = "itself"
    why = "nobody has to change what never runs"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Escalated sites that never run, with the reason why."""
        return self.excused(unit, unit.why_never)
