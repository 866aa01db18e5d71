"""What a `<split>` stands for: the line goes to a process, the VM keeps the handler.

The rest of the composer then sees only what it knows: a process with an interrupt line, a shared
block for the records, and three events:

    <IRQ>_POST  process to VM: records wait; it arrives as the vector of the line
    <IRQ>_DONE  VM to process: it has served what the process couldn't
    <IRQ>_PEND  VM to process: the handler was pended in software; it arrives as the line's signal
"""

from __future__ import annotations

from dataclasses import replace

from composer.description.model import (
    Domain,
    Event,
    Frame,
    Irq,
    Named,
    Shared,
    SharedUser,
    Split,
    System,
    section_name,
)
from composer.description.units import show_size

COUNTS_MAX = 4
"""FVM_SPLIT_COUNTS of <fvm/split.h>."""
_SMALLEST_RING = 128  # bytes: counters, ring header and a few records
_RING_HEADERS = 64  # bytes: struct fvm_split_block and struct fvm_ring_header
_SMALLEST_RECORD = 4  # bytes: one register; records of more fill the ring sooner


def expand(system: System) -> System:
    """The system without anything left to be derived from its splits; an FvmError for a bad one."""
    for process in system.processes:
        _check_vm(system, process)
    processes = list(system.processes)
    shared, events = list(system.shared), list(system.events)
    for vm in system.vms:
        for irq in vm.irqs:
            if irq.split is None:
                continue
            index = _process(system, vm, irq, irq.split)
            processes[index] = _with_section(processes[index], irq, irq.split)
            shared.append(_ring(vm, irq, irq.split))
            events += _events(vm, irq, irq.split)
    for process in system.processes:
        _check_used(system, process)
    return replace(system, processes=tuple(processes), shared=tuple(shared), events=tuple(events))


def _check_vm(system: System, process: Domain) -> None:
    name = process.project.split
    if name is not None and name not in [vm.name for vm in system.vms]:
        known = ", ".join(vm.name for vm in system.vms)
        raise process.project.place.error(f'split="{name}": no such VM', f"known: {known}")


def _check_used(system: System, process: Domain) -> None:
    """A process for mid-sections has some."""
    name = process.project.split
    irqs = [i for vm in system.vms if vm.name == name for i in vm.irqs]
    if name is not None and not any(i.split and i.split.process == process.name for i in irqs):
        raise process.project.place.error(
            f"no <irq> of '{name}' is split to '{process.name}'",
            f'put <split process="{process.name}"/> into one',
        )


def _process(system: System, vm: Domain, irq: Irq, split: Split) -> int:
    """Index of the process of a split that keeps the rules."""
    names = [p.name for p in system.processes]
    if split.process not in names:
        raise split.place.error(
            f"no process '{split.process}'",
            f"known: {', '.join(names)}" if names else f'add <process name="{split.process}" ...>',
        )
    process = system.processes[names.index(split.process)]
    project = process.project
    if project.split != vm.name and (project.split is not None or not project.path):
        raise split.place.error(
            f"'{process.name}' isn't built from mid-sections of '{vm.name}'",
            f'give it <project split="{vm.name}"/>',
        )
    threads = process.process.threads if process.process else ()
    if section_name(irq.name) not in [t.name for t in threads]:
        raise split.place.error(
            f"'{process.name}' has no thread for the mid-section of {irq.name}",
            f'add <thread name="{section_name(irq.name)}" priority="20" stack="512"/> to it',
        )
    if split.device not in [d.name for d in vm.devices]:
        raise split.place.error(
            f"device '{split.device}' isn't granted to '{vm.name}'",
            'name the device that the handler serves: device="..."',
        )
    if split.ring < _SMALLEST_RING:
        raise split.place.error(
            f"ring of {show_size(split.ring)}", f"give it at least {_SMALLEST_RING} bytes"
        )
    if len(split.counts) > COUNTS_MAX:
        raise split.counts[COUNTS_MAX].place.error(
            f"a section counts at most {COUNTS_MAX} things", "remove one"
        )
    for count in split.counts:
        if count.bits == 0:
            raise count.place.error(f"count '{count.name}' has no bits", 'write bits="0x8"')
    if split.frame is not None:
        _check_frame(split, split.frame)
    if split.policy is not None and not process.project.sources:
        raise split.place.error(
            f"'{process.name}' has no source for the policy '{split.policy}'",
            'give its <project> a path="FOLDER" and a <source> with the function',
        )
    return names.index(split.process)


def _check_frame(split: Split, frame: Frame) -> None:
    """The VM is woken before the ring is full."""
    most = (split.ring - _RING_HEADERS) // 2 // _SMALLEST_RECORD
    if not 1 <= frame.longest <= most:
        raise frame.place.error(
            f"the longest frame is {frame.longest} records; in a ring of {show_size(split.ring)}"
            f" at most {most} wait",
            "choose longest from 1 on, or a larger ring",
        )


def _with_section(process: Domain, irq: Irq, split: Split) -> Domain:
    borrowed = process.borrowed
    if split.device not in [d.name for d in borrowed]:
        borrowed += (Named(split.device, split.place),)
    line = Irq(irq.name, None, False, None, irq.place)
    return replace(process, borrowed=borrowed, irqs=(*process.irqs, line))


def _ring(vm: Domain, irq: Irq, split: Split) -> Shared:
    users = (SharedUser(split.process, True, split.place), SharedUser(vm.name, True, split.place))
    return Shared(f"{irq.name}_RING", split.ring, users, split.place)


def _events(vm: Domain, irq: Irq, split: Split) -> list[Event]:
    process = split.process
    return [
        Event(f"{irq.name}_POST", process, vm.name, None, split.place, at=irq.name),
        Event(f"{irq.name}_DONE", vm.name, process, None, split.place),
        Event(f"{irq.name}_PEND", vm.name, process, None, split.place, at=irq.name),
    ]
