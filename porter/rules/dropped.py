"""Functions and macros that nothing in the ported machine leads to, before anybody edits them."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule
from porter.rules.unlinked import why_not_linked
from porter.sites.site import SiteKind

_KINDS = frozenset({SiteKind.INTRINSIC, SiteKind.ASM, SiteKind.REGISTER})


class Dropped(Rule):
    """An edit there would change nothing for the guest, and a person would have to review it: a
    vendor's library is mostly such code. `--all-arms` has it ported all the same."""

    id = "dropped"
    finds = "a place in a function or macro that nothing uses"
    becomes = "itself"
    why = "the linker drops it, or no compiler sees it"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Sites that aren't linked, with the reason why."""
        for site in () if unit.has_all_arms else unit.pending():
            why = why_not_linked(unit, site) if site.kind in _KINDS else None
            if why is not None:
                yield self.left(site, why)
