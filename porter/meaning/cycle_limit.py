"""What differences of the cycle counter are compared with or divided by, and what is added to it.

A number of cycles is a time by the clock that it was written for. The counter of a machine counts
with the system's clock: a wait of 7200 cycles is 100 us at 72 MHz and 43 us at 168.
"""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.sites.access import Access
from porter.source.c_tree import Node, enclosing_function, operands, outermost, text_of, walk
from porter.source.declared import declared_name
from porter.source.token_tools import has_word

_ORDER = frozenset({b"<", b"<=", b">", b">="})
_CLOCKS = (b"SystemCoreClock", b"FVM_CLOCK_HZ")
_DIVIDED = "is divided by"
_FEW = 64  # cycles: nobody measures a time with so few


def old_cycles(unit: Unit, access: Access) -> str | None:
    """Why what a read of the counter is compared with is no longer the time that it was; None if it
    is, or if nothing shows what it is."""
    if unit.domain is None or unit.old_clock == unit.domain.clock_hz:
        return None
    found = _limit(access.whole)
    if found is None:
        return None
    limit, does = found
    is_unit = does == _DIVIDED and _is_number(unit, access, limit)
    if not is_unit and not _is_counted(unit, access, _given(limit)):
        return None
    limit_text = " ".join(text_of(limit).decode("latin-1").split())
    now = unit.domain.clock_hz
    if unit.old_clock is None:
        return (
            f"{does} {limit_text}, cycles of the old chip's clock, which nothing here says: give "
            f"it by --core-clock HZ, or calculate them from FVM_CLOCK_HZ ({now})"
        )
    return (
        f"{does} {limit_text}, cycles at {unit.old_clock} Hz, and virt_cycles() counts {now} a "
        "second: calculate them from FVM_CLOCK_HZ"
    )


def _limit(read: Node) -> tuple[Node, str] | None:
    """What a difference of the counter is compared with or divided by, or what is added to the
    counter, and which of these."""
    node = outermost(read)
    is_difference = False
    while (parent := node.parent) is not None and (sides := operands(parent)) is not None:
        left, sign, right = sides
        other = right if node.id == left.id else left
        if parent.type != "binary_expression":
            return None
        if is_difference and sign in _ORDER:
            return other, "is compared with"
        if is_difference and sign == b"/" and node.id == left.id:
            return other, _DIVIDED
        if not is_difference and sign == b"+":
            return other, "becomes a deadline by"
        if sign != b"-":
            return None
        is_difference = True
        node = outermost(parent)
    return None


def _is_number(unit: Unit, access: Access, divisor: Node) -> bool:
    """Whether a difference becomes a time by cycles that are known."""
    number = unit.text.evaluator.number(divisor, access.context.scope)
    return number is not None and number > 1 and not _asks_clock(unit, divisor)


def _is_counted(unit: Unit, access: Access, limit: Node) -> bool:
    """Whether a limit is made of a number of cycles, and of no clock that the machine knows."""
    evaluator, scope = unit.text.evaluator, access.context.scope
    number = evaluator.number(limit, scope)
    if number is not None:
        return number > _FEW and not _asks_clock(unit, limit)
    factors = (operands(node) for node in walk(limit) if node.type == "binary_expression")
    scaled = any(
        (side := evaluator.number(it, scope)) is not None and side > 1
        for found in factors
        if found is not None and found[1] == b"*"
        for it in (found[0], found[2])
    )
    return scaled and not _asks_clock(unit, limit)


def _asks_clock(unit: Unit, limit: Node) -> bool:
    macros = unit.text.evaluator.macros
    texts = [text_of(limit)]
    for node in walk(limit):
        macro = macros.get(text_of(node)) if node.type == "identifier" else None
        texts.append(b" ".join(macros.expanded(macro.text)) if macro is not None else b"")
    return any(has_word(text, clock) for text in texts for clock in _CLOCKS)


def _given(limit: Node) -> Node:
    """The limit; of a local variable that is given one value that value."""
    function, word = enclosing_function(limit), text_of(limit)
    if limit.type != "identifier" or function is None:
        return limit
    values: list[Node] = []
    for node in walk(function):
        if node.type == "init_declarator":
            target, value = declared_name(node), node.child_by_field_name("value")
        elif node.type == "assignment_expression":
            target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        elif node.type == "update_expression":
            target, value = node.child_by_field_name("argument"), limit
        else:
            continue
        if target is not None and value is not None and text_of(target) == word:
            values.append(value)
    return values[0] if len(values) == 1 else limit
