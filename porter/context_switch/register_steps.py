"""What an instruction of an assembler function does with registers, alike for all machines."""

from __future__ import annotations

from dataclasses import dataclass

from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.result import NotTranscribable


@dataclass(frozen=True)
class Step:
    """`reads` and `writes` leave out sp, what is copied (`move`: to, from), and what goes to the
    stack or comes from it (`saves`, `loads`: bytes from sp in front of it, register). `moves_sp`:
    by bytes, None for an unknown number. `shows`: sp goes where nobody follows it, into another
    register or an address. `target`: of a call or of a jump that leaves, "" where nobody knows;
    `place`: where a call goes that begins no function. `calculates`: a jump's target, which may be
    in the function. `takes`: an address in this section that goes into a register. `maybe`: under
    a condition."""

    reads: frozenset[str]
    writes: frozenset[str]
    following: tuple[int, ...]
    maybe: bool = False
    move: tuple[str, str] | None = None
    saves: tuple[tuple[int, str], ...] = ()
    loads: tuple[tuple[int, str], ...] = ()
    moves_sp: int | None = 0
    shows: bool = False
    calls: bool = False
    leaves: bool = False
    returns: bool = False
    target: str = ""
    place: int | None = None
    calculates: bool = False
    takes: int | None = None


def within_section(unit: ObjectFile, function: Function, steps: dict[int, Step]) -> dict[int, Step]:
    """The steps of a function. NotTranscribable where it runs off the end of its section: what
    comes there, only the linker knows."""
    end = len(unit.data[function.section])
    waiting, seen = [function.start], set[int]()
    while waiting:
        place = waiting.pop()
        if place >= end:
            raise NotTranscribable(f"{function.name} runs on where its section ends")
        if place not in seen:
            seen.add(place)
            waiting += steps[place].following if place in steps else ()
    return steps


def elsewhere(unit: ObjectFile, function: Function, target: int | None) -> str:
    """The name of another function that begins at a place of this section."""
    for other in unit.functions:
        if other.section == function.section and other.start == target != function.start:
            return other.name
    return ""
