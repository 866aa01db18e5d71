"""Functions and macros that nothing in the ported machine leads to."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.rules.rule import Revision
from porter.sites.context import is_called_by_name


class Unlinked(Revision):
    """What the linker drops needs nobody."""

    id = "unlinked"
    finds = "a place that would need a person, in a function or macro that nothing uses"
    becomes = "itself"
    why = "the linker drops it"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Escalated sites that aren't linked, with the reason why."""
        for site, verdict in unit.verdicts.items():
            if verdict.status is not Status.ESCALATED:
                continue
            macro = unit.region(site).name
            context = unit.context(site)
            if macro is not None:
                name = macro.decode("latin-1")
            elif context is not None and context.kind == "function":
                name = context.name
                if not is_called_by_name(context.root, unit.text.evaluator):
                    continue
            else:
                continue
            reason = unit.why_not_linked(name)
            if reason is not None:
                yield self.left(site, f"{reason}; else: {verdict.reason}")
