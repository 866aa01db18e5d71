"""What is allowed but probably not meant. Said on stderr, never an error."""

from __future__ import annotations

from collections.abc import Iterator

from composer.chips.chip import Chip
from composer.description.model import Domain, Place, System, VmPart

_MICROSECONDS = 1_000_000
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
        lines += _silent_lines(domain, chip)
        if domain.vm is not None:
            lines += _vm_advice(domain)
            lines += _lost_ticks(system, domain, domain.vm)
    return lines


def _silent_lines(domain: Domain, chip: Chip) -> Iterator[str]:
    """Lines that stay down, since the domain has no block that raises them."""
    names = {device.name for device in (*domain.devices, *domain.borrowed)}
    for irq in domain.irqs:
        raisers = chip.raisers(irq.name)
        free = [block.name for block in raisers if not block.nobody]
        why, add = "", "remove it"
        if irq.name in chip.lines_of_fpu:
            if not domain.fpu:
                why, add = ", which has no FPU", 'write fpu="yes"'
        elif not raisers:
            why = f": {chip.lines_without_block[irq.name]}"
        elif not free:
            why = f": {raisers[0].name} can't be granted"
        elif not names.intersection(free):
            why, add = f", which has no {' and no '.join(free)}", f'add <device name="{free[0]}"/>'
        if why:
            what = f"nothing raises interrupt '{irq.name}' of '{domain.name}'{why}"
            yield _line(irq.place, what, f"{add}, unless the domain only pends it itself")


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


def _lost_ticks(system: System, domain: Domain, vm: VmPart) -> Iterator[str]:
    """A VM may wait for two budgets of each other one (docs/runtime.md, Time)."""
    others = len(system.vms) - 1
    wait_us = 2 * others * system.kernel.slice_us
    ticks = wait_us * vm.tick_hz // _MICROSECONDS
    if ticks > vm.catchup:
        whom = "another VM that computes" if others == 1 else f"{others} VMs that compute"
        yield _line(
            domain.place,
            f"'{domain.name}' may wait {wait_us / 1000:g} ms for {whom}, {ticks} of its ticks, and"
            f" catches up {vm.catchup}; the others would be dropped",
            f'write catchup="{ticks}" or a shorter slice, unless it can do without them',
        )


def _line(place: Place, what: str, hint: str) -> str:
    return str(place.error(what, hint))
