"""Rules about capabilities and objects of the run time."""

from __future__ import annotations

from composer.description.model import Domain, System
from composer.plan import HYPERVISOR_THREADS, PRIORITY_MAX, SLOTS_MAX, SLOTS_OF_ALL_MAX

MEMORY_MAX = 64 * 1024  # bytes of all processes: places in it are counted by words in 16 bits


def check_run_time(system: System) -> None:
    """Raise the first rule that slots, delegation or kernel memory break."""
    slots = memory = 0
    for process in system.processes:
        if process.process is None:
            continue
        slots += process.process.slots
        if process.process.slots > SLOTS_MAX or slots > SLOTS_OF_ALL_MAX:
            raise process.place.error(
                f"'{process.name}' has {process.process.slots} slots, the system {slots}",
                f"at most {SLOTS_MAX} a process, {SLOTS_OF_ALL_MAX} together",
            )
        _delegates(system, process)
        memory += _memory(process)
        if memory > MEMORY_MAX:
            raise process.place.error(f"{memory} bytes of kernel memory", f"at most {MEMORY_MAX}")
    for event in system.events:
        if event.delegate and event.sender not in [p.name for p in system.processes]:
            raise event.place.error(
                f"'{event.sender}' can't delegate event '{event.name}'", "only processes can"
            )


def _delegates(system: System, process: Domain) -> None:
    slots = {p.name: p.process.slots for p in system.processes if p.process}
    for delegate in process.process.delegates if process.process else ():
        if delegate.name not in slots:
            raise delegate.place.error(
                f"no process '{delegate.name}'", f"known: {', '.join(slots)}"
            )
        if delegate.name == process.name:
            raise delegate.place.error(
                f"'{process.name}' delegates to itself", "name another process or remove it"
            )
        if not slots[delegate.name]:
            raise delegate.place.error(
                f"'{delegate.name}' has no slots for capabilities", 'give it slots="4"'
            )
        if delegate.slots is not None and not 0 < delegate.slots <= slots[delegate.name]:
            raise delegate.place.error(
                f"'{process.name}' fills {delegate.slots} slots of '{delegate.name}'",
                f"it has {slots[delegate.name]}: write 1 to {slots[delegate.name]}",
            )


def _memory(process: Domain) -> int:
    memory = process.process.memory if process.process else None
    if memory is None:
        return 0
    if memory.size == 0 or memory.size % 4:
        raise memory.place.error(f"{memory.size} bytes of kernel memory", "choose a multiple of 4")
    if process.process is None or not process.process.slots:
        raise memory.place.error(
            f"'{process.name}' has no slots for what it makes in kernel memory", 'give it slots="4"'
        )
    highest = min(p for _, p, _ in HYPERVISOR_THREADS if p > PRIORITY_MAX // 2) - 1
    if memory.ceiling > highest:
        raise memory.place.error(
            f"ceiling {memory.ceiling}", f"choose 3 to {highest}, 0: no threads"
        )
    return memory.size
