"""Cortex-M's own exceptions by the names that headers give their numbers (Armv7-M ARM B1.5.2).

CMSIS writes `PendSV_IRQn`, libopencm3 `NVIC_PENDSV_IRQ`. Where the header isn't there, the name
still says that it is no line of a device.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"(?:NVIC_)?(\w+)_IRQn?")
_NUMBERS = {
    "nmi": -14, "nonmaskableint": -14, "hardfault": -13, "memmanage": -12,
    "memorymanagement": -12, "busfault": -11, "usagefault": -10, "securefault": -9,
    "svcall": -5, "svc": -5, "debugmonitor": -4, "debugmon": -4, "pendsv": -2, "systick": -1,
}  # fmt: skip


def exception_named(name: str) -> int | None:
    """What CMSIS numbers an exception by, below all lines; None for other names."""
    match = _NAME.fullmatch(name)
    return _NUMBERS.get(match[1].replace("_", "").lower()) if match is not None else None
