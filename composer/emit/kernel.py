"""What the kernel is built from: fvm_config.h, fvm_tables.c, the stubs of lines, kernel.ld."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from composer.emit.boot import boot_ops, pin_grants
from composer.emit.render import render
from composer.layout.grants import joined
from composer.plan import SIGNAL_FAULT, EventPlan, Plan

_NOBODY = "FVM_NO_INDEX"  # of fvm-runtime/kernel/tables.h


@dataclass(frozen=True)
class Route:
    """struct fvm_route, with its fields as C text."""

    kind: str
    target: int
    virt_id: int
    bottom: int | str
    comment: str


def config_header(plan: Plan) -> str:
    """fvm_config.h."""
    routes, stubs = _routes(plan), _stubs(plan)
    return render(
        "fvm_config.h.j2",
        plan=plan,
        threads=[t for d in plan.domains for t in d.stacked],
        ports=[p for d in plan.domains for p in d.ports],
        process_fpu=any(d.fpu for d in plan.domains if d.vcpu is None),
        capabilities=[c.type for d in plan.domains for c in d.capabilities],
        timers=plan.timers,
        boot=boot_ops(plan),
        pins=pin_grants(plan),
        contexts=_contexts(plan),
        watchdogs=sum(1 for d in plan.vms if d.source and d.source.vm and d.source.vm.watchdog_us),
        deciders=sum(1 for d in plan.domains if d.source and d.source.fault.process),
        vm_lines=len(routes) - len(stubs),
        process_lines=len(stubs),
        fault_signal=SIGNAL_FAULT,
        held_words=_held_words(plan),
    )


def tables(plan: Plan) -> str:
    """fvm_tables.c."""
    routes = _routes(plan)
    last = plan.chip.lines - 1 if routes else 0
    return render(
        "fvm_tables.c.j2",
        plan=plan,
        protection=[plan.unit.initialiser(joined(d.grants), d.fpu) for d in plan.domains],
        threads=[(d, t) for d in plan.domains for t in d.threads],
        ports=[(d, p) for d in plan.domains for p in d.ports],
        routes=routes,
        last_line=None if last in routes else last,
        events=[(e, _event_route(plan, e)) for e in plan.events],
        timers=plan.timers,
        boot=boot_ops(plan),
        pins=pin_grants(plan),
        fault_signals=[plan.fault_signal(d) for d in plan.domains],
        manager_signal=plan.manager_signal if plan.vms else None,
        budget=budget(plan),
        peers=_peers(plan),
        description=hashlib.sha256(plan.system.file.read_bytes()).digest(),
    )


def line_vectors(plan: Plan) -> str:
    """fvm_lines.inc."""
    return render("fvm_lines.inc.j2", plan=plan, stubs=_stubs(plan))


def line_stubs(plan: Plan) -> str:
    """fvm_stubs.c."""
    return render("fvm_stubs.c.j2", stubs=_stubs(plan))


def linker_script(plan: Plan) -> str:
    """kernel.ld."""
    return render("kernel.ld.j2", plan=plan)


def budget(plan: Plan) -> int:
    """Cycles of one slice."""
    return plan.system.kernel.slice_us * plan.cpu_hz // 1_000_000


def _peers(plan: Plan) -> list[int]:
    """For each vCPU the mask of those of its priority, itself included."""
    vms = [d.source.vm for d in plan.vms if d.source and d.source.vm]
    return [
        sum(1 << other for other, vm in enumerate(vms) if vm.priority == one.priority)
        for one in vms
    ]


def _held_words(plan: Plan) -> int:
    """Words of 32 lines in which a VM has one that is less urgent than another VM."""
    vms = [d for d in plan.vms if d.source and d.source.vm]
    most = max((d.source.vm.priority for d in vms if d.source and d.source.vm), default=0)
    lines = {
        vector.number
        for domain in vms
        if domain.source and domain.source.vm and domain.source.vm.priority < most
        for vector in domain.vectors
        if vector.kind == "irq" and vector.split is None and vector.number is not None
    }
    return sum(1 << word for word in {line // 32 for line in lines})


def _contexts(plan: Plan) -> dict[str, int]:
    """How many threads' contexts the kernel keeps: all but USR's, with and without FPU."""
    kept = {"fpu": 0, "core": 0}
    for domain in plan.domains:
        own = 0 if domain.vcpu is None else 1
        kept["fpu" if domain.fpu else "core"] += len(domain.threads) - own + len(domain.ports)
    return kept


def _routes(plan: Plan) -> dict[int, Route]:
    routes = {}
    for domain in plan.vms:
        for vector in domain.vectors:
            if vector.kind != "irq" or vector.split is not None:
                continue
            if vector.number is not None and domain.vcpu is not None:
                kind = "FVM_ROUTE_VCPU"
                if vector.transparent:
                    kind += " | FVM_ROUTE_TRANSPARENT"
                comment = f"{vector.name}: {domain.name}"
                routes[vector.number] = Route(kind, domain.vcpu, vector.virt_id, _NOBODY, comment)
    bottoms = {
        vector.number: (vector.virt_id, domain.vcpu or 0)
        for domain in plan.vms
        for vector in domain.vectors
        if vector.kind == "irq" and vector.split is not None
    }
    for signal in plan.signals:
        if signal.irq is not None:
            comment = f"{signal.name}: {plan.domains[signal.domain].name}"
            virt_id, bottom = bottoms.get(signal.irq, (0, _NOBODY))
            routes[signal.irq] = Route("FVM_ROUTE_SIGNAL", signal.index, virt_id, bottom, comment)
    return routes


def _stubs(plan: Plan) -> dict[int, Route]:
    """The lines that send a signal, in their order."""
    routes = _routes(plan)
    return {line: routes[line] for line in sorted(routes) if "SIGNAL" in routes[line].kind}


def _event_route(plan: Plan, event: EventPlan) -> Route:
    receiver = plan.domains[event.receiver]
    if event.signal is not None:
        return Route("FVM_ROUTE_SIGNAL", event.signal, 0, _NOBODY, event.name)
    return Route("FVM_ROUTE_VCPU", receiver.vcpu or 0, event.virt_id or 0, _NOBODY, event.name)
