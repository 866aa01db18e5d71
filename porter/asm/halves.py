"""Words that MOVW and MOVT put together, of numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from porter.source.asm_text import Instruction

_LOW = 0xFFFF


def joined(
    text: Iterable[Instruction], value: Callable[[str], int | None]
) -> Iterator[tuple[Instruction, int]]:
    """Each MOVT behind a MOVW of its register, or alone, with the word that is there then. `value`:
    the number that an operand is, None for something else."""
    lower: dict[str, int] = {}
    for it in text:
        if it.base not in ("movw", "movt") or len(it.operands) != 2:
            continue
        register, number = it.operands[0], value(it.operands[1].lstrip("#= \t"))
        if number is None:
            lower.pop(register, None)
        elif it.base == "movw":
            lower[register] = number & _LOW
        else:
            yield it, (number & _LOW) << 16 | lower.get(register, 0)
