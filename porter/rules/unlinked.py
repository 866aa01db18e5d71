"""Functions and macros that nothing in the ported machine leads to."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.registers.intrinsics import SUPERVISOR
from porter.rules.rule import Revision
from porter.sites.context import is_called_by_name
from porter.sites.site import Site


class Unlinked(Revision):
    """What the linker drops needs nobody."""

    id = "unlinked"
    finds = "a place that would need a person, in a function or macro that nothing uses"
    becomes = "itself"
    why = "the linker drops it"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Escalated sites that aren't linked, with the reason why."""
        return self.excused(unit, lambda site: why_not_linked(unit, site))


def why_not_linked(unit: Unit, site: Site) -> str | None:
    """Why the function or macro that a site is in is no part of the program; None if it may be."""
    macro = unit.region(site).name
    if macro is not None and site.what in SUPERVISOR:
        return None  # declarations have such a macro, and calls what they declare
    if macro is not None:
        return unit.why_not_linked(macro.decode("latin-1"))
    context = unit.context(site)
    if context is None or context.kind != "function":
        return None
    is_named = is_called_by_name(context.root, unit.text.evaluator)
    return unit.why_not_linked(context.name) if is_named else None
