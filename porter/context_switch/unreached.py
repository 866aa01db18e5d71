"""Whether all code of a function is part of it.

Where a label has no type, what stands behind it counts as the function's in front. A table or a
computed jump may lead there, and the function's C would stand for text that it says nothing of.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from porter.context_switch.assemble import Assembly
from porter.context_switch.machines import code_of
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.result import NotTranscribable

_THUMB = frozenset({b"\0\0", b"\0\xbf", b"\xc0\x46", b"\xfe\xe7", b"\xaf\xf3\0\x80"})
_RISCV = frozenset(
    {b"\0\0", b"\1\0", b"\1\xa0", b"\2\x90", b"\x13\0\0\0", b"\x6f\0\0\0", b"\x73\0\x10\0"}
)
"""What fills up or stops, and so may be lost: nop, mov r8, r8, b . and nop.w; c.nop, c.j .,
c.ebreak, nop, j . and ebreak."""


def refuse_unreached(assembly: Assembly, function: Function, end: int) -> None:
    """NotTranscribable for code up to `end` to which nothing leads from any function's start; not
    for what the compiler makes of C behind an asm statement that returns (`return 0;`)."""
    unit = assembly.object
    open_ones = {
        place
        for place in _meaning(unit, function, end)
        if unit.line(function.section, place) not in assembly.compilers
    }
    here = [it for it in unit.functions if it.section == function.section]
    for other in sorted(here, key=lambda it: it != function):
        if not open_ones:
            return
        with suppress(NotTranscribable):
            open_ones -= code_of(assembly, other).covered()
    if not open_ones:
        return
    place = min(open_ones)
    line = unit.line(function.section, place)
    label = unit.name_at(function.section, place) or ""
    where = f"{label}, " if label and not label.startswith(".L") else ""
    if assembly.compilers and line is not None:  # lines of a text that nobody has seen
        where += f"'{assembly.text[line - 1]}'"
    else:
        where += f"line {line}" if line is not None else f"{place - function.start} bytes in"
    raise NotTranscribable(
        f"nothing in it leads to its own code at {where}: if something else does, give the label "
        "there a type (.type NAME, %function); if nothing does, take it out"
    )


def _meaning(unit: ObjectFile, function: Function, end: int) -> Iterator[int]:
    """Places of what may be instructions with a meaning."""
    code = unit.data[function.section][:end]
    place = function.start
    while place + 2 <= len(code):
        first = int.from_bytes(code[place : place + 2], "little")
        is_long = first & 3 == 3 if unit.is_riscv else first >> 11 > 0x1C
        size = 4 if is_long else 2
        fillers = _RISCV if unit.is_riscv else _THUMB
        goes = size == 4 and unit.relocation(function.section, place) is not None
        if unit.is_data(function.section, place):
            size = 2
        elif goes or code[place : place + size] not in fillers:
            yield place
        place += size
