"""One writer for each control register, and no read elsewhere of what the mid-section takes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from porter.interrupt_split.capture import Field
from porter.interrupt_split.effects import cleared_by, is_consuming_read
from porter.interrupt_split.expression import ALL_BITS, Expr
from porter.interrupt_split.touches import Touch


@dataclass(frozen=True)
class Writers:
    """Names of the registers that each side writes, and where the two meet."""

    middle: tuple[str, ...]
    vm: tuple[str, ...]
    conflicts: tuple[str, ...]


Reaches = Callable[[str], bool]
"""Whether the machine can get to a function."""


def compare(
    touches: Iterable[Touch],
    fields: Sequence[Field],
    acknowledgements: Sequence[Expr],
    moved: set[tuple[str, int, str]],
    reaches: Reaches,
    gone: set[tuple[str, str]],
    handlers: frozenset[str],
) -> Writers:
    """`moved`: (file, line, register) of the accesses that the mid-section does now; `gone`: (file,
    function) of helpers that nothing calls any more; `handlers`: functions that only call what
    serves the interrupt."""
    middle: dict[str, int] = {}
    for one in acknowledgements:
        if one.register is not None:
            bits = cleared_by(one).bits
            bits = ALL_BITS if bits is None else bits
            middle[one.register.name] = middle.get(one.register.name, 0) | bits
    taken = {
        field.register.name for field in fields for read in field.reads if is_consuming_read(read)
    }
    vm: set[str] = set()
    conflicts: list[str] = []
    for touch in touches:
        if not reaches(touch.function.name):
            continue
        file = touch.function.text.file.name
        if (file, touch.function.name) in gone:
            continue
        name = touch.register.name if touch.register is not None else ""
        where = (file, touch.line)
        if touch.origin is not None and touch.function.name in handlers:
            where = touch.origin
        is_moved = bool(name) and (*where, name) in moved
        if is_moved and (touch.use == "read" or name in middle):
            continue
        others = touch.clears is not None and not touch.clears & middle.get(name, 0)
        if touch.use == "write" and name in middle and others:
            continue  # of another cause, in a register that is written whole
        if touch.use == "write" and name:
            vm.add(name)
        reason = _conflict(touch, name, middle, taken)
        if reason:
            conflicts.append(f"{touch.place}: {reason}")
    return Writers(tuple(sorted(middle)), tuple(sorted(vm)), tuple(dict.fromkeys(conflicts)))


def _conflict(touch: Touch, name: str, middle: Mapping[str, int], taken: set[str]) -> str:
    where = f"{touch.text.strip()} in {touch.function.name}"
    if touch.register is not None and not touch.certain:
        where = f"{where}, if its pointer leads to the device,"
    if touch.register is None and touch.use == "address":
        return (
            f"{where} is given the device's address, and what it does can't be followed: use the "
            "registers themselves, or a pointer to their struct"
        )
    if touch.register is None:
        return (
            f"{where} reaches registers through a pointer that may be the device's: use a "
            "constant pointer, so that it can be told"
        )
    if touch.use == "write" and name in middle:
        return (
            f"{where} writes {name}, which the mid-section writes: leave it to the mid-section, "
            "which clears what is pending when the line is opened"
        )
    if touch.use == "read" and name in taken:
        return (
            f"{where} takes out of {name} what the mid-section is to take: leave it to the handler"
        )
    if touch.use == "address" and (name in taken or name in middle):
        return f"{where}: who reads through this address can't be told; a DMA stream can't share it"
    return ""
