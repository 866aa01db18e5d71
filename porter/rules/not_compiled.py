"""Code in #if arms that this project's configuration switches off."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.rules.rule import Rule
from porter.sites.context import Context
from porter.sites.site import Site


class NotCompiled(Rule):
    """Arms that are off are ported like the others where that is possible.

    A function in such an arm that isn't fully understood stays as it is, whole: half a port of
    code that nobody can try helps nobody.
    """

    id = "not-compiled"
    finds = "sites that need a person, in code that the project's own compiler skips"
    becomes = "itself"
    why = "it isn't part of the firmware that is ported; the report names the condition"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Takes back what other rules decided about such a function."""
        for sites in _groups(unit):
            context = unit.context(sites[0])
            function = context if context is not None and context.kind == "function" else None
            if function is not None and not _is_compiled(unit, function):
                if any(_is_open(unit, site) for site in sites):
                    yield from self._leave(unit, function, sites)
                continue
            for site in sites:
                if _is_open(unit, site) and not unit.is_compiled(site.start, site.end):
                    unit.verdicts.pop(site, None)
                    yield self.left(site, false_condition(unit, site))

    def _leave(self, unit: Unit, function: Context, sites: list[Site]) -> Iterator[Verdict]:
        start, end = function.start(function.root), function.end(function.root)
        unit.deletions = {edit for edit in unit.deletions if edit.end <= start or edit.start >= end}
        unit.rewritten_spans = [
            edit for edit in unit.rewritten_spans if edit.end <= start or edit.start >= end
        ]
        for site in sites:
            unit.verdicts.pop(site, None)
            yield self.left(site, false_condition(unit, site))


def _groups(unit: Unit) -> list[list[Site]]:
    """Sites by the function (or macro) they are in."""
    groups: dict[int, list[Site]] = {}
    for number, site in enumerate(unit.found.sites):
        context = unit.context(site)
        key = context.root.id if context is not None and context.kind != "file" else -1 - number
        groups.setdefault(key, []).append(site)
    return list(groups.values())


def _is_open(unit: Unit, site: Site) -> bool:
    verdict = unit.verdicts.get(site)
    if verdict is not None:
        return verdict.status is Status.ESCALATED
    if unit.is_deleted(site.start, site.end):
        return False
    access = unit.access(site) if site in unit.found.regions else None
    return access is None or access.use != "address"


def _is_compiled(unit: Unit, context: Context) -> bool:
    return unit.is_compiled(context.start(context.root), context.end(context.root))


def false_condition(unit: Unit, site: Site) -> str:
    """Why the compiler skips a site."""
    if (needed := unit.false_condition(site.start)) is not None:
        return f"in an arm that needs {needed}: not in this build"
    return f"not compiled in this project: {' && '.join(site.conditions) or 'skipped'} is false"
