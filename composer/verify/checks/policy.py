"""Does the hypervisor grant what the description says, and nothing else?"""

from __future__ import annotations

from collections.abc import Iterator

from composer.verify.checks.numbers import differences
from composer.verify.expected_policy import ExpectedPolicy
from composer.verify.findings import Unreadable
from composer.verify.policy import read_policy
from composer.verify.subject import Subject, inside


def check_policy(subject: Subject) -> Iterator[str]:
    """Fault policies, budgets, lines and events that the hypervisor grants on request."""
    flash = subject.flash_of(subject.expected.names[0])
    try:
        found = read_policy(subject.memory, flash.start)
    except Unreadable as error:
        yield str(error)
        return
    for name, place in found.places.items():
        if place and not inside(place.start, len(place), flash):
            yield f"the hypervisor's table '{name}' isn't in its flash"
    expected, wanted = subject.expected, ExpectedPolicy(subject.expected)
    domains = [f"policy for '{name}'" for name in expected.names]
    yield from differences(subject, "fault policies", domains, found.domains, wanted.domains())
    vms = [f"policy for '{vm.name}'" for vm in expected.system.vms]
    yield from differences(subject, "VMs of the policy", vms, found.vcpus, wanted.vcpus())
    routes = wanted.routes()
    lines = [f"line {route.phys} of the policy" for route in routes]
    yield from differences(subject, "lines of the policy", lines, found.routes, routes)
    events = [f"event '{event.name}' of the policy" for event in expected.all_events]
    yield from differences(subject, "events of the policy", events, found.events, wanted.events())
