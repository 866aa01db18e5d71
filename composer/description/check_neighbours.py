"""Hardware that reaches past its owner: lines of several blocks, blocks that need others, pins.

A line follows a level: a block holds it up until its own domain quiets it, whoever has the line.
Until lines and blocks can be shared, all that hangs together belongs to one domain. A VM and the
process that runs its mid-sections count as one for the lines that are split between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from composer.chips.chip import Chip, Device
from composer.description.model import Irq, Pin, Place, System

_MOST_NAMES = 4  # of blocks that could be used instead


@dataclass(frozen=True)
class _Owner:
    """Who has a block, and where it says so; no domain: it is the log console."""

    domain: str | None
    place: Place

    def __str__(self) -> str:
        return _who(self.domain)

    @property
    def with_line(self) -> str:
        """For the other end of a message that stands elsewhere."""
        return f"which {self} has (line {self.place.line})"


@dataclass(frozen=True)
class _Line:
    """A granted line: the domain that asks for it, and all that serve it."""

    irq: Irq
    domain: str
    servers: frozenset[str]


def check_neighbours(system: System, chip: Chip) -> None:
    """Raise where one domain could hold up a line of another one, or change its blocks or pins."""
    owners = _owners(system)
    for line in _lines(system):
        _check_raisers(line, owners, chip)
        _check_fpu(line, system, chip)
    for name, owner in owners.items():
        for other, why in chip.devices[name].depends.items():
            if other in owners and owners[other].domain != owner.domain:
                raise owner.place.error(
                    f"'{name}' of {owner} depends on '{other}', {owners[other].with_line}: {why}",
                    "give both to one domain",
                )
        for pin, domain in _pins(system):
            if pin.name in chip.devices[name].drives and domain != owner.domain:
                raise pin.place.error(
                    f"pin {pin.name} of {_who(domain)} can be driven by '{name}',"
                    f" {owner.with_line}, whatever it is set up for",
                    "give both to one domain, or use another pin",
                )


def _pins(system: System) -> Iterator[tuple[Pin, str | None]]:
    """All that are set up, with their domains; None is the log console."""
    yield from ((pin, None) for pin in system.kernel.pins)
    for domain in system.domains:
        yield from ((pin, domain.name) for pin in domain.pins)


def _who(domain: str | None) -> str:
    return "the log console" if domain is None else f"'{domain}'"


def _owners(system: System) -> dict[str, _Owner]:
    """By block. What a mid-section borrows stays its VM's."""
    console = system.kernel.console
    owners = {console: _Owner(None, system.kernel.place)} if console else {}
    for domain in system.domains:
        owners |= {device.name: _Owner(domain.name, device.place) for device in domain.devices}
    return owners


def _lines(system: System) -> Iterator[_Line]:
    """Each once, at the domain that the description gives it to."""
    shared = {
        irq.name: frozenset((vm.name, irq.split.process))
        for vm in system.vms
        for irq in vm.irqs
        if irq.split is not None
    }
    for domain in system.domains:
        for irq in domain.irqs:
            if irq.name not in shared:
                yield _Line(irq, domain.name, frozenset((domain.name,)))
            elif irq.split is not None:
                yield _Line(irq, domain.name, shared[irq.name])


def _check_raisers(line: _Line, owners: dict[str, _Owner], chip: Chip) -> None:
    name, raisers = line.irq.name, chip.raisers(line.irq.name)
    for block in raisers:
        owner = owners.get(block.name)
        if owner is not None and owner.domain not in line.servers:
            together = [f"'{other.name}'" for other in raisers if other.name in owners]
            raise line.irq.place.error(
                f"interrupt '{name}' of '{line.domain}' can be held up for ever by '{block.name}',"
                f" {owner.with_line}",
                f"a line can't be shared: give it and {' and '.join(together)} to one domain"
                + _instead(block, owners, chip),
            )


def _instead(block: Device, owners: dict[str, _Owner], chip: Chip) -> str:
    """Blocks of the same kind that nobody has and that share no line."""
    free = [
        device.name
        for device in chip.devices.values()
        if device.kind == block.kind and not device.nobody and device.name not in owners
        if device.interrupts and all(len(chip.raisers(line)) == 1 for line in device.interrupts)
    ]
    more = ", ..." if len(free) > _MOST_NAMES else ""
    names = ", ".join(free[:_MOST_NAMES])
    return f", or use a block with a line of its own: {names}{more}" if free else ""


def _check_fpu(line: _Line, system: System, chip: Chip) -> None:
    """The flags of a calculation raise a line too, whoever calculates."""
    if line.irq.name not in chip.lines_of_fpu:
        return
    for domain in system.domains:
        if domain.fpu and domain.name not in line.servers:
            raise line.irq.place.error(
                f"interrupt '{line.irq.name}' of '{line.domain}' can be held up for ever by what"
                f" '{domain.name}' (line {domain.place.line}) calculates",
                f"write fpu=\"no\" for '{domain.name}', or remove the line",
            )
