"""Where an EXC_RETURN goes on. In a guest that is thread mode on PSP in any case: the kernel takes
only the bit of the frame from it. So a handler that ends with another one can't be ported.

What it got from elsewhere, at its entry or out of memory, is taken for one of a task: no other is
made there. What it makes of that, or has as a constant, is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import z3

from porter.context_switch.proof.model import EXC_RETURN_KIND, EXC_RETURN_MODE, THREAD_ON_PSP
from porter.context_switch.proof.states import EXC_RETURNS
from porter.context_switch.proof.terms import Term, Truth, bits, truth

ELSEWHERE = "the mode or the stack that EXC_RETURN says (a guest goes on in thread mode on PSP)"


def _goes_elsewhere(word: Any) -> Any:
    is_one = word & EXC_RETURN_KIND == EXC_RETURN_KIND
    return z3.And(is_one, word & EXC_RETURN_MODE != THREAD_ON_PSP)


def may_go_elsewhere(end: Term) -> Truth:
    """When what a handler ends with says so, although no word that it got did."""
    if isinstance(end, int):
        return end | 1 not in EXC_RETURNS
    got = (z3.Not(_goes_elsewhere(word)) for word in _got(bits(end)))
    return truth(z3.And(_goes_elsewhere(end), *got))


def _got(term: Any) -> Iterator[Any]:
    """The unknown words in a term. A byte or halfword of one, which is all that some keep, counts
    as the low end of an EXC_RETURN."""
    waiting, seen = [term], set()
    while waiting:
        part = waiting.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        if _is_unknown_word(part):
            yield part
        elif _is_narrow_load(part):
            yield z3.Concat(z3.BitVecVal(-1, 32 - part.size()), part)
        waiting += part.children()


def _is_unknown_word(part: Any) -> bool:
    unknown = z3.is_select(part) or (z3.is_const(part) and not z3.is_bv_value(part))
    return unknown and z3.is_bv(part) and part.size() == 32


def _is_narrow_load(part: Any) -> bool:
    if not z3.is_app_of(part, z3.Z3_OP_EXTRACT) or part.size() not in (8, 16):
        return False
    word = part.arg(0)
    return _is_unknown_word(word.arg(0) if z3.is_app_of(word, z3.Z3_OP_BLSHR) else word)
