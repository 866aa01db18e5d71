"""What rules decided on a file, without the trees that they looked at: to hand on, and to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from porter.judging.facts import Facts
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.sites.c_sites import FoundSites
from porter.sites.site import Site
from porter.source.edit import Edit


@dataclass(frozen=True)
class Decided:
    """As the attributes of a Unit that have these names."""

    found: FoundSites
    verdicts: Mapping[Site, Verdict]
    deletions: Set[Edit]
    removed_places: Set[tuple[int, int, str]]
    facts: Facts
    replaced: Sequence[Edit]
    extra_edits: Sequence[Edit]
    rewritten_spans: Sequence[Edit]

    @classmethod
    def of(cls, unit: Unit) -> Decided:
        """What rules left in a unit."""
        return cls(
            unit.found.found,
            unit.verdicts,
            unit.deletions,
            unit.removed_places,
            unit.facts,
            unit.replaced,
            unit.extra_edits,
            unit.rewritten_spans,
        )

    def put_into(self, unit: Unit) -> Unit:
        """A new unit of the same file, for those who look at all files when every rule is done."""
        unit.found.take(self.found)
        unit.verdicts = dict(self.verdicts)
        unit.deletions = set(self.deletions)
        unit.removed_places = set(self.removed_places)
        unit.facts = self.facts
        unit.replaced = list(self.replaced)
        unit.extra_edits = list(self.extra_edits)
        unit.rewritten_spans = list(self.rewritten_spans)
        return unit
