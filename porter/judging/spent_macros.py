"""Macros that nothing uses once their uses are ported.

`#define SET(p, b) ((p)->BSRR = (b))`: what the body does depends on what it is given, so each use
is ported where it stands, `SET(GPIOA, 1)` to a call. When all are, the body is nobody's.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.source.macros import parse_define

RULE = "spent-macro"
_REASON = "all {} uses of {} in this program are rewritten where they stand"


def judge_spent_macros(docket: Docket) -> None:
    """Nobody need look at what is escalated in the body of such a macro."""
    for path, unit in docket.units.items():
        for old in docket.ports[path].verdicts:
            if old.status is not Status.ESCALATED or old.site not in unit.verdicts:
                continue
            name = unit.region(old.site).name
            count = _spent(docket, unit, name) if name is not None else 0
            if name is not None and count:
                reason = _REASON.format(count, name.decode("latin-1"))
                docket.change({old.site: Verdict(old.site, Status.LEFT, RULE, reason)})


def _spent(docket: Docket, unit: Unit, name: bytes) -> int:
    """How many uses there were; 0 if there were none, or one is left."""
    if unit.is_in_assembler:
        return 0
    count = 0
    ways = [name]  # it, and macros whose bodies still lead to it
    for way in ways:
        if unit.is_named_beside(way.decode("latin-1")):
            return 0
        for use in unit.uses_by_name(way):
            if not _is_edited(docket, use.text.file.path, use.start, way):
                return 0
            count += 1
        for outer, is_edited in _outer(docket, way):
            count += is_edited
            if not is_edited and outer not in ways:
                ways.append(outer)
    return count


def _outer(docket: Docket, name: bytes) -> Iterator[tuple[bytes, bool]]:
    """Macros with a name in their bodies, and whether an edit takes it out there."""
    for path, unit in docket.units.items():
        lines = unit.text.lexed.directives if name in unit.file.data else ()
        for macro in filter(None, map(parse_define, lines)):
            for token in macro.body if name in macro.text else ():
                if token.text == name:
                    yield macro.name, _is_edited(docket, path, token.start, name)


def _is_edited(docket: Docket, path: Path, place: int, name: bytes) -> bool:
    """Whether something else than the name is at a place now."""
    edits = docket.ports[path].edits
    return any(it.start <= place < it.end and name not in it.replacement for it in edits)
