"""A part's variables by name, read from the RAM of a running machine: the debugging information of
the part's ELF says where they are and what they look like."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile

_ADDRESS = 0x03  # DW_OP_addr
_QUALIFIERS = ("DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type")
_SIGNED = (5, 6)  # DW_ATE_signed, DW_ATE_signed_char

Reader = Callable[[int, int], bytes]
Decoder = Callable[[bytes], Any]


class Variables:
    """Values as Python has them: structures and unions are dictionaries, arrays lists, pointers
    and enumerations numbers."""

    def __init__(self, elf: Path, read: Reader) -> None:
        self._known = _variables(elf)
        self._read = read

    def __contains__(self, name: str) -> bool:
        return name in self._known

    def __getitem__(self, name: str) -> Any:
        address, size, decode = self._known[name]
        return decode(self._read(address, size))

    def address(self, name: str) -> int:
        return self._known[name][0]

    def element(self, name: str) -> int:
        """Bytes of one element of an array."""
        _, size, decode = self._known[name]
        return size // len(decode(bytes(size)))


@cache
def _variables(elf: Path) -> dict[str, tuple[int, int, Decoder]]:
    found = {}
    with elf.open("rb") as file:
        for unit in ELFFile(file).get_dwarf_info().iter_CUs():
            for die in unit.get_top_DIE().iter_children():
                if die.tag != "DW_TAG_variable" or "DW_AT_location" not in die.attributes:
                    continue
                where = bytes(die.attributes["DW_AT_location"].value)
                said = die
                if "DW_AT_specification" in die.attributes:
                    said = die.get_DIE_from_attribute("DW_AT_specification")
                if where[:1] != bytes([_ADDRESS]) or "DW_AT_name" not in said.attributes:
                    continue
                # The definition knows the length of an array, its declaration may not.
                typed = die if "DW_AT_type" in die.attributes else said
                size, decode = _type(typed.get_DIE_from_attribute("DW_AT_type"))
                name = said.attributes["DW_AT_name"].value.decode()
                found[name] = int.from_bytes(where[1:5], "little"), size, decode
    return found


def _type(die: DIE) -> tuple[int, Decoder]:
    """Size, and how to read it."""
    attributes = die.attributes
    if die.tag in _QUALIFIERS:
        return _type(die.get_DIE_from_attribute("DW_AT_type"))
    if die.tag == "DW_TAG_array_type":
        return _array(die)
    size = attributes["DW_AT_byte_size"].value if "DW_AT_byte_size" in attributes else 4
    if die.tag in ("DW_TAG_structure_type", "DW_TAG_union_type"):
        members = []
        for child in die.iter_children():
            if child.tag == "DW_TAG_member" and "DW_AT_name" in child.attributes:
                at = child.attributes.get("DW_AT_data_member_location")
                length, decode = _type(child.get_DIE_from_attribute("DW_AT_type"))
                name = child.attributes["DW_AT_name"].value.decode()
                members.append((name, at.value if at else 0, length, decode))
        return size, lambda data: {
            name: decode(data[at : at + length]) for name, at, length, decode in members
        }
    encoding = attributes["DW_AT_encoding"].value if "DW_AT_encoding" in attributes else 0
    return size, lambda data: int.from_bytes(data, "little", signed=encoding in _SIGNED)


def _array(die: DIE) -> tuple[int, Decoder]:
    size, decode = _type(die.get_DIE_from_attribute("DW_AT_type"))
    for dimension in reversed([c for c in die.iter_children() if c.tag == "DW_TAG_subrange_type"]):
        bound = dimension.attributes.get("DW_AT_upper_bound")
        count = bound.value + 1 if bound else 0
        size, decode = size * count, _elements(size, count, decode)
    return size, decode


def _elements(size: int, count: int, decode: Decoder) -> Decoder:
    return lambda data: [decode(data[i * size : (i + 1) * size]) for i in range(count)]
