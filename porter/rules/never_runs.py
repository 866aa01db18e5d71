"""Code for settings that the project never asks a driver for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.program.macro_uses import MacroUse
from porter.rules.rule import Revision


class NeverRuns(Revision):
    """They stay: should one run all the same, protection stops it and names the line."""

    id = "never-runs"
    finds = "a place that would need a person, in a branch that nothing leads to"
    becomes = "itself"
    why = "nobody has to change what never runs"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Escalated sites that never run, with the reason why."""
        yield from self.excused(unit, unit.why_never)
        for site, verdict in unit.verdicts.items():
            if verdict.status is Status.ESCALATED and (idle := list(unit.idle_places(site))):
                yield self._in_macro(verdict, idle)

    def _in_macro(self, verdict: Verdict, idle: Sequence[tuple[MacroUse, str]]) -> Verdict:
        use, why = idle[0]
        file = use.text.file
        reason = f"nothing that may run uses the macro; {file.name}:{file.line(use.start)} {why}"
        also = tuple((it.text.file.path, *it.lines) for it, _ in idle)
        return replace(self.left(verdict.site, f"{reason}; else: {verdict.reason}"), also=also)
