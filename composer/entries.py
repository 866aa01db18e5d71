"""C functions that the description names, where the linker didn't find them in a domain's sources.

The linker's own words name the generated start-up, which nobody wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from composer.description.model import Domain, Place, System
from composer.description.parse import parse
from scanner.report.errors import FvmError

_MISSING = re.compile(r"undefined reference to `(\w+)'")


def check_entries(description: Path, part: str, output: str, failure: str) -> None:
    """Raise `failure` at the place that names a function which `part` lacks by its linker's output.

    Nothing is raised where the description can't be read any more: the output was shown.
    """
    missing = set(_MISSING.findall(output))
    if not missing:
        return
    try:
        system = parse(description)
    except FvmError:
        return
    for domain in system.domains:
        for function, what, place in _entries(system, domain):
            if domain.name == part and function in missing:
                raise place.error(
                    f"{failure}: {what} of '{part}' is the function '{function}', which its sources"
                    " don't have",
                    "write it, or correct its name here",
                )


def _entries(system: System, domain: Domain) -> Iterator[tuple[str, str, Place]]:
    """Functions that generated code of a domain calls: name, what for, where it is named."""
    if domain.process is not None:
        for thread in domain.process.threads:
            yield thread.name, "a thread", thread.place
        for port in domain.process.ports:
            yield port.function, f"port '{port.name}'", port.place
    if domain.vm is not None:
        if domain.project.entry != "main":
            yield domain.project.entry, "the entry", domain.project.place
        handlers = {"switch": domain.vm.switch, "tick": domain.vm.tick, "svc": domain.vm.svc}
        for vector, handler in handlers.items():
            if handler is not None:
                yield handler, f"<{vector}>", domain.place
    for irq in domain.irqs:
        if irq.handler is not None:
            yield irq.handler, f"the handler of interrupt '{irq.name}'", irq.place
    splits = [irq.split for vm in system.vms for irq in vm.irqs if irq.split]
    for split in splits:
        if split.process == domain.name and split.policy is not None:
            yield split.policy, "a policy", split.place
    for event in system.events:
        if event.receiver == domain.name and event.handler is not None:
            yield event.handler, f"the handler of event '{event.name}'", event.place
