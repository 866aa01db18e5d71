"""Sizes, times and rates as a description writes them; the schema has checked their form."""

from __future__ import annotations

import re
from fractions import Fraction

_SIZE = {"": 1, "K": 1024, "M": 1024 * 1024}
_TIME = {"us": 1, "ms": 1000, "s": 1000_000}
_RATE = {"Hz": 1, "kHz": 1000, "MHz": 1000_000}


def size(text: str) -> int:
    """Bytes: `48K` -> 49152."""
    return _scaled(text, _SIZE)


def time(text: str) -> int:
    """Microseconds: `5ms` -> 5000."""
    return _scaled(text, _TIME)


def rate(text: str) -> int:
    """Hertz: `8MHz` -> 8000000."""
    return _scaled(text, _RATE)


def show_size(value: int) -> str:
    """`49152` -> `48K`; `1000` -> `1000 B`."""
    for unit in ("M", "K"):
        if value and value % _SIZE[unit] == 0:
            return f"{value // _SIZE[unit]}{unit}"
    return f"{value} B"


def show_time(value: int) -> str:
    """Microseconds in the largest unit that divides them."""
    for unit in ("s", "ms"):
        if value and value % _TIME[unit] == 0:
            return f"{value // _TIME[unit]} {unit}"
    return f"{value} us"


def ticks(microseconds: int, tick_hz: int) -> int:
    """A time in ticks, rounded up."""
    return -(-microseconds * tick_hz // 1_000_000)


def _scaled(text: str, units: dict[str, int]) -> int:
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([A-Za-z]*)", text)
    if match is None or match.group(2) not in units:
        raise ValueError(text)
    value = Fraction(match.group(1)) * units[match.group(2)]
    if value.denominator != 1:
        raise ValueError(text)
    return value.numerator
