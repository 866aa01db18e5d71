"""Of which clock the counts are that SysTick's LOAD is given: the old chip's, or the machine's."""

from __future__ import annotations

from collections.abc import Sequence

from porter.judging.unit import Unit
from porter.meaning.called_with import called_with
from porter.meaning.expressions import source
from porter.meaning.given_clock import is_given_clock
from porter.meaning.tick_rate import asks_clock
from porter.sites.access import Access
from porter.source.c_tree import Node, text_of, walk
from porter.source.evaluate import Evaluator

_DEPTH = 3  # variables that are calculated from variables
_EITHER = (
    "{} is given {}, counts of the old chip's clock or of what SystemCoreClock is now, and nothing "
    "shows which: calculate them from SystemCoreClock here"
)
_OLD = (
    "{} is given {}, counts of the old chip's clock, which nothing here says: give it by "
    "--core-clock HZ"
)


def load_clock(unit: Unit, access: Access) -> tuple[str, str]:
    """C for hertz of the clock that a write of LOAD counts, and why it isn't known, "" if it is."""
    evaluator, value = unit.text.evaluator, access.value
    now = unit.domain.clock_hz if unit.domain is not None else None
    is_same = now is not None and unit.old_clock == now
    if value is None or is_same or _is_of_clock(unit, value, evaluator):
        return "FVM_CLOCK_HZ", ""
    if is_given_clock(unit, access.context, value):
        return "FVM_CLOCK_HZ", ""
    is_number = evaluator.number(value, called_with(unit, access.context)) is not None
    if is_number and unit.old_clock is not None:
        return str(unit.old_clock), ""
    text = " ".join(source(value).decode("latin-1").split())
    return "", (_OLD if is_number else _EITHER).format(access.register, text)


def counts_as_before(unit: Unit, accesses: Sequence[Access]) -> bool:
    """Whether all that is written to LOAD here counts the old chip's clock, not the machine's."""
    loads = [it for it in accesses if it.use == "write" and str(it.register) == "SysTick->LOAD"]
    return bool(loads) and all(load_clock(unit, it)[0].isdigit() for it in loads)


def _is_of_clock(unit: Unit, value: Node, evaluator: Evaluator, depth: int = _DEPTH) -> bool:
    """Whether a value is calculated from what the core's clock is now, or with variables that get
    theirs from it."""
    if asks_clock(value, evaluator):
        return True
    for name in walk(value) if depth else ():
        kept = unit.kept(text_of(name)) if name.type == "identifier" else None
        given = kept.given.child_by_field_name("right") if kept and kept.given else None
        origin = given or (kept.value if kept else None)
        if kept and origin and _is_of_clock(unit, origin, kept.text.evaluator, depth - 1):
            return True
    return False
