"""Who goes first, and what becomes of a domain after a fault: as described."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from composer.description.model import Domain
from composer.description.units import show_time
from composer.plan import DomainPlan, Plan
from composer.report.colours import colours


@dataclass(frozen=True)
class Policy:
    """A row of the table."""

    name: str
    css: str
    priority: str
    watchdog: str
    fault: str
    log: str


def policies(plan: Plan) -> tuple[Policy, ...]:
    """Every domain, in the order of the image."""
    css = colours(plan)
    return tuple(
        Policy(
            domain.name,
            css[domain.name],
            _priority(domain),
            _watchdog(domain),
            "the chip is reset" if domain.source is None else "; ".join(_fault(domain.source)),
            "" if domain.source is None else _log(plan, domain.source),
        )
        for domain in plan.domains
    )


def _priority(domain: DomainPlan) -> str:
    if domain.source is not None and domain.source.vm is not None:
        return f"VM {domain.source.vm.priority}"
    return ", ".join(str(thread.priority) for thread in domain.threads)


def _watchdog(domain: DomainPlan) -> str:
    vm = domain.source.vm if domain.source else None
    return show_time(vm.watchdog_us) if vm is not None and vm.watchdog_us else ""


def _fault(domain: Domain) -> Iterator[str]:
    policy = domain.fault
    if policy.action == "stop":
        yield "it stays stopped"
        return
    yield "it is restarted" if policy.process is None else f"{policy.process} decides"
    if policy.delays:
        first, last = show_time(policy.delay_us), show_time(policy.longest_us)
        yield f"the second time within {show_time(policy.within_us)} after {first}, at most {last}"
    if policy.most:
        only = ", if it never got as far as its first tick" if policy.starting else ""
        yield f"stopped after {policy.most} in a row{only}"


def _log(plan: Plan, domain: Domain) -> str:
    decided = [other.name for other in plan.system.decided_by(domain)]
    if decided:
        return f"decides about {', '.join(decided)}"
    if domain.vm is not None and domain.vm.writes_log:
        return "writes into it"
    return "reads it" if plan.system.reads_log(domain) else ""
