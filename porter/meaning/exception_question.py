"""A comparison of the running exception's number that a machine has an answer for.

It is taken for every number that IPSR may have, with that in the call's place: so it doesn't matter
how it is written, with which casts, masks and constants.
"""

from __future__ import annotations

from porter.meaning.expressions import number_of
from porter.sites.context import Context
from porter.source.c_tree import Node, text_of
from porter.source.evaluate import Evaluator
from porter.source.truth import binary

_NUMBERS = range(512)  # IPSR has nine bits (Armv7-M ARM, B1.4.2)
_SVCALL = 11
_COMPARES = (b"==", b"!=", b"<", b"<=", b">", b">=")
_AROUND = frozenset({"parenthesized_expression", "cast_expression", "binary_expression"})


def answer(call: Node, evaluator: Evaluator, context: Context) -> tuple[Node, bytes] | None:
    """The comparison around a call that reads IPSR, and what stands for it; None for none."""
    around = call.parent
    while around is not None and around.type in _AROUND and binary(around, *_COMPARES) is None:
        around = around.parent
    if around is None or binary(around, *_COMPARES) is None:
        return None
    start, whole = around.start_byte, text_of(around)
    head, tail = whole[: call.start_byte - start], whole[call.end_byte - start :]
    found: set[int] = set()
    for number in _NUMBERS:
        value = number_of(b"%s%dU%s" % (head, number, tail), evaluator, context.scope)
        if value is None:
            return None
        found |= {number} if value else set()
    if found == {_SVCALL}:
        return around, b"virt_in_svc() != 0"
    if found == set(_NUMBERS) - {_SVCALL}:
        return around, b"virt_in_svc() == 0"
    return None
