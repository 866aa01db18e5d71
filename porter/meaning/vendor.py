"""Whose chip a file is written for, as far as rules have to know."""

from __future__ import annotations

import re

from porter.judging.unit import Unit

_STM32 = re.compile(rb"STM32\w*|RCC_CR_HSEON")
_DEVICE_HEADER = re.compile(rb"__CM\d+\w*_REV|__NVIC_PRIO_BITS")


def is_stm32(unit: Unit) -> bool:
    """Whether the headers that it sees, or else the description, are of an STM32."""
    names = unit.text.evaluator.macros
    if any(_STM32.fullmatch(name) for name in names):
        return True
    if any(_DEVICE_HEADER.fullmatch(name) for name in names):
        return False  # the header of another vendor's chip
    return unit.domain is not None and unit.domain.chip.startswith("STM32")
