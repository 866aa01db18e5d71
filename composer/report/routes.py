"""The way of every interrupt, from the pin to the function that serves it.

Line, entry and target are read from the image; pins and peripherals from the description.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from composer.chips.chip import Device
from composer.description.model import Irq, section_name
from composer.plan import DomainPlan, Plan, Signal, Vector
from composer.report.colours import colours
from composer.report.material import Material
from composer.simulate.places import Places
from composer.verify.tables import SYSTEM_VECTORS

NOBODY, VCPU, SIGNAL, TRANSPARENT = 0, 1, 2, 0x80  # kinds of kernel/tables.h
COLUMNS = (
    "pin",
    "peripheral",
    "line",
    "kernel stub",
    "mid-section",
    "entry in the domain",
    "handler",
)


@dataclass(frozen=True)
class Step:
    """One box: what it is, and one or two lines on it."""

    column: int
    text: str
    details: tuple[str, ...]
    css: str

    @property
    def full(self) -> str:
        """All of it, for the title."""
        return f"{COLUMNS[self.column]}: {' '.join((self.text, *self.details))}"


@dataclass(frozen=True)
class Way:
    """One interrupt. `fault`: where the image does something else than the description says."""

    name: str
    owner: str
    css: str
    steps: tuple[Step, ...]
    fault: str


@dataclass(frozen=True)
class Soft:
    """A virtual vector that no line leads to."""

    vm: str
    css: str
    number: int
    source: str
    handler: str


def ways(material: Material) -> tuple[Way, ...]:
    """Every line that a domain has, by number."""
    found = [(line, way) for line, way in _ways(material)]
    return tuple(way for _, way in sorted(found, key=lambda pair: pair[0]))


def soft_vectors(material: Material) -> tuple[Soft, ...]:
    """Ticks, switches, supervisor calls and events of every VM."""
    plan, css = material.plan, colours(material.plan)
    senders = {event.number: plan.domains[event.sender].name for event in plan.events}
    sources = {
        "switch": "context switch, asked for by the RTOS",
        "tick": "virtual tick of the kernel",
        "svc": "supervisor call of the VM",
    }
    found = []
    for vm in plan.vms:
        for vector in vm.vectors:
            if vector.handler is None or vector.kind == "irq":
                continue
            source = sources.get(vector.kind, "")
            if vector.kind == "event" and vector.number is not None:
                source = f"event {vector.name} from {senders.get(vector.number, '?')}"
            place = _function(material.places, vm.name, vector.handler)
            handler = f"{vector.handler} {place}".strip()
            found.append(Soft(vm.name, css[vm.name], vector.virt_id, source, handler))
    return tuple(found)


def closed_lines(material: Material) -> int:
    """Lines that the image leads to nobody."""
    led = sum(route.kind != NOBODY for route in material.tables.routes)
    return material.plan.chip.lines - led


def _ways(material: Material) -> Iterator[tuple[int, Way]]:
    plan = material.plan
    for vm in plan.vms:
        irqs = {irq.name: irq for irq in (vm.source.irqs if vm.source else ())}
        for vector in vm.vectors:
            if vector.kind == "irq" and vector.number is not None:
                yield vector.number, _way_to_vm(material, vm, vector, irqs[vector.name])
    split = {v.number for vm in plan.vms for v in vm.vectors if v.split is not None}
    for signal in plan.signals:
        if signal.irq is not None and signal.irq not in split:
            yield signal.irq, _way_to_process(material, signal)


def _way_to_vm(material: Material, vm: DomainPlan, vector: Vector, irq: Irq) -> Way:
    line, color = vector.number or 0, colours(material.plan)[vm.name]
    steps = list(_outside(material, vector.name, line, color))
    route = material.tables.routes[line]
    fault = ""
    if irq.split is None:
        expected = (VCPU | (TRANSPARENT if vector.transparent else 0), vm.vcpu, vector.virt_id)
        if (route.kind, route.target, route.virt_id) != expected:
            fault = f"the image leads line {line} elsewhere: {route}"
    else:
        process = next(d for d in material.plan.domains if d.name == irq.split.process)
        section = section_name(irq.name)
        mid = colours(material.plan)[process.name]
        place = _function(material.places, process.name, section)
        steps.append(Step(4, section, (process.name, place), mid))
        signal = next((s.index for s in material.plan.signals if s.irq == line), None)
        if (route.kind, route.target, route.virt_id) != (SIGNAL, signal, vector.virt_id):
            fault = f"the image leads line {line} elsewhere: {route}"
    mask = "transparent" if vector.transparent else "maskable"
    steps.append(Step(5, vm.name, (f"vector {vector.virt_id}", mask), color))
    place = _function(material.places, vm.name, vector.handler or "")
    steps.append(Step(6, vector.handler or "none", (place,), color))
    return Way(vector.name, vm.name, color, tuple(steps), fault)


def _way_to_process(material: Material, signal: Signal) -> Way:
    domain = material.plan.domains[signal.domain]
    color, line = colours(material.plan)[domain.name], signal.irq or 0
    steps = list(_outside(material, signal.name, line, color))
    route = material.tables.routes[line]
    fault = ""
    if (route.kind, route.target) != (SIGNAL, signal.index):
        fault = f"the image leads line {line} elsewhere: {route}"
    steps.append(Step(5, domain.name, (f"signal {signal.name}",), color))
    threads = ", ".join(thread.function for thread in domain.threads)
    steps.append(Step(6, threads, ("waits for the signal",), color))
    return Way(signal.name, domain.name, color, tuple(steps), fault)


def raising(plan: Plan, irq: str) -> list[Device]:
    """The blocks that raise a line; those that nobody has stay as after a reset."""
    granted = {device.name for domain in plan.system.domains for device in domain.devices}
    return [device for device in plan.chip.raisers(irq) if device.name in granted]


def _outside(material: Material, irq: str, line: int, color: str) -> Iterator[Step]:
    """Pins, peripheral, line and the kernel's entry."""
    plan = material.plan
    devices = raising(plan, irq)
    pins = []
    for domain in plan.domains:
        for pin in domain.source.pins if domain.source else ():
            signals = plan.chip.pins.get(pin.name, {}).get(str(pin.alternate), [])
            pins += [
                f"{pin.name} {signal.removeprefix(device.name).lstrip('_')}"
                for device in devices
                for signal in signals
                if signal.startswith(f"{device.name}_")
            ]
    if pins:
        first, *more = sorted(pins)
        yield Step(
            0, first, tuple(more[:1]) + ((f"{len(more) - 1} more",) if more[1:] else ()), color
        )
    if devices:
        more = [device.name for device in devices[1:]]
        also = (f"and {', '.join(more)}",) if more else ()
        yield Step(1, devices[0].name, (f"0x{devices[0].base:08x}", *also), color)
    yield Step(2, f"line {line}", (irq,), color)
    entry = (material.memory.word(plan.kernel_flash.base + 4 * (SYSTEM_VECTORS + line)) or 0) & ~1
    code = material.places.code("kernel")
    name, _, place = code.place(entry).partition(" ")
    own = f"fvm_stub_{line}"
    details = (place,) if code.address(own) is None else (place, f"calls {own}")
    yield Step(3, name, details, "dk")


def _function(places: Places, part: str, name: str) -> str:
    """`file.c:line` of a function of a part, "" where that isn't known."""
    code = places.code(part)
    address = code.address(name)
    return "" if address is None else code.place(address).removeprefix(f"{name} ")
