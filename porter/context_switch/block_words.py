"""Reads of a word of a task's block in C, through pointers of another type than the block's.

A pointer to a block is followed, and what is calculated from one: a sum, bits that come back by
another calculation, a distance from the address of another member.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.context_switch.beside_members import CHANGES, BesideMembers, has_sign, sign_of, steps
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import calculation, is_based_on, is_in_memory, is_local, uses_in
from porter.context_switch.c_words import (
    Word,
    accesses,
    declared_as,
    member_accesses,
    members_at,
    type_names,
    types_where,
)
from porter.context_switch.statement_values import last_of
from porter.source.c_tree import (
    Node,
    ancestors,
    captured,
    enclosing_function,
    index_of,
    outermost,
    strip_parentheses,
    text_of,
    walk,
)
from porter.source.mnemonics import CONDITIONAL

_LOADS = re.compile(rb"\b(?:ldr|ldm)\w*\s+[^;\n]*[\[{]", re.IGNORECASE)
_LOADS_OPERAND = re.compile(rb"\bld[rm]\w*\s", re.IGNORECASE)
_FETCHES = re.compile(rb"\bldr(?:ex|t|\.[nw])?\s[^;\n\[]*\[([^\]]*)\]", re.IGNORECASE)
_STARTS = re.compile(rb"\b[pm]sp\b|\bsvc%s\b|\bcpsie\b" % CONDITIONAL.encode(), re.IGNORECASE)
_COPIES = {  # where to, from where
    b"memcpy": (0, 1), b"memmove": (0, 1), b"mempcpy": (0, 1), b"builtin_memcpy": (0, 1),
    b"builtin_memmove": (0, 1), b"aeabi_memcpy": (0, 1), b"aeabi_memcpy4": (0, 1),
    b"aeabi_memmove": (0, 1), b"bcopy": (1, 0), b"memcpy_s": (0, 2), b"memmove_s": (0, 2),
}  # fmt: skip
_WRAPS = frozenset({"parenthesized_expression", "cast_expression", "extension_expression"})


class BlockWords:
    """Reads of a word of a block through pointers of another type than its own."""

    def __init__(self, types: set[bytes], offset: int, units: CUnits) -> None:
        self._types, self._offset, self._units = types, offset, units
        self._beside = BesideMembers(types, units, self._other_types)
        self._own = [it for name in types for it in declared_as(name, units)]

    def words(self, pointers: Iterable[Word]) -> list[Node]:
        """All, by what pointers to blocks lead to: these, and those that are declared so."""
        waiting = [it for word in pointers for it in accesses(word, self._units)]
        for name in self._own:
            around = enclosing_function(name)
            if name.type == "field_identifier":
                waiting += member_accesses(name, self._units)
            elif around is not None and is_local(around, text_of(name)):
                waiting += uses_in(around, text_of(name))
            else:
                waiting += self._units.reads(text_of(name))
        found: list[Node] = []
        members: list[Node] = []
        seen: set[int] = set()
        while waiting:
            ends, waiting = list(self._units.ends(waiting, _is_in_front)), []
            for node, parent in ends:
                if parent.id in seen:
                    continue
                seen.add(parent.id)
                if (
                    calculation(parent) is not None
                    or has_sign(parent, b"&")
                    or self._is_block(node, parent)
                ):
                    waiting.append(parent)
                elif self._is_word(node, parent):
                    found.append(parent)
                elif self._into_assembler(parent) or self._is_copied(node, parent):
                    found.append(node)
                elif parent.type == "field_expression":
                    members.append(parent)
        return found + self._beside.words(members)

    def _into_assembler(self, parent: Node) -> bool:
        """Whether assembler gets the pointer that may follow it twice or hand out what it fetched,
        and starts no task."""
        text: bytes | None = None
        has_result = False
        if parent.type in ("gnu_asm_input_operand", "gnu_asm_output_operand"):
            whole = next(it for it in ancestors(parent) if it.type == "gnu_asm_expression")
            text = text_of(whole)
            has_result = any(it.type == "gnu_asm_output_operand" for it in walk(whole))
            if is_in_memory(parent):  # instructions name the operand, not its address
                return not _STARTS.search(text) and _LOADS_OPERAND.search(text) is not None
        elif parent.type == "argument_list" and parent.parent is not None:
            callee = parent.parent.child_by_field_name("function")
            text = self._units.assembler_text(text_of(callee)) if callee is not None else None
            around = outermost(parent.parent).parent
            has_result = around is not None and around.type != "expression_statement"
        if text is None or _STARTS.search(text):
            return False
        return len(_LOADS.findall(text)) > 1 or (
            has_result and any(_may_be_at(self._offset, it) for it in _FETCHES.findall(text))
        )

    def _is_copied(self, node: Node, parent: Node) -> bool:
        """Whether the C library copies the block to something of another type."""
        callee = parent.parent.child_by_field_name("function") if parent.parent else None
        places = _COPIES.get(text_of(callee).lstrip(b"_")) if callee is not None else None
        arguments = parent.named_children if parent.type == "argument_list" else []
        if places is None or len(arguments) <= max(places) or arguments[places[1]] != node:
            return False
        return not types_where(arguments[places[0]], self._units) & self._types

    def _is_block(self, node: Node, parent: Node) -> bool:
        """Whether a pointer or an array of the block's own type leads to a block."""
        if parent.type == "subscript_expression":
            return is_based_on(parent, node) and self._other_types(node) is None
        return has_sign(parent, b"*") and self._other_types(node) is None

    def _is_word(self, node: Node, parent: Node) -> bool:
        if parent.type == "field_expression" and parent.child_by_field_name("argument") == node:
            member = parent.child_by_field_name("field")
            types = self._other_types(node) or ()
            members = members_at(types, self._offset, self._units)
            return member is not None and Word(text_of(member), True) in members
        if parent.type == "subscript_expression":
            number = _index(parent, node)
            elsewhere = number is not None and not self._may_be_element(number)
            is_base = is_based_on(parent, node)
            return is_base and not elsewhere and self._other_types(node) is not None
        elsewhere = self._offset != 0 and node.type != "binary_expression"
        is_followed = has_sign(parent, b"*") and not elsewhere
        return is_followed and self._other_types(node) is not None

    def _may_be_element(self, number: int) -> bool:
        """Whether an element of words is this one, or of smaller ones may be a part of it."""
        if number * 4 == self._offset:
            return True
        sizes = (1, 2) if self._offset else ()
        return any(self._offset <= number * size < self._offset + 4 for size in sizes)

    def _other_types(self, node: Node) -> set[bytes] | None:
        """Names of types under which a pointer is followed; None for the block's own."""
        while node.type in _WRAPS:
            kind = node.child_by_field_name("type")
            if kind is not None:
                names = type_names(kind)
                return None if names & self._types else names
            node = node.child_by_field_name("value") or node.named_children[-1]
        if node.type == "compound_statement":
            last = last_of(node)
            return self._other_types(last) if last is not None else None
        if node.type == "binary_expression":
            left = node.child_by_field_name("left")
            return self._other_types(left) if left is not None else None
        if node.type not in ("identifier", "field_expression"):
            return None
        names = types_where(node, self._units)
        return None if names & self._types else names


def _may_be_at(offset: int, address: bytes) -> bool:
    """Whether an address in assembler may be so many bytes behind a pointer."""
    distance = address.partition(b",")[2].strip().lstrip(b"#") or b"0"
    number = re.fullmatch(rb"0x[0-9a-f]+|\d+", distance, re.IGNORECASE)
    return number is None or int(distance, 0) == offset


def _is_in_front(pointer: Node, _before: Node | None) -> bool:
    """Whether a variable was moved back before: to what an allocator keeps in front of a block."""
    around = enclosing_function(pointer)
    if around is None or pointer.type != "identifier":
        return False
    changes = captured(around, CHANGES, "it")
    moves = [it for it in changes if steps(it, text_of(pointer))]
    back = [it for it in moves if (sign_of(it) or b"")[:1] == b"-"]
    blocks = (next((it for it in ancestors(move) if it.type == "compound_statement"), None)
              for move in back if move.end_byte <= pointer.start_byte)  # fmt: skip
    return len(back) == len(moves) and any(
        block is not None and pointer.end_byte <= block.end_byte for block in blocks
    )


def _index(element: Node, pointer: Node) -> int | None:
    """The number of an element behind a pointer, if it is plain to see."""
    base = element.child_by_field_name("argument")
    other = index_of(element) if base == pointer else base
    number = text_of(strip_parentheses(other)) if other is not None else b""
    return int(number) if number.isdigit() else None
