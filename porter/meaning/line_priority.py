"""Which line a write to IPR gives which priority, and whether it starts from 0."""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.meaning.called_with import constant_argument
from porter.meaning.computed_line import ComputedAccess, LinePriority
from porter.meaning.expressions import bare, source
from porter.sites.access import Access
from porter.source.c_tree import Node, index_of, text_of
from porter.source.declared import parameter_names
from porter.source.truth import binary
from porter.source.values import Place


def priority_of(unit: Unit, access: Access) -> LinePriority | None:
    """The line and the priority of one write; None for several lines, or if it can't be told."""
    if access.value is None:
        return None
    line = _line_of_byte(unit, access)
    if line is not None:
        return LinePriority(line, _priority(unit, access, access.value))
    computed = ComputedAccess(access, access.value, unit.variables, unit.text.evaluator)
    return computed.priority(unit.priority_shift)


def starts_from_zero(unit: Unit, access: Access, found: LinePriority) -> bool:
    """Whether a line's priority is 0 where bits are added to it, or has them already: it was
    cleared in the same block, or nobody gives it two after reset."""
    return _is_cleared(unit, access, found.line) or _is_given_one(unit, access, found)


def _is_cleared(unit: Unit, access: Access, line: bytes) -> bool:
    node = access.statement.prev_named_sibling if access.statement is not None else None
    context = access.context
    while node is not None and node.type in ("expression_statement", "comment"):
        span = context.start(node), context.end(node)
        for site in unit.found.sites:
            if not span[0] <= site.start < span[1]:
                continue
            before = unit.access(site)
            if before is None or before.use != "write" or str(before.register) != "NVIC->IP":
                continue
            found = priority_of(unit, before)
            if found is not None and found.line == line:
                return not found.adds and found.priority == b"0"
        node = node.prev_named_sibling
    return False


def _is_given_one(unit: Unit, access: Access, found: LinePriority) -> bool:
    """Whether all calls of a function say which line they mean, each another, and which priority:
    however often one runs, it gives the same."""
    if access.context.kind != "function":
        return False
    names = parameter_names(access.context.root)
    calls = unit.calls_of(access.context.name)
    if found.line not in names or not calls:
        return False
    wanted = [names.index(it) for it in (found.line, found.priority) if it in names]
    if len(wanted) < 2 and not found.priority.isdigit():
        return False
    given = [[constant_argument(call, place) for place in wanted] for call in calls]
    lines = {values[0] for values in given}
    return all(None not in values for values in given) and len(lines) == len(calls)


def _line_of_byte(unit: Unit, access: Access) -> bytes | None:
    register = access.register
    place = unit.text.evaluator.value(access.place, access.context.scope)
    is_byte = isinstance(place, Place) and place.type.size == 1
    if register is None or access.operator != b"=" or not is_byte:
        return None  # a word holds the priorities of four
    if register.offset is not None:
        return b"%d" % register.offset if register.offset >= 0 else None
    node = bare(access.place)
    is_element = node.type == "subscript_expression" and b"[" in text_of(node)
    index = index_of(node) if is_element else None
    return source(bare(index)) if index is not None else None


def _priority(unit: Unit, access: Access, value: Node) -> bytes:
    """The priority as NVIC_SetPriority takes it: without the bits that don't exist."""
    evaluator, scope = unit.text.evaluator, access.context.scope
    unused = unit.priority_shift
    number = evaluator.number(value, scope)
    if number is not None:
        return b"%d" % ((number & 0xFF) >> unused)
    node = bare(value)
    if (kept := binary(node, b"&")) and evaluator.number(kept[1], scope) == 0xFF:
        node = bare(kept[0])
    shifted = binary(node, b"<<")
    if shifted is not None and evaluator.number(shifted[1], scope) == unused:
        return source(bare(shifted[0]))
    return b"(%s) >> %d" % (source(value), unused)
