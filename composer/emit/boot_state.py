"""Registers as the boot table leaves them: what a machine may take for known without reading."""

from __future__ import annotations

from dataclasses import dataclass

from composer.chips.family import family_of
from composer.emit.boot import boot_ops
from composer.plan import Plan


@dataclass(frozen=True)
class BootRegister:
    """`known`: bits that are the same after every start; the others are 0 in `value`."""

    name: str
    address: int
    value: int
    known: int


def boot_registers(plan: Plan) -> list[BootRegister]:
    """Reset values, changed by the boot table step by step."""
    state = family_of(plan.chip).reset_state(plan.chip)
    for op in boot_ops(plan):
        if op.address in state:
            name, value, known = state[op.address]
            state[op.address] = name, value & ~op.mask | op.value & op.mask, known | op.mask
    return [
        BootRegister(f"FVM_{name}", address, value & known, known)
        for address, (name, value, known) in sorted(state.items())
    ]
