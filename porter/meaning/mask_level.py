"""What BASEPRI keeps of a number: how many bits a priority has is the chip's."""

from __future__ import annotations

import re

from porter.judging.unit import PRIORITY_BITS, Unit
from porter.source.macros import Macro

_NUMBER = re.compile(rb"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")

_UPPER_BITS = 0xE0  # of a priority: every core with BASEPRI has them


def kept(unit: Unit, number: int) -> int | None:
    """What BASEPRI keeps of a number: 0 masks nothing. None if that depends on how many bits the
    chip's priorities have, and neither the project nor the description says."""
    byte = number & 0xFF
    written = unit.text.evaluator.macros.all_of(PRIORITY_BITS)
    described = unit.domain.priority_bits if unit.domain is not None else None
    if len({spelt(it) for it in written}) == 1 or (not written and described is not None):
        return byte & 0xFF << unit.priority_shift
    return byte if not byte or byte & _UPPER_BITS else None


def spelt(macro: Macro) -> object:
    """What a macro says, the same for a number however it is written: `4`, `(4U)`, `0x4`."""
    text = b"".join(macro.text).strip(b"()")
    number = _NUMBER.fullmatch(text)
    return int(number.group(1), 0) if number is not None else macro.text
