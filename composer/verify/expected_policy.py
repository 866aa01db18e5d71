"""What the description implies for the hypervisor's policy tables."""

from __future__ import annotations

from composer.verify.expected import CAP_DOMAIN, CAP_VCPU, CONTROL, Expected
from composer.verify.policy import PolicyDomain, PolicyEvent, PolicyRoute, PolicyVcpu
from composer.verify.tables import NO_INDEX, Capability

RESTART, STOP, OTHERS = range(3)


class ExpectedPolicy:
    """The tables as they should be."""

    def __init__(self, expected: Expected) -> None:
        self._expected = expected

    def _cap(self, kind: int, index: int, rights: int = CONTROL) -> int:
        """The hypervisor's capability of a domain or a vCPU; 0 where it has none."""
        wanted = Capability(kind, rights, index)
        own = self._expected.domains[0].capabilities
        return own.index(wanted) if wanted in own else 0

    def _vcpu(self, domain: int) -> int:
        first = self._expected.first_vm
        return domain - first if domain >= first else NO_INDEX

    def domains(self) -> tuple[PolicyDomain, ...]:
        """What becomes of each domain after a fault."""
        return tuple(self._domain(index) for index in range(len(self._expected.sources)))

    def _domain(self, index: int) -> PolicyDomain:
        source, ticks = self._expected.sources[index], self._expected.ticks
        rights = self._expected.domain_rights(index)
        cap, vcpu = self._cap(CAP_DOMAIN, index, rights), self._vcpu(index)
        if source is None:
            return PolicyDomain(cap, vcpu, OTHERS)
        fault = source.fault
        if fault.action == "stop":
            return PolicyDomain(cap, vcpu, STOP)
        times = (ticks(fault.within_us), ticks(fault.delay_us), ticks(fault.longest_us))
        action = RESTART if fault.process is None else OTHERS
        return PolicyDomain(cap, vcpu, action, int(fault.starting), fault.most, *times)

    def vcpus(self) -> tuple[PolicyVcpu, ...]:
        """Budgets."""
        return tuple(
            PolicyVcpu(self._cap(CAP_VCPU, index), vcpu.budget)
            for index, vcpu in enumerate(self._expected.vcpus())
        )

    def routes(self) -> tuple[PolicyRoute, ...]:
        """Lines that VMs may bind, each in the order of its VM."""
        numbers = self._expected.chip.interrupts
        return tuple(
            PolicyRoute(vcpu, vectors[irq.name], numbers[irq.name])
            for vcpu, vm in enumerate(self._expected.system.vms)
            for vectors in (self._expected.irq_vectors(self._expected.first_vm + vcpu),)
            for irq in vm.irqs
            if irq.split is None
        )

    def events(self) -> tuple[PolicyEvent, ...]:
        """Events that VMs may bind or send; without VMs nobody asks."""
        if not self._expected.system.vms:
            return ()
        routes = [entry.route for entry in self._expected.events()]
        return tuple(
            PolicyEvent(n, self._vcpu(e.sender), self._vcpu(e.receiver), route.virt_id)
            for n, (e, route) in enumerate(zip(self._expected.all_events, routes, strict=True))
        )
