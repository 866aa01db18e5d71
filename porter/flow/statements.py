"""Questions about statements: what they contain, and whether they do anything but compute."""

from __future__ import annotations

from collections.abc import Iterator

from porter.source.c_tree import (
    Node,
    ancestors,
    parse_expression,
    parts_of,
    strip_parentheses,
    text_of,
    walk,
)
from porter.source.evaluate import Evaluator

LOOPS = frozenset({"while_statement", "do_statement", "for_statement"})
BRANCHES = frozenset({"if_statement", "switch_statement"})
_PURE_FUNCTIONS = frozenset(
    {b"__CLZ", b"__RBIT", b"__REV", b"__REV16", b"__REVSH", b"__ROR", b"__builtin_clz",
     b"__builtin_ctz", b"__builtin_popcount", b"__builtin_bswap32", b"POSITION_VAL",
     b"NVIC_EncodePriority", b"NVIC_GetPriorityGrouping", b"__NVIC_GetPriorityGrouping"}
)  # fmt: skip
_EFFECTS = frozenset(
    {"assignment_expression", "update_expression", "gnu_asm_expression", "new_expression",
     "delete_expression", "init_statement", "throw_statement", "co_await_expression"}
)  # fmt: skip
_JUMPS = frozenset({"return_statement", "goto_statement", "break_statement"})


def is_pure(node: Node, evaluator: Evaluator, besides: Node | None = None) -> bool:
    """Whether evaluating an expression changes nothing (reading a register aside). `besides`: a
    call in it that is known to change nothing."""
    return _is_pure(node, evaluator, is_expanded=False, besides=besides)


def _is_pure(
    node: Node, evaluator: Evaluator, is_expanded: bool, besides: Node | None = None
) -> bool:
    """`is_expanded`: what looks like a macro's call there is a function's."""
    for item in walk(node):
        if item == besides:
            continue
        if item.type in _EFFECTS:
            return False
        if item.type == "call_expression" and not _is_pure_call(item, evaluator, is_expanded):
            return False
    return True


def _is_pure_call(call: Node, evaluator: Evaluator, is_expanded: bool) -> bool:
    if evaluator.cast_argument(call) is not None:
        return True
    function = call.child_by_field_name("function")
    if function is not None and text_of(function) in _PURE_FUNCTIONS:
        return True
    if function is not None and text_of(function) in evaluator.types.constant_functions:
        return True
    text = evaluator.call_text(call) if not is_expanded else None
    if text is None or b"{" in text:
        return False
    expansion = parse_expression(text)
    return expansion is not None and _is_pure(expansion, evaluator, is_expanded=True)


def is_assertion(statement: Node) -> bool:
    """A statement that is only a check: configASSERT(...), assert(...), assert_param(...)."""
    call = sole_call(statement)
    function = call.child_by_field_name("function") if call is not None else None
    return function is not None and b"assert" in text_of(function).lower()


def sole_call(statement: Node) -> Node | None:
    """The call that an expression statement is all of."""
    if statement.type != "expression_statement" or not statement.named_children:
        return None
    node = strip_parentheses(statement.named_children[0])
    return node if node.type == "call_expression" else None


def is_empty(statement: Node) -> bool:
    """`;` or a block of nothing but such."""
    if statement.type == "expression_statement":
        return not statement.named_children
    if statement.type == "compound_statement":
        return all(is_empty(child) for child in statement.named_children)
    return False


def enclosing_statement(node: Node) -> Node | None:
    """The innermost statement or declaration around an expression."""
    for parent in ancestors(node):
        if parent.type.endswith("_statement") or parent.type == "declaration":
            return parent
    return None


def condition_of(statement: Node) -> Node | None:
    """The controlling expression of a branch or loop."""
    return statement.child_by_field_name("condition")


def bodies(statement: Node) -> Iterator[Node]:
    """The statements that a branch or loop controls."""
    for field in ("consequence", "body"):
        child = statement.child_by_field_name(field)
        if child is not None:
            yield child
    alternative = statement.child_by_field_name("alternative")
    if alternative is not None:
        inner = alternative.named_children
        yield inner[0] if alternative.type == "else_clause" and inner else alternative


def conjuncts(node: Node) -> Iterator[Node]:
    """The parts of a condition that must all hold."""
    node = strip_parentheses(node)
    sign = node.child_by_field_name("operator")
    if node.type == "binary_expression" and sign is not None and text_of(sign) == b"&&":
        for field in ("left", "right"):
            side = node.child_by_field_name(field)
            if side is not None:
                yield from conjuncts(side)
    else:
        yield node


def only_passes_time(body: Node, evaluator: Evaluator) -> bool:
    """Whether the body of a waiting loop only counts, feeds nobody and gives up.

    What stands under an `if` that ends in a jump happens on a timeout only.
    """
    if body.type == "compound_statement":
        return all(only_passes_time(child, evaluator) for child in body.named_children)
    if body.type in ("continue_statement", "comment"):
        return True
    if body.type in _JUMPS:
        return True
    if body.type == "if_statement":
        return all(_gives_up(part) or only_passes_time(part, evaluator) for part in bodies(body))
    if body.type == "expression_statement":
        return all(_counts(part, evaluator) for part in parts_of(body))
    return False


def _gives_up(statement: Node) -> bool:
    last: Node | None = statement
    if statement.type == "compound_statement":
        inner = parts_of(statement)
        last = inner[-1] if inner else None
    return last is not None and last.type in _JUMPS


def _counts(expression: Node, evaluator: Evaluator) -> bool:
    node = strip_parentheses(expression)
    if node.type == "update_expression":
        return True
    if node.type == "assignment_expression":
        right = node.child_by_field_name("right")
        return right is not None and is_pure(right, evaluator)
    call = text_of(node)
    return call in (b"__NOP()", b"__nop()", b"__DSB()", b"__ISB()", b"__DMB()") or is_pure(
        node, evaluator
    )
