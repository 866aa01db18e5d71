"""Pins that are set up twice: with time in between, which is a pulse, or as something decides.

No boot table gives either.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.flow.statements import LOOPS
from porter.meaning.bits import ones, zeros
from porter.sites.access import Access
from porter.source.c_tree import (
    Node,
    ancestors,
    captured,
    enclosing_function,
    query,
    text_of,
    walk,
)
from porter.source.evaluate import Evaluator
from porter.source.truth import binary

_ALL = 0xFFFF_FFFF
_TAKES_TIME = query(
    "[(while_statement) (do_statement) (for_statement) (call_expression) (gnu_asm_expression)] @it"
)


def is_toggle(access: Access) -> bool:
    """Whether a write changes a pin's mode to another one each time it is made."""
    register, value = access.register, access.value
    if register is None or register.block != "GPIO" or access.use != "write" or value is None:
        return False
    place = text_of(access.place).split()
    flips = (binary(it, b"^") for it in walk(value))
    return access.operator == b"^=" or any(
        text_of(side).split() == place for sides in flips if sides is not None for side in sides
    )


def choices(accesses: Sequence[Access], evaluator: Evaluator) -> set[Access]:
    """Writes of one pin's mode in both arms of a condition, which change the same bits to something
    else."""
    writes = [it for it in accesses if it.use == "write" and it.value is not None
              and it.register is not None and it.register.block == "GPIO"]  # fmt: skip
    arms: dict[tuple[str, int], list[tuple[Access, int]]] = {}
    for write in writes:
        for branch, arm in _arms(write.whole):
            arms.setdefault((str(write.register), branch), []).append((write, arm))
    found: set[Access] = set()
    for both in arms.values():
        for one, arm in both:
            for other, another in both:
                if arm < another and _contradict(one, other, evaluator):
                    found |= {one, other}
    return found


def _arms(node: Node) -> Iterator[tuple[int, int]]:
    """Each `if` around, with the byte at which the arm begins that has it."""
    inner = node
    for outer in ancestors(node):
        if outer.type == "if_statement":
            yield outer.start_byte, inner.start_byte
        inner = outer


def _contradict(one: Access, other: Access, evaluator: Evaluator) -> bool:
    """Whether two writes leave certain bits different."""
    (ones_of, zeros_of), (their_ones, their_zeros) = (_left(it, evaluator) for it in (one, other))
    return bool(ones_of & their_zeros | zeros_of & their_ones)


def _left(write: Access, evaluator: Evaluator) -> tuple[int, int]:
    """Bits that are surely 1 and surely 0 behind a write."""
    if write.value is None:
        return 0, 0
    scope = write.context.scope
    certain = ones(write.value, evaluator, scope), zeros(write.value, evaluator, scope)
    if write.operator == b"|=":
        return certain[0], 0
    return (0, certain[1]) if write.operator == b"&=" else certain


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
