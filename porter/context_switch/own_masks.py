"""What C, and assembler that it calls, does with the interrupt mask that it finds.

The guest library holds VCT off while a fast yield chooses a task: who opens PRIMASK there, and not
because it found it open, lets VCT switch between two stacks. BASEPRI may be opened: PRIMASK holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import calls_in, function_name, is_local, parameter_name
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

ASM = frozenset({"gnu_asm_expression", "asm_statement"})
_OPENS = re.compile(rb"\bcpsie\w*\s+\w*i", re.IGNORECASE)
_READS = re.compile(rb"\bmrs\w*\s+[^,;\n]+,\s*primask\b", re.IGNORECASE)
_WRITES = re.compile(rb"\bmsr\w*\s+primask\s*,\s*(%?\w+)", re.IGNORECASE)
_ZERO = (
    rb"\b(?:movs?|movw|ldr)(?:\.[nw])?\s+%s\s*,\s*[#=]0(?:x0+)?\b|\beors?\s+%s\s*,\s*%s\s*,\s*%s\b"
)
_SAME = frozenset({"parenthesized_expression", "cast_expression", "unary_expression",
                   "binary_expression"})  # fmt: skip


def opens_interrupts(functions: Iterable[bytes], units: CUnits) -> bytes | None:
    """The function, of these or of what they call, that opens PRIMASK whatever it found."""
    look = _Look(units)
    return next((found for name in functions if (found := look.opens(name)) is not None), None)


@dataclass
class _Look:
    units: CUnits
    known: dict[bytes, bytes | None] = field(default_factory=dict)

    def opens(self, name: bytes) -> bytes | None:
        """Which function does, of this one and what it calls."""
        if name not in self.known:
            self.known[name] = None  # one that calls itself
            self.known[name] = self._opens(name)
        return self.known[name]

    def _opens(self, name: bytes) -> bytes | None:
        if _opens_in_assembler(self.units.assembler_text(name) or b""):
            return name
        for definition in self.units.definitions(name):
            for node in walk(definition):
                if self._is_opening(node) and not self._is_asked_for(node):
                    return name
            for call, callee in calls_in(definition):
                if callee in INTRINSIC_BYTES or self._is_asked_for(call):
                    continue
                if (found := self.opens(callee)) is not None:
                    return found
        return None

    def _is_opening(self, node: Node) -> bool:
        if node.type in ASM:
            text = text_of(node)
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
            return self._returns_mask(text_of(value.child_by_field_name("function") or value))
        if value.type not in ("identifier", "field_expression") or value.id in seen:
            return False
        seen |= {value.id}
        values = [it for it in self._values(value) if it.type != "number_literal"]
        return bool(values) and all(
            _READS.search(text_of(it)) if it.type in ASM else self._is_found(it, seen)
            for it in values
        )

    def _returns_mask(self, name: bytes) -> bool:
        if name.decode("latin-1") in MASK_READ:
            return True
        for callee, definitions in self.units.reached([name]).items():
            if _READS.search(self.units.assembler_text(callee) or b""):
                return True
            for definition in definitions:
                text = text_of(definition)
                if _READS.search(text) or any(it.encode() in text for it in MASK_READ):
                    return True
        return False

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
