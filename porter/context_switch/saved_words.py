"""Where C of a project reads the word to which a switch handler saves the stack pointer.

A handler knows it as an offset behind a variable or behind what pointers lead to. C may call it a
member, by whatever name of the block's type, an element, or what a pointer to the block points to
under another type.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import is_local, uses_in
from porter.context_switch.c_words import (
    Word,
    accesses,
    aliases,
    bodies,
    declared_as,
    is_pointer,
    leads_to_pointers,
    member_accesses,
    members_at,
    type_names,
    types_of,
    types_where,
)
from porter.context_switch.ir import Binary, Const, Expr, Load, Symbol
from porter.context_switch.new_stacks import just_set
from porter.context_switch.pick import Pick
from porter.context_switch.saved_places import kept_at
from porter.context_switch.statement_values import last_of
from porter.source.c_tree import (
    Node,
    ancestors,
    captured,
    enclosing_function,
    outermost,
    query,
    text_of,
    walk,
)

_CHANGES = query("[(assignment_expression) (update_expression)] @it")
_LOADS = re.compile(rb"\b(?:ldr|ldm)\w*\s+[^;\n]*[\[{]", re.IGNORECASE)
_FETCHES = re.compile(rb"\bldr(?:ex|t|\.[nw])?\s[^;\n\[]*\[([^\]]*)\]", re.IGNORECASE)
_STARTS = re.compile(rb"\b[pm]sp\b|\bsvc\b|\bcpsie\b", re.IGNORECASE)
_COPIES = {  # where to, from where
    b"memcpy": (0, 1), b"memmove": (0, 1), b"mempcpy": (0, 1), b"builtin_memcpy": (0, 1),
    b"builtin_memmove": (0, 1), b"aeabi_memcpy": (0, 1), b"aeabi_memcpy4": (0, 1),
    b"aeabi_memmove": (0, 1), b"bcopy": (1, 0), b"memcpy_s": (0, 2), b"memmove_s": (0, 2),
}  # fmt: skip
_WRAPS = frozenset({"parenthesized_expression", "cast_expression", "extension_expression"})


def saved_words(pick: Pick, units: CUnits) -> list[Node]:
    """Reads of what the handler saves the stack pointer to, of parameters that are it, and of
    pointers to blocks that assembler gets."""
    addresses, parameters = kept_at(pick)
    found = [node for address in addresses for node in _saved_at(address, units)]
    return found + [use for it in parameters for use in units.parameter_uses(*it)]


def blocks_behind(pick: Pick, units: CUnits) -> set[bytes]:
    """Names of the types of what the handler saves the stack pointer in."""
    pointers = (place for address in kept_at(pick)[0] for place, _ in _pointed(address))
    words = {word for place in pointers for word in _pointers_at(place, units)}
    named = {name for word in words for name in types_of(word, units)}
    return {name for it in named if any(True for _ in bodies(it, units))
            for name in aliases(it, units, pointers=False)}  # fmt: skip


def _saved_at(address: Expr, units: CUnits) -> list[Node]:
    """Reads in C of the word at an address."""
    found: list[Node] = []
    for word in _words_at(address, units):
        if word.is_member:
            found += [it for it in accesses(word, units) if not just_set(it)]
            continue
        for node in accesses(word, units):
            around = node.parent
            is_element = around is not None and around.type == "subscript_expression"
            found += [around if is_element and around is not None else node]
    blocks = [block for part, _ in _pointed(address) for block in _pointers_at(part, units)]
    named = {name for block in blocks for name in types_of(block, units)}
    types = {alias for name in named if any(True for _ in bodies(name, units))
             for alias in aliases(name, units)}  # fmt: skip
    for offset in {offset for _, offset in _pointed(address)}:
        found += [it for it in _Blocks(types, offset, units).words(blocks) if not just_set(it)]
    return found


def _pointed(address: Expr) -> Iterator[tuple[Expr, int]]:
    """Where a pointer lies that an address is calculated from, and the offset behind it."""
    if isinstance(address, Load):
        yield address.address, 0
    elif isinstance(address, Binary) and isinstance(address.right, Const):
        for place, _ in _pointed(address.left):
            yield place, address.right.value
    elif isinstance(address, Binary):
        yield from _pointed(address.left)
        yield from _pointed(address.right)


def _words_at(address: Expr, units: CUnits) -> set[Word]:
    """What C calls the word at an address; nothing where it has no name for it."""
    found: set[Word] = set()
    if isinstance(address, Binary) and not isinstance(address.right, Const):  # an element
        return _words_at(address.left, units) | _words_at(address.right, units)
    for place, offset in _pointed(address):
        types = {name for it in _pointers_at(place, units) for name in types_of(it, units)}
        found |= members_at(types, offset, units)
    offset = 0
    if isinstance(address, Binary) and isinstance(address.right, Const):
        offset, address = address.right.value, address.left
    if isinstance(address, Symbol):
        word = Word(address.name.encode(), False)
        offset += address.offset
        types = set() if is_pointer(word, units) else types_of(word, units)
        found |= members_at(types, offset, units) or {word}
    return found


def _pointers_at(place: Expr, units: CUnits) -> set[Word]:
    """What C calls the pointer at an address: a pointer to pointers, or an array of them, is also
    what it leads to."""
    found = _words_at(place, units)
    for inner, _ in _pointed(place):
        found |= {it for it in _pointers_at(inner, units) if leads_to_pointers(it, units)}
    return found


class _Blocks:
    """Reads of a word of a block through pointers of another type than its own."""

    def __init__(self, types: set[bytes], offset: int, units: CUnits) -> None:
        self._types, self._offset, self._units = types, offset, units
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
        seen: set[int] = set()
        while waiting:
            ends, waiting = list(self._units.ends(waiting, _is_in_front)), []
            for node, parent in ends:
                if parent.id in seen:
                    continue
                seen.add(parent.id)
                if _is_sum(parent) or _has_sign(parent, b"&") or self._is_block(node, parent):
                    waiting.append(parent)
                elif self._is_word(node, parent):
                    found.append(parent)
                elif self._into_assembler(parent) or self._is_copied(node, parent):
                    found.append(node)
        return found

    def _into_assembler(self, parent: Node) -> bool:
        """Whether assembler gets the pointer that may follow it twice or hand out what it fetched,
        and starts no task."""
        text: bytes | None = None
        has_result = False
        if parent.type == "gnu_asm_input_operand":
            whole = next(it for it in ancestors(parent) if it.type == "gnu_asm_expression")
            text = text_of(whole)
            has_result = any(it.type == "gnu_asm_output_operand" for it in walk(whole))
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
        is_base = parent.child_by_field_name("argument") == node
        leads = parent.type == "subscript_expression" or _has_sign(parent, b"*")
        return is_base and leads and self._other_types(node) is None

    def _is_word(self, node: Node, parent: Node) -> bool:
        if parent.type == "field_expression" and parent.child_by_field_name("argument") == node:
            member = parent.child_by_field_name("field")
            types = self._other_types(node) or ()
            members = members_at(types, self._offset, self._units)
            return member is not None and Word(text_of(member), True) in members
        if parent.type == "subscript_expression":
            index = parent.child_by_field_name("index")
            number = text_of(index) if index is not None else b""
            elsewhere = number.isdigit() and int(number) * 4 != self._offset
            is_base = parent.child_by_field_name("argument") == node
            return is_base and not elsewhere and self._other_types(node) is not None
        elsewhere = self._offset != 0 and node.type != "binary_expression"
        is_followed = _has_sign(parent, b"*") and not elsewhere
        return is_followed and self._other_types(node) is not None

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


def _is_in_front(pointer: Node) -> bool:
    """Whether a variable was moved back before: to what an allocator keeps in front of a block."""
    around = enclosing_function(pointer)
    if around is None or pointer.type != "identifier":
        return False
    changes = captured(around, _CHANGES, "it")
    moves = [it for it in changes if _changes(it, text_of(pointer))]
    back = [it for it in moves if (_sign(it) or b"")[:1] == b"-"]
    blocks = (next((it for it in ancestors(move) if it.type == "compound_statement"), None)
              for move in back if move.end_byte <= pointer.start_byte)  # fmt: skip
    return len(back) == len(moves) and any(
        block is not None and pointer.end_byte <= block.end_byte for block in blocks
    )


def _changes(node: Node, name: bytes) -> bool:
    """Whether a variable becomes more or less by an expression."""
    place = node.child_by_field_name("left") or node.child_by_field_name("argument")
    is_change = node.type == "update_expression" or (
        node.type == "assignment_expression" and _sign(node) != b"="
    )
    return is_change and place is not None and text_of(place) == name


def _sign(node: Node) -> bytes | None:
    sign = node.child_by_field_name("operator")
    return None if sign is None else text_of(sign)


def _is_sum(node: Node) -> bool:
    return node.type == "binary_expression" and _sign(node) in (b"+", b"-")


def _has_sign(node: Node, sign: bytes) -> bool:
    return node.type == "pointer_expression" and text_of(node).startswith(sign)
