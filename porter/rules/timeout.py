"""What follows a removed wait: the question whether it timed out."""

from __future__ import annotations

from collections.abc import Iterator

from porter.flow.statements import condition_of, is_pure
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule, Sample
from porter.source.arithmetic import word
from porter.source.c_tree import Node, text_of, walk
from porter.source.values import Value

_HEADER = (
    "typedef struct { volatile unsigned CR; } RCC_TypeDef;\n"
    "#define RCC ((RCC_TypeDef *)0x40023800)\n"
)


class Timeout(Rule):
    """With the loop gone its counter is what it was set to before: the answer is known."""

    id = "timeout"
    finds = "`if (counter == 0)` right after a wait that was removed, `counter = N` where it began"
    becomes = "nothing, when the answer is no"
    why = "the kernel waits, bounds the wait and reports a timeout"
    samples = (
        Sample(
            _HEADER + "extern int late;\nvoid f(void)\n{\n    unsigned n;\n\n    RCC->CR |= 1;\n"
            "    n = 500;\n    while (!(RCC->CR & 2) && n) {\n        n--;\n    }\n"
            "    if (n == 0) {\n        late++;\n    }\n    g();\n}\n",
            _HEADER + "extern int late;\nvoid f(void)\n{\n    g();\n}\n",
        ),
        Sample(
            _HEADER + "int f(void)\n{\n    unsigned n;\n"
            "    for (n = 9; !(RCC->CR & 2); n--)\n        ;\n    return n;\n}\n",
            _HEADER + "int f(void)\n{\n    unsigned n;\n    n = 9;\n    return n;\n}\n",
        ),
        Sample(
            _HEADER + "int f(void)\n{\n    unsigned n;\n"
            "    for (n = 0; n < 9 && !(RCC->CR & 2); n++)\n        ;\n"
            "    if (n == 9)\n        return -1;\n    return 0;\n}\n",
            _HEADER + "int f(void)\n{\n    unsigned n;\n    n = 0;\n    return 0;\n}\n",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Deletes code without sites; it decides about no site."""
        for loop in unit.removed_waits:
            question = _next(loop)
            start = loop.child_by_field_name("initializer") or _previous(loop)
            if question is None or start is None or question.type != "if_statement":
                continue
            if question.child_by_field_name("alternative") is not None:
                continue
            if self._is_no(unit, question, start):
                context = unit.contexts.at(unit.variables.tree, loop)
                unit.delete(context, question)
        return iter(())

    @staticmethod
    def _is_no(unit: Unit, question: Node, start: Node) -> bool:
        name, value = _constant(unit, start)
        condition = condition_of(question)
        if name is None or value is None or condition is None:
            return False
        names = {text_of(node) for node in walk(condition) if node.type == "identifier"}
        if name not in names or not is_pure(condition, unit.text.evaluator):
            return False

        def scope(wanted: bytes) -> Value | None:
            return word(value) if wanted == name else None

        return unit.text.evaluator.number(condition, scope) == 0


def _constant(unit: Unit, statement: Node) -> tuple[bytes | None, int | None]:
    """Name and value of `name = constant;` or of a declaration that says so."""
    for node in walk(statement):
        if node.type == "assignment_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        elif node.type == "init_declarator":
            left, right = (
                node.child_by_field_name("declarator"), node.child_by_field_name("value"),
            )  # fmt: skip
        else:
            continue
        if left is not None and right is not None and left.type == "identifier":
            return text_of(left), unit.text.evaluator.number(right)
    return None, None


def _next(node: Node) -> Node | None:
    following = node.next_named_sibling
    while following is not None and following.type == "comment":
        following = following.next_named_sibling
    return following


def _previous(node: Node) -> Node | None:
    before = node.prev_named_sibling
    while before is not None and before.type == "comment":
        before = before.prev_named_sibling
    return before
