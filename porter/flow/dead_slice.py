"""Decides whether everything that a value influences can be taken out of a file.

Code that reads a system register to learn about the hardware often only feeds its own checks:
assertions, writes to registers that are taken out anyway, variables nobody else reads. Such a
slice is found by following the value through variables and conditions. It is dead when every
statement it reaches may go; the first one that may not is the reason why the read must stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from porter.flow.statements import (
    BRANCHES,
    LOOPS,
    bodies,
    condition_of,
    conjuncts,
    enclosing_statement,
    is_assertion,
    is_pure,
    only_passes_time,
)
from porter.flow.variables import Variable, Variables
from porter.source.c_tree import (
    CONDITION,
    Node,
    ancestors,
    enclosing_function,
    one_line,
    strip_parentheses,
    text_of,
    walk,
)
from porter.source.evaluate import Evaluator

_PURE_PARENTS = frozenset(
    {
        "parenthesized_expression",
        CONDITION,
        "cast_expression",
        "binary_expression",
        "unary_expression",
        "conditional_expression",
        "comma_expression",
        "subscript_expression",
        "field_expression",
    }
)


class Alive(Exception):
    """The slice can't be taken out; str() says where the value goes."""


@dataclass
class Slice:
    """Statements and initialisers that go, and the variables that only live in them."""

    statements: dict[int, Node] = field(default_factory=dict)
    initialisers: list[Node] = field(default_factory=list)
    variables: set[Variable] = field(default_factory=set)


class DeadSlice:
    """Follows values through one file. `is_removed` knows writes that are taken out anyway."""

    def __init__(
        self,
        variables: Variables,
        evaluator: Evaluator,
        is_removed: Callable[[Node], bool],
        reads_device: Callable[[Node], bool],
        waits_end: bool,
    ) -> None:
        """`reads_device`: evaluating it has an effect although nothing is assigned.

        `waits_end`: the value becomes what a loop waits for, so the loop needn't run.
        """
        self._variables = variables
        self._evaluator = evaluator
        self._is_removed = is_removed
        self._reads_device = reads_device
        self._waits_end = waits_end
        self._read: Node | None = None

    def of_read(self, read: Node) -> Slice:
        """The slice of an expression that changes nothing. Raises Alive."""
        self._read = read
        found = Slice()
        self._consume(read, found)
        return found

    def of_variable(self, variable: Variable, found: Slice) -> Slice:
        """The slice of everything a variable holds, besides what goes anyway. Raises Alive."""
        self._add(variable, found)
        return found

    # --- one expression --------------------------------------------------------------------

    def _consume(self, node: Node, found: Slice) -> None:
        if self._is_inside(node, found):
            return
        cause = node
        parent = node.parent
        while parent is not None and (
            parent.type in _PURE_PARENTS
            or (parent.type == "pointer_expression" and text_of(parent).startswith(b"*"))
        ):
            node, parent = parent, parent.parent
        if parent is None:
            raise Alive("it is used outside any statement")
        if parent.type == "argument_list" and parent.parent is not None:
            self._argument(parent.parent, found)
        elif parent.type == "assignment_expression":
            self._assignment(parent, node, found)
        elif parent.type == "update_expression":
            self._consume(parent, found)
        elif parent.type == "init_declarator":
            self._initialiser(parent, found)
        elif parent.type == "expression_statement":
            found.statements[parent.id] = parent
        elif parent.type in BRANCHES | LOOPS:
            self._controls(parent, found, cause)
        elif parent.type == "return_statement":
            raise Alive("it is returned")
        elif parent.type == "pointer_expression":
            raise Alive("its address is taken")
        else:
            raise Alive(f"it is used in {one_line(parent)}")

    def _argument(self, call: Node, found: Slice) -> None:
        statement = enclosing_statement(call)
        if statement is not None and is_assertion(statement):
            found.statements[statement.id] = statement
        elif is_pure(call, self._evaluator):
            self._consume(call, found)
        else:
            function = call.child_by_field_name("function")
            name = one_line(function) if function is not None else "a function"
            raise Alive(f"it is passed to {name}")

    def _assignment(self, assignment: Node, node: Node, found: Slice) -> None:
        statement = assignment.parent
        if self._is_removed(assignment):
            return
        if statement is None or statement.type != "expression_statement":
            raise Alive(f"it is part of {one_line(assignment)}")
        left = assignment.child_by_field_name("left")
        if left is None or (left == node and strip_parentheses(left).type != "identifier"):
            raise Alive(f"it decides where {one_line(assignment)} writes")
        self._written(strip_parentheses(left), assignment, statement, found)

    def _written(self, target: Node, write: Node, statement: Node, found: Slice) -> None:
        variable = self._variables.resolve_web(target) if target.type == "identifier" else None
        if variable is None:
            raise Alive(f"it is stored in {one_line(target)}")
        right = write.child_by_field_name("right")
        if right is not None and not self._may_go(right):
            raise Alive(f"{one_line(write)} has an effect")
        found.statements[statement.id] = statement
        self._add(variable, found)

    def _initialiser(self, declarator: Node, found: Slice) -> None:
        inner = declarator.child_by_field_name("declarator")
        value = declarator.child_by_field_name("value")
        while inner is not None and inner.type != "identifier":
            inner = inner.child_by_field_name("declarator")
        variable = self._variables.resolve_web(inner) if inner is not None else None
        if variable is None:
            raise Alive(f"it initialises {one_line(declarator)}")
        if value is not None and not self._may_go(value):
            raise Alive(f"{one_line(declarator)} has an effect")
        found.initialisers.append(declarator)
        self._add(variable, found)

    # --- variables -------------------------------------------------------------------------

    def _add(self, variable: Variable, found: Slice) -> None:
        if variable in found.variables:
            return
        found.variables.add(variable)
        for use in self._variables.uses(variable):
            self._consume(use, found)

    # --- conditions ------------------------------------------------------------------------

    def _controls(self, statement: Node, found: Slice, cause: Node | None = None) -> None:
        """A branch or loop whose condition depends on the value."""
        found.statements[statement.id] = statement
        if cause is not None and self._waits_end and self._only_waits(statement, cause):
            return
        condition = condition_of(statement)
        if condition is not None and not self._may_go(condition):
            raise Alive(f"the condition {one_line(condition)} has an effect")
        if condition is not None and statement.type in LOOPS:
            self._waits_for_nothing_else(condition, found)
        for body in bodies(statement):
            self._body(body, found)

    def _waits_for_nothing_else(self, condition: Node, found: Slice) -> None:
        """A loop goes only if it would end: nothing in its condition changes by itself."""
        for node in walk(condition):
            if node.type != "identifier" or text_of(node).isupper():
                continue
            variable = self._variables.resolve_web(node)
            local = variable is not None and variable.function is not None
            if local or variable in found.variables or self._evaluator.name(text_of(node)):
                continue
            if node.parent is None or node.parent.type != "call_expression":
                raise Alive(f"the loop also waits for {one_line(node)}")

    def _only_waits(self, loop: Node, cause: Node) -> bool:
        """A loop that ends when the hardware is ready and does nothing else but give up."""
        condition = condition_of(loop)
        body = loop.child_by_field_name("body")
        if loop.type not in LOOPS or condition is None or body is None:
            return False
        decides = any(
            b"||" not in text_of(part)
            for part in conjuncts(condition)
            if part.start_byte <= cause.start_byte and cause.end_byte <= part.end_byte
        )
        return decides and only_passes_time(body, self._evaluator)

    def _body(self, statement: Node, found: Slice) -> None:
        """Everything under a condition that goes must go too."""
        kind = statement.type
        if kind in ("compound_statement", "case_statement", "else_clause"):
            label = statement.child_by_field_name("value")
            for child in statement.named_children:
                if child != label:
                    self._body(child, found)
        elif kind in BRANCHES | LOOPS:
            self._controls(statement, found)
        elif kind == "expression_statement":
            self._effect(statement, found)
        elif kind == "break_statement":
            if not any(a.type in LOOPS | {"switch_statement"} and a.id in found.statements
                       for a in ancestors(statement)):  # fmt: skip
                raise Alive("it ends a loop")
        elif kind not in ("comment", "continue_statement") and not self._is_local(statement):
            raise Alive(f"it decides about {one_line(statement)}")

    def _is_local(self, statement: Node) -> bool:
        """A declaration that only computes."""
        return statement.type == "declaration" and self._may_go(statement)

    def _effect(self, statement: Node, found: Slice) -> None:
        if not statement.named_children or is_assertion(statement):
            return
        node = strip_parentheses(statement.named_children[0])
        if self._is_removed(node):
            return
        if node.type == "assignment_expression":
            left = node.child_by_field_name("left")
        elif node.type == "update_expression":
            left = node.child_by_field_name("argument")
        elif self._may_go(node):
            return
        else:
            left = None
        if left is None:
            raise Alive(f"it decides about {one_line(statement)}")
        self._written(strip_parentheses(left), node, statement, found)

    def _may_go(self, expression: Node) -> bool:
        """Whether nobody notices that an expression isn't evaluated."""
        return is_pure(expression, self._evaluator, self._read) and not self._reads_device(
            expression
        )

    def _is_inside(self, node: Node, found: Slice) -> bool:
        if enclosing_function(node) is None:
            return False
        return any(parent.id in found.statements for parent in ancestors(node))
