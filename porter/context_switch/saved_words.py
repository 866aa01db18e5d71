"""Where C of a project reads the word to which a switch handler saves the stack pointer.

A handler knows it as an offset behind a variable or behind what pointers lead to. C may call it a
member, by whatever name of the block's type, an element, or what a pointer to the block points to
under another type.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.context_switch.block_words import BlockWords
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_words import (
    Word,
    accesses,
    aliases,
    bodies,
    is_pointer,
    leads_to_pointers,
    members_at,
    types_of,
)
from porter.context_switch.ir import Binary, Const, Expr, Load, Symbol
from porter.context_switch.new_stacks import just_set
from porter.context_switch.pick import Pick
from porter.context_switch.saved_places import kept_at
from porter.source.c_tree import (
    Node,
)


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
        found += [it for it in BlockWords(types, offset, units).words(blocks) if not just_set(it)]
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
