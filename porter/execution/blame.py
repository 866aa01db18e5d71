"""Which line a person should look at for a write to a register."""

from __future__ import annotations

from porter.execution.frame import Frame
from porter.execution.program import Where
from porter.execution.words import Pointer, Value, number

_SYSTEM = range(0xE000_E010, 0xE000_E500)  # SysTick and NVIC
_BLOCK_BITS = 10


def chosen_at(
    where: Where, frame: Frame, address: int, value: Value, changed: int
) -> tuple[Where, str]:
    """The line that chose what is written: not inside a helper that is told what to write."""
    name = frame.function.name
    bits = (number(value) or 0) & changed
    while frame.caller is not None and frame.called_at is not None:
        if not any(_says(argument, address, bits) for argument in frame.arguments):
            break
        where, frame = frame.called_at, frame.caller
        name = frame.function.name
    return where, name


def _says(argument: Value, address: int, bits: int) -> bool:
    """Whether an argument tells a helper which register or which bits to write."""
    if isinstance(argument, Pointer):
        if argument.memory is None:
            return _same_block(argument.offset, address)
        return argument.memory.local or any(
            isinstance(cell, Pointer) and cell.memory is None and _same_block(cell.offset, address)
            for cell in argument.memory.cells.values()
        )
    if not isinstance(argument, int):
        return False
    if address in _SYSTEM:
        return True
    return _same_block(argument, address) or (argument != 0 and argument == bits)


def _same_block(one: int | None, other: int) -> bool:
    return one is not None and one >> _BLOCK_BITS == other >> _BLOCK_BITS
