"""The last rule: what nobody understood."""

from __future__ import annotations

from collections.abc import Iterator

from porter.rules.rule import Rule
from porter.rules.unit import Unit
from porter.rules.verdict import Verdict


class Unknown(Rule):
    """Sites of a kind that is found but for which no rule exists."""

    id = "unknown"
    finds = "a privileged instruction or register access that no other rule understands"
    becomes = "itself"
    why = "a wrong rewriting is worse than a question"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Escalates all that is left."""
        for site in unit.pending():
            yield self.escalated(site, f"no rule knows what {site.what} is for here")
