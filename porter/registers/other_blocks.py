"""Blocks that no machine owns on chips that are no STM32: where the project's headers have them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

from porter.registers.chip_blocks import STM32_BLOCK, is_foreign
from porter.registers.register import Register
from porter.registers.shared_blocks import (
    ADDRESS,
    ATOMIC,
    BLOCK,
    PREFIXED,
    REGISTER,
    ROLED,
    ST_REGISTER,
    is_device,
    may_be_device,
)
from porter.source.c_tree import Node
from porter.source.c_types import CType
from porter.source.evaluate import Evaluator
from porter.source.macros import MacroTable
from porter.source.values import Number, Place, Pointer, Value

OTHER = "other vendor's"
_PAGE = 0x100  # bytes: what two blocks seldom share
_USUAL_SIZE = 0x400
_OF_TYPES = (b"", b"x", b"_t", b"_Type", b"_TypeDef")
_BASE = re.compile(rb"\w+_BASE(?:_ADDR\w*)?", re.ASCII)
_LARGEST = 0x4000
_MEMBER = frozenset({b".", b"->", b"["})
_NEAR_CORE = range(0xE010_0000, 0x1_0000_0000)
"""Where a Kinetis has FGPIO, which takes one cycle."""
_NEAR_RAM = range(0x2000_0000, 0x4000_0000)
"""Where an LPC has GPIO that a core reaches fast (UM10360, 2.1)."""


_Named = dict[bytes, tuple[int, bool] | None]
"""By name: where a register is, and whether the macro is an access and no address; None for what
is no register."""


class OtherBlocks:
    """The blocks under the names of one translation unit. `fields`: those of their structs."""

    def __init__(
        self, evaluator: Evaluator, like: OtherBlocks | None = None, is_arm: bool = True
    ) -> None:
        """`like`: what is known for the evaluator that this one says it is like; `is_arm`: what has
        ST's names may be ST's."""
        self._spans: dict[int, tuple[int, str]] = {}  # where each begins: its end and name
        self._certain: dict[int, int] = {}  # where its struct ends, as far as there is one
        self._evaluator = evaluator
        self._structs: dict[bytes, str] = {}
        types = evaluator.types
        of_scopes = (*types.initialised, *types.scoped)
        variables = dict.fromkeys(it for it in of_scopes if it not in evaluator.macros)
        for name in (*evaluator.macros.matching(BLOCK), *variables):
            match = BLOCK.fullmatch(name) if STM32_BLOCK.fullmatch(name) is None else None
            if match is not None and (name in evaluator.macros or evaluator.keeps_address(name)):
                self._note(name, match["block"], evaluator)
            elif match is not None:  # a constant of a namespace or a class
                for value in evaluator.scopes.constants(name):
                    self._note_value(value, match["block"])
        for name in evaluator.macros.matching(STM32_BLOCK):
            if (match := STM32_BLOCK.fullmatch(name)) and is_foreign(name, evaluator):
                self._note(name, match.group(1), evaluator)
        for name in evaluator.macros.matching(PREFIXED):
            if match := PREFIXED.fullmatch(name):
                self._note_prefixed(name, match["stem"], match["block"])
        for name in evaluator.macros.matching(ROLED):
            if BLOCK.fullmatch(name) is None and self._is_block(name):
                self._note(name, name, evaluator, by_struct=False)
        self._starts = sorted(self._spans)
        self.fields = frozenset(
            field
            for struct in self._structs
            for field in evaluator.types.members(CType("struct", 0, struct))
        )
        registers = (REGISTER,) if is_arm else (REGISTER, ST_REGISTER)
        self._named: _Named = _named(evaluator, like._named if like is not None else {}, registers)
        self._made: list[tuple[str, Node]] = (
            like._made if like is not None else list(_of_classes(evaluator, registers))
        )
        self._registers: dict[int, str] = {}
        for register_name, argument in self._made:
            number = evaluator.number(argument)
            if number is not None and may_be_device(number):
                self._registers[number] = register_name
        for name, register in self._named.items():
            if register is not None and (register[1] or register[0] not in self._registers):
                self._registers[register[0]] = name.decode("latin-1")

    def _note(
        self, name: bytes, owner: bytes, evaluator: Evaluator, by_struct: bool = True
    ) -> None:
        """`by_struct`: whatever is such a struct is such a block."""
        if name not in evaluator.macros.assumed:
            self._note_value(evaluator.name(name), owner, by_struct)

    def _note_value(self, value: Value | None, owner: bytes, by_struct: bool = True) -> None:
        block = owner.decode("latin-1")
        address, size = None, _USUAL_SIZE
        match value:
            case Number(value=number) if may_be_device(number & 0xFFFF_FFFF):
                address = number & 0xFFFF_FFFF
            case Pointer(address=int() as found, type=kind) if (
                is_device(found)
                or found in _NEAR_CORE
                or (found in _NEAR_RAM and kind.kind == "struct")
            ):
                address = found
                size = max(size, min(kind.size, _LARGEST))
                if kind.kind == "struct" and by_struct:
                    self._structs[kind.name] = block
                if kind.kind == "struct":
                    self._certain[found] = max(self._certain.get(found, 0), found + kind.size)
        if address is not None:
            size = _LARGEST if ATOMIC.fullmatch(owner) else size
            end, known = self._spans.get(address, (0, block))
            self._spans[address] = max(end, address + size), known

    def _is_block(self, name: bytes) -> bool:
        """Whether a name is that of a struct of registers, and no project's own for a block that
        has another: LED_PORT for GPIOC."""
        macro, value = self._evaluator.macros.get(name), self._evaluator.name(name)
        if macro is None or not isinstance(value, Pointer) or value.type.kind != "struct":
            return False
        if len(macro.text) == 1 or value.address is None or not is_device(value.address):
            return False
        return all(
            not isinstance(known := self._evaluator.name(it), Pointer)
            or (known.address, known.type.name) != (value.address, value.type.name)
            for it in self._evaluator.macros.matching(STM32_BLOCK)
        )

    def _note_prefixed(self, name: bytes, stem: bytes, block: bytes) -> None:
        """A block that only a name with somebody's prefix says, and the struct of that name."""
        address = self._evaluator.number_of_name(name)
        if address is None or not may_be_device(address) or address in self._spans:
            return
        if any(at == address and other != name for at, other in self._bases):
            return  # which says better what is there
        self._note(name, block, self._evaluator)
        for suffix in _OF_TYPES:
            match self._evaluator.text(b"(%s%s *)%d" % (stem, suffix, address)):
                case Pointer(type=CType(kind="struct", name=struct)):
                    self._structs[struct] = block.decode("latin-1")

    @property
    def addresses(self) -> Collection[int]:
        """Where registers and blocks with names are."""
        return {*self._starts, *self._registers}

    def identify(self, place: Place) -> Register | None:
        """The shared register an lvalue is, or None."""
        member = place.member.decode("latin-1")
        if place.owner in self._structs and place.member:
            if place.address is None:
                return Register(OTHER, member, 0, self._structs[place.owner])
            known = self.at(place.address) or place.owner.decode("latin-1")
            return Register(OTHER, member, 0, known)
        if place.address is None:
            return None
        if place.address in self._registers:
            return Register(OTHER, f"0x{place.address:08X}", 0, self._registers[place.address])
        block = self.at(place.address)
        if block and self._is_behind(place.address):
            block = place.owner.decode("latin-1") or f"what is behind {block}"
        return Register(OTHER, member or f"0x{place.address:08X}", 0, block) if block else None

    def at(self, address: int) -> str | None:
        """The block that holds an address, by its name."""
        index = bisect_right(self._starts, address) - 1
        if index >= 0:
            start = self._starts[index]
            end, name = self._spans[start]
            if address < end and not self._is_anothers(address, start, name):
                return name
        return self._registers.get(address)

    def _is_behind(self, address: int) -> bool:
        """Whether an address is well behind the struct that headers have for the block before it:
        in a page that has nothing of it."""
        start = self._starts[bisect_right(self._starts, address) - 1]
        return address & -_PAGE >= self._certain.get(start, address + 1)

    def _is_anothers(self, address: int, start: int, name: str) -> bool:
        """Whether the headers have another block's base between a block's and an address, so that
        the usual size of a block is too much for this one."""
        if address < self._certain.get(start, start + 1):
            return False
        first = bisect_right(self._bases, (start, b"\xff"))
        last = bisect_right(self._bases, (address, b"\xff"))
        own = name.encode("latin-1")
        return any(not base.startswith(own) for _, base in self._bases[first:last])

    @cached_property
    def _bases(self) -> Sequence[tuple[int, bytes]]:
        """All that the headers call a base, by address."""
        found = [
            (number, name)
            for name in self._evaluator.macros.matching(_BASE)
            if (number := self._evaluator.number_of_name(name)) is not None
        ]
        return sorted(found)


def _named(evaluator: Evaluator, known: _Named, registers: Sequence[re.Pattern[bytes]]) -> _Named:
    """The registers that have names of their own; `known`: where the evaluator is like another."""
    found: _Named = {}
    for pattern, find in (*((it, _access) for it in registers), (ADDRESS, _number)):
        for name in evaluator.macros.matching(pattern):
            if name in known and evaluator.means_the_same(name):
                found[name] = known[name]
            elif found.get(name) is None:
                found[name] = find(name, evaluator)
    return found


def _of_classes(
    evaluator: Evaluator, registers: Sequence[re.Pattern[bytes]]
) -> Iterator[tuple[str, Node]]:
    """The registers that templates make of their addresses, `struct CTL : Register<0x40021000>` in
    RCU, by the names that macros have for them, RCU_CTL, and what the templates are given."""
    for path, argument in evaluator.types.made:
        names = [b"_".join(path[first:]) for first in range(len(path) - 1)]
        known = [it for it in names if any(pattern.fullmatch(it) for pattern in registers)]
        if known:
            yield known[-1].decode("latin-1"), argument


def _access(name: bytes, evaluator: Evaluator) -> tuple[int, bool] | None:
    if not _may_access(name, evaluator.macros):
        return None  # most are bits
    match evaluator.name(name):
        case Place(address=int() as address) | Pointer(address=int() as address):
            if is_device(address):
                return address, True
    return None


def _number(name: bytes, evaluator: Evaluator) -> tuple[int, bool] | None:
    number = evaluator.number_of_name(name)
    return (number, False) if number is not None and may_be_device(number) else None


def _may_access(name: bytes, macros: MacroTable) -> bool:
    """Whether a macro, or one that it calls or takes a member of, has a star."""
    macro = macros.get(name)
    if macro is None or macro.parameters is not None:
        return False
    words = macro.text
    if b"*" in words:
        return True
    of_member = not _MEMBER.isdisjoint(words)
    mentioned = (macros.get(word) for word in words if of_member or b"(" in words)
    return any(
        it is not None and (of_member or it.parameters is not None) and b"*" in it.text
        for it in mentioned
    )
