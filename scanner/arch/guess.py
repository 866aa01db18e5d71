"""What a program is written for that says nothing of its core: hex files and raw binaries."""

from __future__ import annotations

import numpy as np

from scanner.arch.registry import DEFAULTS
from scanner.image.model import Image

_RISCV = 243
_BX_LR, _C_JR_RA = 0x4770, 0x8082
"""How functions return. Either is rare among the other's instructions, and among data."""


def guessed_architecture(image: Image) -> str:
    """The smallest architecture that such a machine is known by; for no machine, the likelier."""
    machine = image.machine
    if machine is None and _count(image, _C_JR_RA) > _count(image, _BX_LR):
        machine = _RISCV
    return DEFAULTS[machine]


def _count(image: Image, instruction: int) -> int:
    found = 0
    for segment in image.segments:
        if segment.executable:
            halfwords = np.frombuffer(segment.data, dtype="<u2", count=len(segment.data) // 2)
            found += int(np.count_nonzero(halfwords == instruction))
    return found
