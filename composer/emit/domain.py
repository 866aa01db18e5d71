"""What a domain is built from: fvm_domain.h, fvm_startup.c, its linker script."""

from __future__ import annotations

from composer.emit.boot_state import boot_registers
from composer.emit.render import render
from composer.plan import DomainPlan, Plan, Vector


def header(plan: Plan, domain: DomainPlan) -> str:
    """fvm_domain.h."""
    return render(
        "fvm_domain.h.j2",
        plan=plan,
        domain=domain,
        events=[e for e in plan.events if domain.index in (e.sender, e.receiver)],
        shared=[s for s in plan.shared if domain.index in s.access],
        splits=_splits(domain),
        reads_log=domain.source is not None and plan.system.reads_log(domain.source),
        registers=boot_registers(plan),
    )


def startup(plan: Plan, domain: DomainPlan) -> str:
    """fvm_startup.c."""
    if domain.vcpu is None:
        return render("fvm_startup_process.c.j2", domain=domain)
    handlers = dict.fromkeys(v.handler for v in domain.vectors if v.handler)
    return render(
        "fvm_startup_vm.c.j2",
        domain=domain,
        handlers=list(handlers),
        entry=domain.source.project.entry if domain.source else "main",
        sent=[e for e in plan.events if e.sender == domain.index],
        splits=_splits(domain),
    )


def _splits(domain: DomainPlan) -> list[Vector]:
    """Its vectors whose lines a process serves first."""
    return [v for v in domain.vectors if v.split is not None]


def linker_script(domain: DomainPlan) -> str:
    """<name>.ld."""
    return render(
        "domain.ld.j2",
        domain=domain,
        stacks=sum(stacked.stack for stacked in domain.stacked),
        heap=domain.source.heap if domain.source else 0,
    )
