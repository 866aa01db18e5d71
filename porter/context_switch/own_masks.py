"""What C, and assembler that it calls, does with the interrupt mask that it finds.

The guest library holds VCT off while a fast yield chooses a task: who opens PRIMASK there, and not
because it found it open, lets VCT switch between two stacks. BASEPRI may be opened: PRIMASK holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from porter.context_switch.asm_statements import template_of
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import ASM, function_name, is_local, parameter_name
from porter.context_switch.callees import Callees
from porter.registers.intrinsics import INTRINSIC_BYTES, MASK_CLEAR, MASK_READ, MASK_WRITE
from porter.source.c_tree import (
    Node,
    ancestors,
    arguments_of,
    enclosing_function,
    outermost,
    text_of,
    walk,
)

_OPENS = re.compile(rb"\bcpsie\w*\s+\w*i", re.IGNORECASE)
_READS = re.compile(rb"\bmrs\w*\s+[^,;\n]+,\s*primask\b", re.IGNORECASE)
_WRITES = re.compile(rb"\bmsr\w*\s+primask\s*,\s*(%?\w+)", re.IGNORECASE)
_ZERO = (
    rb"\b(?:movs?|movw|ldr)(?:\.[nw])?\s+%s\s*,\s*[#=]0(?:x0+)?\b|\beors?\s+%s\s*,\s*%s\s*,\s*%s\b"
)
_SAME = frozenset({"parenthesized_expression", "cast_expression", "unary_expression",
                   "binary_expression"})  # fmt: skip


def opens_interrupts(functions: Iterable[str], units: CUnits, callees: Callees) -> str:
    """The function, of these or of what they come to, that opens PRIMASK whatever it found; "" for
    none."""
    look = _Look(units)
    for it in callees.of(functions, unless=look.is_nothing):
        if _opens_in_assembler(it.body.assembler) or any(map(look.opens, it.body.definitions)):
            return it.name
    return ""


@dataclass
class _Look:
    units: CUnits

    def is_nothing(self, call: Node) -> bool:
        """Whether a call is CMSIS's, or one that happens only where the mask was found open."""
        callee = call.child_by_field_name("function")
        return (callee is not None and text_of(callee) in INTRINSIC_BYTES) or self._is_asked_for(
            call
        )

    def opens(self, definition: Node) -> bool:
        """Whether a function in C does by itself."""
        nodes = walk(definition)
        return any(self._is_opening(it) and not self._is_asked_for(it) for it in nodes)

    def _is_opening(self, node: Node) -> bool:
        if node.type in ASM:
            text = template_of(node)
            if _OPENS.search(text):
                return True
            values = [it for it in walk(node) if it.type == "gnu_asm_input_operand"]
            return _WRITES.search(text) is not None and not (
                values and all(self._is_found(it.named_children[-1]) for it in values)
            )
        callee = node.child_by_field_name("function")
        if node.type != "call_expression" or callee is None:
            return False
        name = text_of(callee).decode("latin-1")
        values = arguments_of(node)
        wrong = name in MASK_WRITE and not (values and self._is_found(values[0]))
        return name in MASK_CLEAR or wrong

    def _is_asked_for(self, node: Node) -> bool:
        """Whether a condition around it asks what mask was found."""
        for around in ancestors(node):
            if around.type == "function_definition":
                return False
            condition = around.child_by_field_name("condition")
            asks = around.type == "if_statement" and condition is not None
            if asks and condition is not None and self._is_found(condition):
                return True
        return False

    def _is_found(self, value: Node, seen: frozenset[int] = frozenset()) -> bool:
        """Whether a value is the mask as somebody found it, or a part of it, or whether it is 0."""
        if value.type in _SAME:
            inner = [it for it in value.named_children if it.type != "type_descriptor"
                     and it.type != "number_literal"]  # fmt: skip
            return bool(inner) and all(self._is_found(it, seen) for it in inner)
        if value.type == "call_expression":
            return self._returns_mask(text_of(value.child_by_field_name("function") or value), seen)
        if value.type not in ("identifier", "field_expression") or value.id in seen:
            return False
        seen |= {value.id}
        values = [it for it in self._values(value) if it.type != "number_literal"]
        return bool(values) and all(
            _READS.search(template_of(it)) if it.type in ASM else self._is_found(it, seen)
            for it in values
        )

    def _returns_mask(self, name: bytes, seen: frozenset[int]) -> bool:
        if name.decode("latin-1") in MASK_READ:
            return True
        if _READS.search(self.units.assembler_text(name) or b""):
            return True
        definitions = self.units.definitions(name)
        return bool(definitions) and all(self._gives_mask(it, seen) for it in definitions)

    def _gives_mask(self, definition: Node, seen: frozenset[int]) -> bool:
        """Whether all that a function returns is the mask; a naked one returns what it reads."""
        if definition.id in seen:
            return False
        seen |= {definition.id}
        returned = [it.named_children[0] for it in walk(definition)
                    if it.type == "return_statement" and it.named_children]  # fmt: skip
        if not returned:
            return _READS.search(text_of(definition)) is not None
        return all(self._is_found(it, seen) for it in returned)

    def _values(self, place: Node) -> list[Node]:
        """What a variable, a parameter or a member is ever given; an asm statement that sets it."""
        member = place.child_by_field_name("field")
        name = text_of(member or place)
        function = enclosing_function(place)
        if function is not None and (member is not None or not is_local(function, name)):
            function = None
        found: list[Node] = []
        for node in walk(function) if function is not None else self.units.named(name):
            if node.type not in ("identifier", "field_identifier") or text_of(node) != name:
                continue
            whole = node.parent if node.type == "field_identifier" else node
            outer = outermost(whole) if whole is not None else node
            around = outer.parent
            if around is None:
                continue
            if around.type == "init_declarator" and around.child_by_field_name("value") != outer:
                found += [it for it in [around.child_by_field_name("value")] if it is not None]
            elif around.type == "assignment_expression":
                right = around.child_by_field_name("right")
                found += [right] if right is not None and right != outer else []
            elif around.type == "gnu_asm_output_operand":
                found += [it for it in ancestors(around) if it.type in ASM]
            elif around.type == "update_expression":
                found.append(around)
        if function is not None:
            found += self._arguments_for(function, name)
        return found

    def _arguments_for(self, function: Node, name: bytes) -> list[Node]:
        place = 0
        while (parameter := parameter_name(function, place)) is not None:
            if parameter == name:
                calls = self.units.calls(function_name(function))
                lists = [arguments_of(it) for it in calls if it.type == "call_expression"]
                return [it[place] for it in lists if place < len(it)]
            place += 1
        return []


def _opens_in_assembler(text: bytes) -> bool:
    if _OPENS.search(text):
        return True
    for match in _WRITES.finditer(text):
        register = re.escape(match.group(1))
        if re.search(_ZERO % (register, register, register, register), text[: match.start()]):
            return True
    return False
