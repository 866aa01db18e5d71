"""The hypervisor's policy tables: hyp_config.h and hyp_config.c."""

from __future__ import annotations

from dataclasses import dataclass

from composer.chips.family import family_of
from composer.emit.kernel import budget
from composer.emit.render import render
from composer.plan import LOG_SIGNAL, Plan

_LOG_IDLE = 15  # times the period while it writes: no further than the kernel's wheel of 16 ticks


@dataclass(frozen=True)
class _Event:
    number: int
    sender: str
    receiver: str
    virt_id: int
    name: str


def policy_header(plan: Plan) -> str:
    """hyp_config.h."""
    family, kernel = family_of(plan.chip), plan.system.kernel
    frequencies = family.frequencies(plan.clocks, plan.chip)
    return render(
        "hyp_config.h.j2",
        plan=plan,
        caps=_capabilities(plan),
        signals=_timers(plan),
        log_idle=_log_idle(plan),
        routes=_routes(plan),
        console=kernel.console and plan.chip.devices[kernel.console].base,
        divider=kernel.console
        and family.baud_divider(kernel.console, kernel.baud, frequencies, plan.chip),
    )


def policy_tables(plan: Plan) -> str:
    """hyp_config.c."""
    return render(
        "hyp_config.c.j2",
        plan=plan,
        caps=_capabilities(plan),
        signals=_timers(plan),
        routes=_routes(plan),
        events=[
            _Event(e.number, _vcpu(plan, e.sender), _vcpu(plan, e.receiver), e.virt_id or 0, e.name)
            for e in plan.events
        ],
        budget=budget(plan),
    )


def _capabilities(plan: Plan) -> dict[str, int]:
    """Numbers by name."""
    return {c.name: number for number, c in enumerate(plan.domains[0].capabilities)}


def _timers(plan: Plan) -> list[object]:
    return [s for s in plan.timers if s.domain]


def _log_idle(plan: Plan) -> int | None:
    """Kernel ticks between two looks of the log while there is nothing to write."""
    own = [s for s in plan.timers if s.domain == 0 and s.name == LOG_SIGNAL]
    return own[0].period_ticks * _LOG_IDLE if own and own[0].period_ticks else None


def _routes(plan: Plan) -> list[tuple[int | None, object]]:
    return [(d.vcpu, v) for d in plan.vms for v in d.vectors if v.kind == "irq" and v.split is None]


def _vcpu(plan: Plan, domain: int) -> str:
    vcpu = plan.domains[domain].vcpu
    return "HYP_NO_VCPU" if vcpu is None else str(vcpu)
