"""What a write to CPACR does to the FPU: only what opens it means nothing in a machine."""

from __future__ import annotations

from collections.abc import Iterator

from porter.asm.translate import FPU_ACCESS
from porter.judging.unit import Unit
from porter.meaning.bits import ones
from porter.meaning.expressions import bare, expanded
from porter.sites.access import Access
from porter.source.c_tree import Node, text_of, walk
from porter.source.truth import binary


def only_opens(unit: Unit, access: Access) -> bool:
    """Whether a write to CPACR certainly takes the FPU from nobody, and opens nothing else."""
    if access.operator == b"|=":
        return not opens_others(unit, access)
    is_word = access.register is not None and access.register.offset == 0
    if not is_word or access.value is None or access.operator not in (b"=", b"&="):
        return False
    if _are_ones(unit, access, access.value):
        return True
    return access.operator == b"=" and (
        _keeps(unit, access, access.value) or _opened_before(unit, access, access.value)
    )


def opens_others(unit: Unit, access: Access) -> bool:
    """Whether |= sets bits of other coprocessors."""
    is_word = access.register is not None and access.register.offset == 0
    if access.value is None or not is_word or access.operator != b"|=":
        return False
    return ones(access.value, unit.text.evaluator, access.context.scope) & ~FPU_ACCESS != 0


def _are_ones(unit: Unit, access: Access, value: Node) -> bool:
    known = ones(value, unit.text.evaluator, access.context.scope)
    return known & FPU_ACCESS == FPU_ACCESS


def _keeps(unit: Unit, access: Access, value: Node) -> bool:
    """CPACR as it is, with more bits or with those gone that have nothing to do with the FPU."""
    value = expanded(value, unit.text.evaluator)
    if (sides := binary(value, b"|")) is not None:
        return any(_keeps(unit, access, side) for side in sides)
    if (sides := binary(value, b"&")) is not None:
        kept = [side for side in sides if _keeps(unit, access, side)]
        return bool(kept) and all(it in kept or _are_ones(unit, access, it) for it in sides)
    read = unit.text.evaluator.value(value, access.context.scope)
    return read is not None and unit.registers.identify(read) == access.register


def _opened_before(unit: Unit, access: Access, value: Node) -> bool:
    """Whether the value is a local variable that a statement of the same block, with no other in
    between, has given the bits that open the FPU."""
    name = bare(value)
    statement = access.statement
    if name.type != "identifier" or statement is None:
        return False
    if access.context.tree is not unit.variables.tree:
        return False
    variable = unit.variables.resolve(name)
    if variable is None or variable.function is None:
        return False
    for before in _before(statement):
        if text_of(name) not in {text_of(it) for it in walk(before) if it.type == "identifier"}:
            continue
        operator, given = _given(before, text_of(name))
        return operator in (b"=", b"|=") and given is not None and _are_ones(unit, access, given)
    return False


def _before(statement: Node) -> Iterator[Node]:
    """Statements that always run before this one, the last first."""
    node = statement.prev_named_sibling
    while node is not None and node.type in ("expression_statement", "declaration", "comment"):
        yield node
        node = node.prev_named_sibling


def _given(statement: Node, name: bytes) -> tuple[bytes, Node | None]:
    """The operator and the value if a statement does nothing but set a variable."""
    (child, *others) = statement.named_children or (None,)
    if statement.type == "declaration":
        inits = [it for it in statement.named_children if it.type == "init_declarator"]
        declared = inits[0].child_by_field_name("declarator") if len(inits) == 1 else None
        if declared is not None and text_of(declared) == name:
            return b"=", inits[0].child_by_field_name("value")
    elif child is not None and not others and child.type == "assignment_expression":
        left, sign = child.child_by_field_name("left"), child.child_by_field_name("operator")
        if left is not None and sign is not None and text_of(left) == name:
            return text_of(sign), child.child_by_field_name("right")
    return b"", None
