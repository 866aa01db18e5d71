"""Can a domain hold up a line of another one, or change its blocks or pins?

Asked of the addresses that the protection registers open and of the routes in the image, so that
it doesn't matter by which name, or by what error, a domain got there.
"""

from __future__ import annotations

from collections.abc import Iterator

from composer.verify.checks.protection import FPU_FOR_ALL, decoded
from composer.verify.expected import TO_SIGNAL, TO_VCPU, TRANSPARENT
from composer.verify.subject import Subject
from composer.verify.tables import NO_INDEX, Route


def check_neighbours(subject: Subject) -> Iterator[str]:
    """Lines that somebody else's blocks raise; blocks and pins that somebody else can change."""
    holders = _holders(subject)
    yield from _lines(subject, holders)
    names = subject.expected.names
    for block in subject.chip.devices.values():
        for pin, neighbour in _pins(subject):
            if pin in block.drives:
                for index in sorted(holders[block.name] - {neighbour}):
                    yield (
                        f"'{names[index]}' has {block.name}, which can drive {pin} of"
                        f" '{names[neighbour]}'"
                    )
        for other in block.depends:
            for index in sorted(holders[block.name]):
                for neighbour in sorted(holders.get(other, set()) - {index}):
                    yield (
                        f"'{names[index]}' has {block.name}, which depends on {other} of"
                        f" '{names[neighbour]}'"
                    )


def _lines(subject: Subject, holders: dict[str, set[int]]) -> Iterator[str]:
    names, chip = subject.expected.names, subject.chip
    calculating = {i for i, row in enumerate(subject.tables.domains) if row.cpacr & FPU_FOR_ALL}
    routes = subject.tables.routes  # none, where no line goes anywhere
    for name, line in chip.interrupts.items():
        servers = _servers(subject, routes[line]) if line < len(routes) else set()
        if not servers:
            continue
        what = f"interrupt line {line} ({name}) of {_listed(subject, servers)}"
        for block in chip.raisers(name):
            for index in sorted(holders[block.name] - servers):
                yield f"{what}: '{names[index]}' has {block.name}, which raises it"
        for index in sorted(calculating - servers) if name in chip.lines_of_fpu else ():
            yield f"{what}: '{names[index]}' has the FPU, whose flags raise it"


def _pins(subject: Subject) -> Iterator[tuple[str, int]]:
    """Pins that are set up, with their domains; the log's are the hypervisor's."""
    yield from ((pin.name, 0) for pin in subject.system.kernel.pins)
    for domain in subject.system.domains:
        index = subject.expected.names.index(domain.name)
        yield from ((pin.name, index) for pin in domain.pins)


def _holders(subject: Subject) -> dict[str, set[int]]:
    """Block -> domains that reach it. A mid-section's reach of its VM's block is the VM's."""
    indices = {name: index for index, name in enumerate(subject.expected.names)}
    lent = {
        (indices[irq.split.process], irq.split.device): indices[vm.name]
        for vm in subject.system.vms
        for irq in vm.irqs
        if irq.split is not None
    }
    units = decoded(subject)
    return {
        block.name: {
            lent.get((index, block.name), index)
            for index, unit in enumerate(units)
            for area in unit.areas
            if area.start < block.base + block.size and block.base < area.end
        }
        for block in subject.chip.devices.values()
    }


def _servers(subject: Subject, route: Route) -> set[int]:
    """The domains that a line leads to: with a split, a process and the VM behind it."""
    expected, found = subject.expected, set()
    if route.kind & ~TRANSPARENT == TO_VCPU:
        found.add(expected.first_vm + route.target)
    elif route.kind == TO_SIGNAL:
        found |= {index for (index, _), n in expected.signals.items() if n == route.target}
        if route.bottom != NO_INDEX:
            found.add(expected.first_vm + route.bottom)
    return {index for index in found if index < len(expected.names)}


def _listed(subject: Subject, domains: set[int]) -> str:
    return " and ".join(f"'{subject.expected.names[index]}'" for index in sorted(domains))
