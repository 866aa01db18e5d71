"""What is allowed but probably not meant. Said on stderr, never an error."""

from __future__ import annotations

from composer.chips.chip import Chip
from composer.description.model import Domain, Place, System

_FP_FRAME_BYTES = 136  # larger exception frame (72) and S16-S31 (64)


def advice(system: System, chip: Chip) -> list[str]:
    """One line each: `file:line:col: what, and what to do`."""
    lines: list[str] = []
    if not system.kernel.protection:
        lines.append(
            _line(
                system.kernel.place,
                'protection="off": every domain can write every other',
                "for control experiments only",
            )
        )
    clocked = {clock.name for domain in system.domains for clock in domain.clock_names}
    for domain in system.domains:
        for device in domain.devices:
            if chip.devices[device.name].enable and device.name not in clocked:
                what = f"'{device.name}' is granted to '{domain.name}' but its clock stays off"
                lines.append(_line(device.place, what, f'add <clock name="{device.name}"/>'))
        if domain.vm is not None:
            lines += _vm_advice(domain)
    return lines


def _vm_advice(domain: Domain) -> list[str]:
    if not (domain.vm and domain.vm.switch and domain.fpu):
        return []
    return [
        _line(
            domain.place,
            f"in '{domain.name}' every task's stack must hold {_FP_FRAME_BYTES} bytes more than"
            " without FPU, tasks that don't calculate included",
            "a task can't give the FPU back once another has used it: check the stack sizes",
        )
    ]


def _line(place: Place, what: str, hint: str) -> str:
    return str(place.error(what, hint))
