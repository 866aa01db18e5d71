"""A part's variables by name, read from the RAM of a running machine: the debugging information of
the part's ELF says where they are and what they look like."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from elftools.dwarf.die import DIE
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

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

    def get(self, name: str, otherwise: Any) -> Any:
        """The value of a variable that the compiler leaves out where nothing needs it."""
        return self[name] if name in self._known else otherwise

    def address(self, name: str) -> int:
        return self._known[name][0]

    def at(self, address: int, name: str) -> Any:
        """What is at an address, read as an element of an array."""
        size = self.element(name)
        _, whole, decode = self._known[name]
        return decode(self._read(address, size) + bytes(whole - size))[0]

    def element(self, name: str) -> int:
        """Bytes of one element of an array."""
        _, size, decode = self._known[name]
        return size // len(decode(bytes(size)))


@cache
def _variables(elf: Path) -> dict[str, tuple[int, int, Decoder]]:
    found = {}
    with elf.open("rb") as file:
        image = ELFFile(file)
        table = image.get_section_by_name(".symtab")
        assert isinstance(table, SymbolTableSection)
        sizes = {s["st_value"]: s["st_size"] for s in table.iter_symbols() if s["st_size"]}
        for unit in image.get_dwarf_info().iter_CUs():
            for die in unit.get_top_DIE().iter_children():
                if die.tag != "DW_TAG_variable" or "DW_AT_location" not in die.attributes:
                    continue
                where = bytes(die.attributes["DW_AT_location"].value)
                said = _described(die)
                if where[:1] != bytes([_ADDRESS]) or "DW_AT_name" not in said.attributes:
                    continue
                address = int.from_bytes(where[1:5], "little")
                typed = die if "DW_AT_type" in die.attributes else said
                size, decode = _type(
                    typed.get_DIE_from_attribute("DW_AT_type"), sizes.get(address, 0)
                )
                name = said.attributes["DW_AT_name"].value.decode()
                found[name] = address, size, decode
    return found


def _described(die: DIE) -> DIE:
    """What says the name of a variable whose place this one says."""
    for link in ("DW_AT_specification", "DW_AT_abstract_origin"):
        if link in die.attributes:
            return _described(die.get_DIE_from_attribute(link))
    return die


def _type(die: DIE, room: int = 0) -> tuple[int, Decoder]:
    """Size, and how to read it. `room` is what an array has whose type doesn't say its length."""
    attributes = die.attributes
    if die.tag in _QUALIFIERS:
        return _type(die.get_DIE_from_attribute("DW_AT_type"), room)
    if die.tag == "DW_TAG_array_type":
        return _array(die, room)
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


def _array(die: DIE, room: int) -> tuple[int, Decoder]:
    size, decode = _type(die.get_DIE_from_attribute("DW_AT_type"))
    for dimension in reversed([c for c in die.iter_children() if c.tag == "DW_TAG_subrange_type"]):
        bound = dimension.attributes.get("DW_AT_upper_bound")
        count = bound.value + 1 if bound else room // size
        size, decode = size * count, _elements(size, count, decode)
    return size, decode


def _elements(size: int, count: int, decode: Decoder) -> Decoder:
    return lambda data: [decode(data[i * size : (i + 1) * size]) for i in range(count)]
