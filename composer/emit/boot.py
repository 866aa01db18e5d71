"""The merged clock and pin set-up, and the pins that domains may set and read at run time."""

from __future__ import annotations

from dataclasses import dataclass

from composer.chips.family import BootOp, family_of
from composer.plan import Plan


@dataclass(frozen=True)
class PinGrant:
    """A domain's pins of one port (struct fvm_pin_grant); `mask`: outputs that it may set."""

    domain: int
    port: int
    mask: int
    own: int
    address: int


def boot_ops(plan: Plan) -> list[BootOp]:
    """Clock tree, then block clocks, then pins: each register once."""
    family = family_of(plan.chip)
    pins = [*plan.system.kernel.pins, *(p for d in plan.system.domains for p in d.pins)]
    devices = {family.pin_port(pin) for pin in pins}
    devices |= {plan.system.kernel.console} if plan.system.kernel.console else set()
    devices |= {clock.name for d in plan.system.domains for clock in d.clock_names}
    enables: dict[int, int] = {}
    for name in devices:
        enable = plan.chip.devices[name].enable
        if enable is not None:
            enables[enable[0]] = enables.get(enable[0], 0) | 1 << enable[1]
    ops = family.clock_ops(plan.clocks, plan.chip) if plan.clocks else []
    ops += [
        BootOp("MODIFY", address, bits, bits, 0, "block clocks on")
        for address, bits in sorted(enables.items())
    ]
    return ops + family.pin_ops(pins, plan.chip)


def pin_grants(plan: Plan) -> list[PinGrant]:
    """One grant a domain and port."""
    family = family_of(plan.chip)
    grants = []
    for domain in plan.domains:
        ports: dict[str, tuple[int, int]] = {}
        for pin in domain.source.pins if domain.source else ():
            mask, own = ports.get(pin.port, (0, 0))
            bit = 1 << pin.number
            ports[pin.port] = (mask | bit if pin.runtime else mask, own | bit)
        for port, (mask, own) in sorted(ports.items()):
            address = family.pin_set_address(port, plan.chip)
            grants.append(PinGrant(domain.index, ord(port) - ord("A"), mask, own, address))
    return grants
