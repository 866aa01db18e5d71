"""CONTROL.FPCA, by which a processor knows that a task has used the FPU: of a guest's tasks the
kernel keeps that.

C that reads CONTROL, clears this bit and writes it back has no meaning in a guest, nor has the
question whether the bit is set, where all that follows from it is to clear it. Whatever else is
done with CONTROL is a person's.

A handler that goes on in another task by the EXC_RETURN that it was given would have the kernel
take FPU state off that task's stack: each place that sets PSP has to take LR from somewhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.context_switch.asm_statements import text_in
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import (
    ASM,
    calls_in,
    function_name,
    is_local,
    parameter_name,
    parameters_of,
)
from porter.context_switch.mask_reads import readings
from porter.flow.barriers import is_barrier
from porter.source.c_tree import (
    Node,
    ancestors,
    arguments_of,
    enclosing_function,
    one_line,
    strip_parentheses,
    text_of,
    walk,
)
from porter.source.truth import binary

_FPCA, _OTHERS = 4, 0xFFFF_FFFB
_CONTROL = re.compile(r"\bcontrol\b", re.IGNORECASE)
_READ = re.compile(r"\bmrs\w*\s+[^,;\n]+,\s*control\b", re.IGNORECASE)
_WRITE = re.compile(r"\bmsr\w*\s+control\b", re.IGNORECASE)
_AROUND = frozenset({"parenthesized_expression", "binary_expression", "unary_expression"})
_PSP = re.compile(r"\bmsr\w*\s+psp\b", re.IGNORECASE)
_RETURNS = re.compile(r"\bbx\w*\s+(?:lr|r14)\b|\bpop\w*\s*\{[^}]*\bpc\b", re.IGNORECASE)
_SETS_LR = re.compile(
    r"\bldm\w*\s+(?!sp\b|r13\b)\w+\s*!?\s*,\s*\{[^}]*\b(?:lr|r14)\b"
    r"|\bldr\s+(?:lr|r14)\s*,\s*(?:=|\[\s*(?!sp\b|r13\b))"
    r"|\b(?:mov|movs|movw|mvn|mvns)\s+(?:lr|r14)\s*,\s*#",
    re.IGNORECASE,
)
_STATEMENTS = 6  # of a function that only reads or only writes CONTROL


class FpuInUse:
    """Looks through the project's C once."""

    def __init__(self, units: CUnits) -> None:
        self._units = units
        self._known: str | None = None
        self._readers: set[bytes] = set()
        self._writers: set[bytes] = set()

    def asked_otherwise(self, function: str) -> str:
        """Which C does more with CONTROL, which a function reads or writes, than with this bit;
        "" for none."""
        if self._known is None:
            self._known = next(self._otherwise(), "")
        if self._known or function.encode("latin-1") in self._readers | self._writers:
            return self._known
        return f"what {function}() does isn't seen"

    def _otherwise(self) -> Iterator[str]:
        for statement in self._units.asm_naming(_CONTROL):
            around, text = enclosing_function(statement), text_in(statement)
            reads = len(_READ.findall(text)) == 1 and not _WRITE.search(text)
            writes = len(_WRITE.findall(text)) == 1 and not _READ.search(text)
            if (
                around is None
                or reads == writes
                or not _is_short(around)
                or (writes and not _writes_parameter(around, statement))
            ):
                yield f"'{one_line(statement)}'"
                return
            (self._readers if reads else self._writers).add(function_name(around))
        for name in sorted(self._readers | self._writers):
            if why := self._units.called_by_others(name):
                yield why
        yield from self._returns_as_it_came()
        for name in sorted(self._readers):
            yield from self._used_otherwise(name)
        for name in sorted(self._writers):
            yield from self._written_otherwise(name)

    def _returns_as_it_came(self) -> Iterator[str]:
        """What sets PSP and doesn't take LR from elsewhere, between the returns around it."""
        texts = [code.decode("latin-1") for code in self._units.assembler_code()]
        texts += map(text_in, filter(self._may_run, self._units.asm_naming(_PSP)))
        for text in texts:
            ends = [it.end() for it in _RETURNS.finditer(text)]
            for sets in _PSP.finditer(text):
                first = max((it for it in ends if it <= sets.start()), default=0)
                last = min((it for it in ends if it > sets.start()), default=len(text))
                if _SETS_LR.search(text, first, last) is None:
                    yield f"'{' '.join(sets.group().split())}', with the EXC_RETURN of another task"

    def _may_run(self, statement: Node) -> bool:
        """Not in what a header has for those that want it, and nobody does."""
        around = enclosing_function(statement)
        if around is None or not _is_static(around):
            return True
        name = function_name(around)
        return bool(self._units.called_by_others(name)) or any(self._units.calls(name))

    def _used_otherwise(self, name: bytes) -> Iterator[str]:
        starts, kept = readings(name, b"", "CONTROL", self._units)
        yield from (f"'{one_line(it)}'" for it in kept)
        seen: set[int] = set()
        while starts:
            further: list[Node] = []
            for node, parent, more in self._units.steps(starts):
                if more is not None:
                    if not self._stays(node, parent):
                        yield f"'{one_line(parent)}'"
                elif parent.type == "expression_statement":
                    pass  # nobody wants it
                elif binary(parent, b"&") is not None and self._bits(parent, node):
                    further += [parent] if parent.id not in seen else []
                    seen.add(parent.id)
                elif not self._is_harmless(node, parent):
                    yield f"'{one_line(parent)}'"
            starts = further

    def _stays(self, node: Node, parent: Node) -> bool:
        """Whether what has the value then is a local variable, a reader's caller or a writer's
        parameter."""
        around = enclosing_function(node)
        if around is None or (node.type == "identifier" and not is_local(around, text_of(node))):
            return False
        if parent.type == "return_statement":
            return function_name(around) in self._readers
        if parent.type == "argument_list" and parent.parent is not None:
            callee = parent.parent.child_by_field_name("function")
            return callee is not None and text_of(callee) in self._writers
        if parent.type == "assignment_expression":
            left = parent.child_by_field_name("left")
            return (
                left is not None and left.type == "identifier" and is_local(around, text_of(left))
            )
        return parent.type == "init_declarator"

    def _is_harmless(self, node: Node, parent: Node) -> bool:
        if parent.type == "sizeof_expression":
            return True
        if parent.type == "gnu_asm_input_operand":
            return any(it.type in ASM and _WRITE.search(text_in(it)) for it in ancestors(parent))
        if parent.type == "assignment_expression":
            sign = parent.child_by_field_name("operator")
            right = parent.child_by_field_name("right")
            return (sign is not None and text_of(sign) == b"&=" and right is not None
                    and self._number(right) in (_FPCA, _OTHERS))  # fmt: skip
        for around in (parent, *ancestors(parent)):
            if around.type == "if_statement":
                return around.child_by_field_name("condition") != node and self._only_clears(around)
            if around.type not in _AROUND:
                return False
        return False

    def _only_clears(self, asked: Node) -> bool:
        """Whether all that depends on a question is reading CONTROL, clearing and writing it."""
        then = asked.child_by_field_name("consequence")
        if then is None or asked.child_by_field_name("alternative") is not None:
            return False
        statements = then.named_children if then.type == "compound_statement" else [then]
        return all(self._is_of_control(it) for it in statements if it.type != "comment")

    def _is_of_control(self, statement: Node) -> bool:
        if statement.type != "expression_statement" or not statement.named_children:
            return False
        expression = strip_parentheses(statement.named_children[0])
        called = {callee for _, callee in calls_in(statement)}
        if not called <= self._readers | self._writers:
            return False
        if expression.type == "call_expression":
            return bool(called)
        left = expression.child_by_field_name("left")
        around = enclosing_function(statement)
        return (
            expression.type == "assignment_expression"
            and left is not None
            and left.type == "identifier"
            and around is not None
            and is_local(around, text_of(left))
            and self._is_cleared(expression)
        )

    def _is_cleared(self, assignment: Node) -> bool:
        """Whether a local is set to what CONTROL reads as, or has this bit cleared."""
        right = assignment.child_by_field_name("right")
        left = assignment.child_by_field_name("left")
        if right is None or left is None:
            return False
        plain = strip_parentheses(right)
        if plain.type == "call_expression":
            return True
        sides = binary(plain, b"&")
        return sides is not None and any(
            text_of(strip_parentheses(it)) == text_of(left) and self._bits(plain, it)
            for it in sides
        )

    def _written_otherwise(self, name: bytes) -> Iterator[str]:
        for use in self._units.calls(name):
            if use.type != "call_expression" or not self._puts_back(use):
                yield f"'{one_line(use)}'"

    def _puts_back(self, call: Node) -> bool:
        """Whether what is written is what the statements in front of it read, this bit cleared."""
        statement, arguments = call.parent, arguments_of(call)
        if statement is None or statement.type != "expression_statement" or len(arguments) != 1:
            return False
        value, before = arguments[0], statement.prev_named_sibling
        for _ in range(_STATEMENTS):
            value = strip_parentheses(value)
            if value.type == "call_expression":
                callee = value.child_by_field_name("function")
                return callee is not None and text_of(callee) in self._readers
            if (sides := binary(value, b"&")) is not None:
                kept = [it for it in sides if self._number(it) is None]
                if len(kept) != 1 or not self._bits(value, kept[0], _OTHERS):
                    return False
                value = kept[0]
            elif value.type == "identifier" and (found := _set_by(before, value)) is not None:
                value, before = found, before.prev_named_sibling if before is not None else None
            else:
                return False
        return False

    def _bits(self, whole: Node, node: Node, *allowed: int) -> bool:
        """Whether the other side of `&` is a number that means this bit or all others."""
        sides = binary(whole, b"&")
        assert sides is not None
        other = sides[1] if sides[0] == node else sides[0]
        return self._number(other) in (allowed or (_FPCA, _OTHERS))

    def _number(self, node: Node) -> int | None:
        return self._units.word(node, text_of(node).decode("latin-1"))


def _set_by(statement: Node | None, name: Node) -> Node | None:
    """What a statement `name = value;` sets a variable to."""
    if statement is None or statement.type != "expression_statement":
        return None
    assignment = statement.named_children[0] if statement.named_children else None
    if assignment is None or assignment.type != "assignment_expression":
        return None
    left, sign = (assignment.child_by_field_name(it) for it in ("left", "operator"))
    is_plain = left is not None and text_of(left) == text_of(name)
    if not is_plain or sign is None or text_of(sign) != b"=":
        return None
    return assignment.child_by_field_name("right")


def _writes_parameter(function: Node, statement: Node) -> bool:
    """Whether a function writes what it is given, its only parameter."""
    name = parameter_name(function, 0)
    operands = [it for it in walk(statement) if it.type == "gnu_asm_input_operand"]
    value = operands[0].child_by_field_name("value") if len(operands) == 1 else None
    return parameters_of(function) == 1 and value is not None and text_of(value) == name


def _is_static(function: Node) -> bool:
    return re.search(rb"\bstatic\b", text_of(function).partition(b"{")[0]) is not None


def _is_short(function: Node) -> bool:
    """Whether a function has nothing but declarations, asm, barriers and a return."""
    body = function.child_by_field_name("body")
    statements = [it for it in (body.named_children if body is not None else ())
                  if it.type != "comment"]  # fmt: skip
    return 0 < len(statements) <= _STATEMENTS and all(
        it.type in ("declaration", "return_statement")
        or is_barrier(it)
        or (it.type == "expression_statement" and any(node.type in ASM for node in walk(it)))
        for it in statements
    )
