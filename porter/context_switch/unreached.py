"""Whether all code of a function is part of it.

Where a label has no type, what stands behind it counts as the function's in front. A table or a
computed jump may lead there, and the function's C would stand for text that it says nothing of.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from porter.context_switch.assemble import Assembly
from porter.context_switch.codes import code_of
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.result import NotTranscribable


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
        size = unit.machine.length(int.from_bytes(code[place : place + 2], "little"))
        goes = size == 4 and unit.relocation(function.section, place) is not None
        if unit.is_data(function.section, place):
            size = 2
        elif goes or code[place : place + size] not in unit.machine.fillers:
            yield place
        place += size
