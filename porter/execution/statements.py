"""Runs statements. Where a condition isn't known, both ways are tried, then joined."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from porter.execution.program import variables_of
from porter.execution.state import Signal, State
from porter.execution.words import truth
from porter.source.c_tree import Node, strip_parentheses, text_of

if TYPE_CHECKING:
    from porter.execution.expressions import Expressions
    from porter.execution.frame import Frame
    from porter.execution.machine import Machine

_TURNS = 300  # of a loop whose condition stays true
_TRUE = frozenset({b"1", b"true", b"1U", b"1u", b"1UL"})


class Statements:
    """The statements of one machine."""

    def __init__(self, machine: Machine, expressions: Expressions, state: State) -> None:
        self.machine = machine
        self._expressions = expressions
        self._state = state
        self.stopped = False  # a function that was called never returns
        self._handlers: dict[str, Callable[[Node, Frame], Signal]] = {
            "compound_statement": self.block,
            "declaration": self._declaration,
            "expression_statement": self._expression,
            "if_statement": self._if,
            "else_clause": self._last,
            "labeled_statement": self._last,
            "while_statement": self._while,
            "for_statement": self._for,
            "do_statement": self._do,
            "switch_statement": self._switch,
            "return_statement": self._return,
            "break_statement": self._break,
            "continue_statement": lambda _node, _frame: "continue",
            "goto_statement": lambda _node, _frame: "return",
        }

    def one(self, node: Node, frame: Frame) -> Signal:
        """Run one statement."""
        self.machine.step()
        handler = self._handlers.get(node.type)
        return handler(node, frame) if handler is not None else None

    def block(self, node: Node, frame: Frame) -> Signal:
        """Run statements in order."""
        return self._all(node.named_children, frame)

    def _all(self, nodes: list[Node], frame: Frame) -> Signal:
        for child in nodes:
            signal = self.one(child, frame)
            if signal is not None:
                return signal
        return None

    def _value(self, node: Node, frame: Frame) -> bool | None:
        return truth(self._expressions.value(node, frame))

    def _ended(self) -> Signal:
        """`stop` after an expression that called a function that never returns."""
        ended, self.stopped = self.stopped, False
        return "stop" if ended else None

    def _expression(self, node: Node, frame: Frame) -> Signal:
        for child in node.named_children:
            self._expressions.value(child, frame)
        return self._ended()

    def _declaration(self, node: Node, frame: Frame) -> Signal:
        for name, text in variables_of(self.machine.unit(frame), node):
            self.machine.variables.declare(name, text, frame)
        return self._ended()

    def _last(self, node: Node, frame: Frame) -> Signal:
        return self.one(node.named_children[-1], frame) if node.named_children else None

    def _if(self, node: Node, frame: Frame) -> Signal:
        condition = node.child_by_field_name("condition")
        arms = [node.child_by_field_name(name) for name in ("consequence", "alternative")]
        known = self._value(condition, frame) if condition is not None else None
        if (ended := self._ended()) is not None:
            return ended

        def arm(number: int) -> Signal:
            chosen = arms[number]
            return self.one(chosen, frame) if chosen is not None else None

        if known is not None:
            return arm(0 if known else 1)
        return self._state.alternatives([lambda: arm(0), lambda: arm(1)])

    def _while(self, node: Node, frame: Frame) -> Signal:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        return self._loop(frame, condition, None, body)

    def _do(self, node: Node, frame: Frame) -> Signal:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        return self._loop(frame, condition, None, body, body_first=True)

    def _for(self, node: Node, frame: Frame) -> Signal:
        first = node.child_by_field_name("initializer")
        if first is not None and first.type == "declaration":
            self._declaration(first, frame)
        elif first is not None:
            self._expressions.value(first, frame)
        return self._loop(
            frame,
            node.child_by_field_name("condition"),
            node.child_by_field_name("update"),
            node.child_by_field_name("body"),
        )

    def _loop(
        self,
        frame: Frame,
        condition: Node | None,
        update: Node | None,
        body: Node | None,
        body_first: bool = False,
    ) -> Signal:
        frame.exits.append(False)
        try:
            return self._turns(frame, condition, update, body, body_first)
        finally:
            frame.exits.pop()

    def _turns(
        self,
        frame: Frame,
        condition: Node | None,
        update: Node | None,
        body: Node | None,
        body_first: bool,
    ) -> Signal:
        endless = condition is None or text_of(strip_parentheses(condition)) in _TRUE

        def turn() -> Signal:
            signal = self.one(body, frame) if body is not None else None
            if signal in (None, "continue") and update is not None:
                self._expressions.value(update, frame)
            return None if signal == "continue" else signal

        if endless:
            results = len(frame.results)
            signal = turn()
            if signal in ("return", "stop"):
                return signal
            if signal == "break" or frame.exits[-1] or len(frame.results) > results:
                return None
            if self._state.trying:
                return "stop"
            self.machine.start_running()
            signal = turn()
            return None if signal == "break" else signal or "stop"
        for number in range(_TURNS):
            if number or not body_first:
                known = self._value(condition, frame) if condition is not None else None
                if (ended := self._ended()) is not None:
                    return ended
                if known is False:
                    return None
                if known is None:
                    signal = self._state.alternatives([turn, lambda: None])
                    return None if signal == "break" else signal
            signal = turn()
            if signal == "break":
                return None
            if signal is not None:
                return signal
        return None

    def _switch(self, node: Node, frame: Frame) -> Signal:
        condition, body = node.child_by_field_name("condition"), node.child_by_field_name("body")
        if condition is None or body is None:
            return None
        value = self._expressions.value(condition, frame)
        cases = [child for child in body.named_children if child.type == "case_statement"]
        wanted: list[int] = []
        default = None
        for index, case in enumerate(cases):
            label = case.child_by_field_name("value")
            if label is None:
                default = index
                continue
            operation = self._expressions.operation
            same = truth(operation(b"==", value, self._expressions.value(label, frame)))
            if same is True:
                wanted = [index]
                break
            if same is None:
                wanted.append(index)
        else:
            wanted += [default if default is not None else len(cases)]

        def run_from(start: int) -> Signal:
            for case in cases[start:]:
                label = case.child_by_field_name("value")
                signal = self._all([n for n in case.named_children if n != label], frame)
                if signal is not None:
                    return None if signal == "break" else signal
            return None

        frame.exits.append(False)
        try:
            if len(wanted) == 1:
                return run_from(wanted[0])
            return self._state.alternatives([lambda s=s: run_from(s) for s in wanted])  # type: ignore[misc]
        finally:
            frame.exits.pop()

    def _return(self, node: Node, frame: Frame) -> Signal:
        for child in node.named_children[:1]:
            frame.results.append(self._expressions.value(child, frame))
        return self._ended() or "return"

    @staticmethod
    def _break(_node: Node, frame: Frame) -> Signal:
        if frame.exits:
            frame.exits[-1] = True
        return "break"
