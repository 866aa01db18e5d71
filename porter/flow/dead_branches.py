"""Branches that never run, because the settings that they serve are never asked for.

A driver decides by fields of a struct: `if (init->Oscillators & LSE) ...`. Where the project only
ever stores constants in such a field, each of them is tried; a branch that none of them leads to
is dead in this project, though the compiler, which sees one file at a time, keeps it. A condition
of constants, `if (IS_USED(MODULE_X))`, is what the compiler takes it for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product

from porter.flow.field_values import FieldValues
from porter.flow.statements import condition_of, conjuncts
from porter.program.c_text import CText
from porter.sites.context import Contexts, function_name, is_called_by_name
from porter.sites.local_names import BlockScopes
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import Node, ancestors, one_line, parse_expression, text_of, walk
from porter.source.c_types import INT
from porter.source.evaluate import Evaluator, Scope
from porter.source.values import Number, Place, Value

_MAX_CASES = 64
_CHANGES = frozenset({"call_expression", "update_expression", "assignment_expression"})
WhyNot = Callable[[str], str | None]


class DeadBranches:
    """Answers for one project; `why_not` says why a function is not part of the machine,
    `others` gives a header as those read it for whom something in it means something else."""

    def __init__(
        self,
        fields: FieldValues,
        why_not: WhyNot,
        others: Callable[[CText], Sequence[CText]],
    ) -> None:
        self._fields = fields
        self._why_not = why_not
        self._others = others
        self._scopes: dict[tuple[int, int], BlockScopes] = {}

    def why_never(self, text: CText, start: int, end: int) -> str | None:
        """Why [start, end) of a file never runs; None if it may."""
        found = text.trees.function_at(start, end)
        if found is None:
            return None
        _, function = found
        if is_called_by_name(function, text.evaluator):
            reason = self._why_not(function_name(function))
            if reason is not None:
                return reason
        return self.never_taken(text, start, end)

    def never_taken(self, text: CText, start: int, end: int) -> str | None:
        """Why no branch leads to [start, end), whatever becomes of the function around it."""
        found = text.trees.function_at(start, end)
        if found is None:
            return None
        tree, function = found
        node = tree.smallest(start, end)
        for parent in ancestors(node) if node is not None else ():
            if parent.id == function.id:
                break
            reason = self._skips(parent, tree.start, start, text, function)
            if reason is not None:
                return reason
        return None

    def _skips(
        self,
        branch: Node,
        place: Callable[[Node], int],
        start: int,
        text: CText,
        function: Node,
    ) -> str | None:
        """Why an `if` never leads to the arm that holds the file's byte `start`."""
        condition = condition_of(branch) if branch.type == "if_statement" else None
        if condition is None:
            return None
        taken = branch.child_by_field_name("consequence")
        other = branch.child_by_field_name("alternative")
        scope = self._scope(text, function, branch)
        if any(_is_way_in(it, branch) for it in walk(branch)):
            return None  # `if (0) { failed: ... }`
        if other is not None and place(other) <= start:
            if self._is_always(condition, True, text, scope):
                return f"never runs: {one_line(condition)} holds for all that is asked for"
        elif taken is not None and place(taken) <= start:
            for part in conjuncts(condition):
                if self._is_always(part, False, text, scope):
                    return f"never runs: {one_line(part)} is false for all that is asked for"
        return None

    def _scope(self, text: CText, function: Node, branch: Node) -> Scope:
        key = id(text), function.start_byte
        if key not in self._scopes:
            outer = Contexts(text).file_scope
            self._scopes[key] = BlockScopes(function, text, outer)
        return self._scopes[key].at(branch)

    def _is_always(self, condition: Node, truth: bool, text: CText, scope: Scope) -> bool:
        """Whether a condition has this truth value for everything that its fields may hold."""
        evaluator = text.evaluator
        words = b" ".join(evaluator.macros.expand(lex_fragment(text_of(condition))))
        tree = parse_expression(words)
        if tree is None:
            return False
        choices: dict[bytes, list[bytes]] = {}
        for node in walk(tree):
            is_plain = _CHANGES.isdisjoint(it.type for it in walk(node))
            if node.type == "field_expression" and is_plain:
                values = self._fields.of(node, evaluator, scope)
                if values is not None:
                    choices[text_of(node)] = _written(values | {0}, evaluator.value(node, scope))
        cases = 1
        for choice in choices.values():
            cases *= len(choice)
        if cases > _MAX_CASES:
            return False
        alike = (_is(condition, truth, it.evaluator) for it in self._others(text))
        if not choices and not all(alike):
            return False
        names = sorted(choices, key=len, reverse=True)
        for case in product(*(choices[name] for name in names)):
            tried = words
            for name, value in zip(names, case, strict=True):
                tried = tried.replace(name, value)
            expression = parse_expression(tried)
            number = evaluator.number(expression, scope) if expression is not None else None
            if number is None or bool(number) is not truth:
                return False
        return True


def _written(values: Iterable[int], place: Value | None) -> list[bytes]:
    """Numbers as C has them in an expression: small types become int (C11 6.3.1.1)."""
    kind = place.type if isinstance(place, Place) else INT
    form = b"%dU" if kind.is_unsigned and kind.size >= INT.size else b"(%d)"
    return [form % value for value in sorted(values)]


def _is_way_in(node: Node, branch: Node) -> bool:
    """Whether somebody may come to a place in a branch without asking its condition."""
    if node.type != "case_statement":
        return node.type == "labeled_statement"
    around = next((it for it in ancestors(node) if it.type == "switch_statement"), None)
    return around is None or around.start_byte < branch.start_byte


def _is(condition: Node, truth: bool, evaluator: Evaluator) -> bool:
    """Whether a condition has a truth value by constants alone."""
    number = evaluator.text(text_of(condition))
    return isinstance(number, Number) and bool(number.value) is truth
