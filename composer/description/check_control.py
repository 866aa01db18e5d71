"""Rules about rights over threads."""

from __future__ import annotations

from composer.description.model import Control, Domain, System
from composer.plan import HYPERVISOR_THREADS, PRIORITY_MAX


def check_controls(system: System) -> None:
    """Raise the first rule that a <control> breaks."""
    servers = {p.name: p for p in system.processes}
    for process in system.processes:
        for control in process.process.controls if process.process else ():
            owner = servers.get(control.process or process.name)
            if owner is None:
                raise control.place.error(
                    f"no process '{control.process}'", f"known: {', '.join(servers)}"
                )
            _thread(control, owner)
            _rights(control, process, owner)
        _held(process)


def _thread(control: Control, owner: Domain) -> None:
    names = [t.name for t in owner.process.threads] if owner.process else []
    if control.thread not in names:
        raise control.place.error(
            f"'{owner.name}' has no thread '{control.thread}'", f"known: {', '.join(names)}"
        )


def _rights(control: Control, process: Domain, owner: Domain) -> None:
    if not (control.start or control.stop or control.ceiling is not None):
        raise control.place.error(
            f"<control> of '{control.thread}' gives no right",
            'add start="yes", stop="yes" or ceiling="PRIORITY"',
        )
    if control.start and owner is not process:
        raise control.place.error(
            f"'{process.name}' can't start '{control.thread}' of '{owner.name}'",
            "only a process itself knows when its memory is ready",
        )
    if control.ceiling is not None:
        _ceiling(control, control.ceiling, owner)


def _ceiling(control: Control, ceiling: int, owner: Domain) -> None:
    """The first thread of a process stays the most urgent one of it: it initialises it."""
    first, *others = owner.process.threads if owner.process else ()
    if others and control.thread == first.name:
        raise control.place.error(
            f"'{first.name}' keeps its priority: it initialises '{owner.name}'",
            "change that of another thread",
        )
    highest = min(p for _, p, _ in HYPERVISOR_THREADS if p > PRIORITY_MAX // 2) - 1
    if others:
        highest = first.priority - 1
    if not 2 < ceiling <= highest:
        raise control.place.error(f"ceiling {ceiling}", f"choose 3 to {highest}")


def _held(process: Domain) -> None:
    """The most urgent thread initialises the process; somebody must start the others."""
    threads = process.process.threads if process.process else ()
    for number, thread in enumerate(threads):
        if not thread.held:
            continue
        if number == 0:
            raise thread.place.error(
                f"'{thread.name}' is the most urgent thread of '{process.name}', which initialises"
                " it",
                'remove start="no"',
            )
        controls = process.process.controls if process.process else ()
        if not any(c.thread == thread.name and c.process is None and c.start for c in controls):
            raise thread.place.error(
                f"nobody can start '{thread.name}'",
                f'add <control thread="{thread.name}" start="yes"/>',
            )
