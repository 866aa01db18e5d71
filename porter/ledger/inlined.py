"""Where the code at an address was called from, as far as the compiler put callees into callers."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from elftools.common.exceptions import DWARFError, ELFError
from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.descriptions import describe_form_class
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile

_CODE = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine")
_MAX_DEPTH = 64


@dataclass(frozen=True)
class Caller:
    """A function that was put into another one, and the line of the call."""

    function: str
    file: str
    line: int


def callers(data: bytes, addresses: Iterable[int]) -> dict[int, tuple[Caller, ...]]:
    """For each address the calls around it, the innermost first; {} without such information."""
    wanted = sorted(set(addresses))
    found: dict[int, list[tuple[int, Caller]]] = {}
    try:
        elf = ELFFile(io.BytesIO(data))
        if not wanted or not elf.has_dwarf_info():
            return {}
        dwarf = elf.get_dwarf_info()
        for unit in dwarf.iter_CUs():
            top = unit.get_top_DIE()
            own = [it for it in wanted if _holds(_ranges(dwarf, top), it)]
            if own:
                _collect(dwarf, top, own, 0, found)
    except (ELFError, DWARFError, KeyError, ValueError, IndexError, TypeError, AttributeError):
        pass  # information that is broken explains nothing, and what isn't explained is reported
    return {it: tuple(c for _, c in sorted(calls, key=_depth)) for it, calls in found.items()}


def _depth(entry: tuple[int, Caller]) -> int:
    return -entry[0]


def _collect(
    dwarf: DWARFInfo,
    parent: DIE,
    wanted: list[int],
    depth: int,
    found: dict[int, list[tuple[int, Caller]]],
) -> None:
    if depth > _MAX_DEPTH:
        return
    for die in parent.iter_children():
        own = wanted
        if die.tag in _CODE:
            ranges = _ranges(dwarf, die)
            own = [address for address in wanted if _holds(ranges, address)]
            if not own:
                continue
            if die.tag == "DW_TAG_inlined_subroutine":
                caller = Caller(_name(die, 0), *_call_place(dwarf, die))
                for address in own:
                    found.setdefault(address, []).append((depth, caller))
        if die.has_children:
            _collect(dwarf, die, own, depth + 1, found)


def _ranges(dwarf: DWARFInfo, die: DIE) -> list[tuple[int, int]]:
    """Stretches of code that an entry describes; a unit without any may hold everything."""
    attributes = die.attributes
    if "DW_AT_ranges" in attributes:
        return list(_listed(dwarf, die))
    if "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        is_address = describe_form_class(high.form) == "address"
        return [(low, high.value if is_address else low + high.value)]
    return [(0, 1 << 32)] if die.tag == "DW_TAG_compile_unit" else []


def _listed(dwarf: DWARFInfo, die: DIE) -> Iterator[tuple[int, int]]:
    lists, unit = dwarf.range_lists(), die.cu
    if lists is None or not isinstance(unit, CompileUnit):
        return
    base = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    start = base.value if base is not None else 0
    for entry in lists.get_range_list_at_offset(die.attributes["DW_AT_ranges"].value, unit):
        if isinstance(entry, BaseAddressEntry):
            start = entry.base_address
        else:
            offset = 0 if getattr(entry, "is_absolute", False) else start
            yield entry.begin_offset + offset, entry.end_offset + offset


def _holds(ranges: list[tuple[int, int]], address: int) -> bool:
    return any(low <= address < high for low, high in ranges)


def _name(die: DIE, depth: int) -> str:
    if "DW_AT_name" in die.attributes:
        return str(die.attributes["DW_AT_name"].value.decode("utf-8", "replace"))
    for link in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if link in die.attributes and depth < 4:
            return _name(die.get_DIE_from_attribute(link), depth + 1)
    return ""


def _call_place(dwarf: DWARFInfo, die: DIE) -> tuple[str, int]:
    attributes = die.attributes
    if "DW_AT_call_file" not in attributes or "DW_AT_call_line" not in attributes:
        return "", 0
    if not isinstance(die.cu, CompileUnit):
        return "", 0
    number, line = attributes["DW_AT_call_file"].value, attributes["DW_AT_call_line"].value
    return _file(dwarf, die.cu, int(number)), int(line)


def _file(dwarf: DWARFInfo, unit: CompileUnit, number: int) -> str:
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return ""
    header = program.header
    is_5 = header["version"] >= 5
    entry = header["file_entry"][number if is_5 else number - 1]
    folders = [folder.decode("utf-8", "replace") for folder in header["include_directory"]]
    index = entry.dir_index if is_5 else entry.dir_index - 1
    folder = folders[index] if 0 <= index < len(folders) and (index or not is_5) else ""
    name = entry.name.decode("utf-8", "replace")
    return name if not folder or name.startswith("/") else f"{folder}/{name}"
