"""What BASEPRI keeps of a number: how many bits a priority has is the chip's."""

from __future__ import annotations

from porter.judging.unit import PRIORITY_BITS, Unit

_UPPER_BITS = 0xE0  # of a priority: every core with BASEPRI has them


def kept(unit: Unit, number: int) -> int | None:
    """What BASEPRI keeps of a number: 0 masks nothing. None if that depends on how many bits the
    chip's priorities have, and neither the project nor the description says."""
    byte = number & 0xFF
    written = unit.text.evaluator.macros.all_of(PRIORITY_BITS)
    described = unit.domain.priority_bits if unit.domain is not None else None
    if len(written) == 1 or (not written and described is not None):
        return byte & 0xFF << unit.priority_shift
    return byte if not byte or byte & _UPPER_BITS else None
