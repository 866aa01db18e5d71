"""Edits that a directive stands in: they would take one arm of an #if for all builds."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.rules.core_clock import CoreClock
from porter.rules.recipe_condition import RecipeCondition
from porter.rules.recipe_function import RecipeFunction
from porter.rules.rule import Revision
from porter.source.edit import Edit

_WHOLE = frozenset({RecipeFunction.id, RecipeCondition.id})  # they know every arm
_FOR_ALL = frozenset({CoreClock.id})  # right whatever the arms say, if they end within
_OPENING = frozenset({b"if", b"ifdef", b"ifndef"})
_ARMS = frozenset({b"elif", b"else"})


class SplitStatement(Revision):
    """A statement may go with all its arms; what takes its place can't be two things."""

    id = "split-statement"
    finds = "a statement with #if in it that other rules would rewrite"
    becomes = "itself"
    why = "what the parser read of it is one arm, and the others would be gone"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Verdicts whose edits go over a directive, and those on what such a deletion takes out."""
        cut = {edit for edit in unit.deletions if not _is_whole(unit, edit)}
        unit.deletions -= cut
        for site, verdict in list(unit.verdicts.items()):
            if verdict.status is not Status.REWRITTEN or verdict.rule in _WHOLE:
                continue
            if verdict.rule in _FOR_ALL and all(_is_whole(unit, it) for it in verdict.edits):
                continue
            inside = any(edit.start <= site.start and site.end <= edit.end for edit in cut)
            if inside or any(_directives(unit, edit) for edit in verdict.edits):
                yield self.escalated(
                    site,
                    "an #if stands within the statement: write a whole statement into each arm",
                )


def _directives(unit: Unit, edit: Edit) -> list[bytes]:
    """The names of those inside an edit."""
    return [it.name for it in unit.text.lexed.directives_within(edit.start, edit.end)]


def _is_whole(unit: Unit, edit: Edit) -> bool:
    """Whether no #if goes on outside."""
    depth = 0
    for name in _directives(unit, edit):
        depth += (name in _OPENING) - (name == b"endif")
        if depth < 0 or (name in _ARMS and depth == 0):
            return False
    return depth == 0
