"""Pins that are set up twice with time in between: a pulse, which no boot table gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.flow.statements import LOOPS
from porter.meaning.bits import ones, zeros
from porter.sites.access import Access
from porter.source.c_tree import Node, captured, enclosing_function, query
from porter.source.evaluate import Evaluator

_ALL = 0xFFFF_FFFF
_TAKES_TIME = query(
    "[(while_statement) (do_statement) (for_statement) (call_expression) (gnu_asm_expression)] @it"
)


def pulses(accesses: Sequence[Access], evaluator: Evaluator) -> set[Access]:
    """Writes of pins' modes that change what another one in the same function set, with a loop or a
    call in between. `accesses`: all of the boot table's; a loop that waits for one of them takes no
    time in a machine."""
    modes: dict[tuple[Node, str], list[Access]] = {}
    for access in accesses:
        if access.register is None or access.register.block != "GPIO" or access.use != "write":
            continue
        function = enclosing_function(access.whole)
        if function is not None:
            modes.setdefault((function, str(access.register)), []).append(access)
    asked = [it.whole.start_byte for it in accesses if it.use == "read"]
    found: set[Access] = set()
    for (function, _), writes in modes.items():
        if len(writes) > 1:
            pauses = list(_pauses(function, evaluator, asked))
            found |= _pulsed(sorted(writes, key=lambda it: it.whole.start_byte), pauses, evaluator)
    return found


def _pulsed(writes: list[Access], pauses: list[Node], evaluator: Evaluator) -> set[Access]:
    found: set[Access] = set()
    for index, first in enumerate(writes):
        for second in writes[index + 1 :]:
            between = any(
                first.whole.end_byte <= pause.start_byte < second.whole.start_byte
                for pause in pauses
            )
            if between and _changed(first, evaluator) & _changed(second, evaluator):
                found |= {first, second}
    return found


def _changed(write: Access, evaluator: Evaluator) -> int:
    """Bits that a write may change."""
    if write.value is None:
        return _ALL
    scope = write.context.scope
    if write.operator == b"|=":
        return _ALL & ~zeros(write.value, evaluator, scope)
    if write.operator == b"&=":
        return _ALL & ~ones(write.value, evaluator, scope)
    return _ALL


def _pauses(function: Node, evaluator: Evaluator, asked: list[int]) -> Iterator[Node]:
    for node in captured(function, _TAKES_TIME, "it"):
        if node.type in LOOPS:
            if not any(node.start_byte <= place < node.end_byte for place in asked):
                yield node
        elif node.type != "call_expression" or (
            evaluator.call_text(node) is None and evaluator.cast_argument(node) is None
        ):
            yield node
