"""Where to look for what a kernel does: its entries, and the tables that tell whom it serves."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from composer.image.binary import REBUILD, Binary, read_binary
from composer.image.composed import Composed
from composer.simulate.calls import thread_function
from composer.simulate.shared import NONE, Kind
from scanner.report.errors import FvmError

VECTORS = "vector_table"
SYSTEM_VECTORS = 16  # the stack, and exceptions 1 to 15 (Armv7-M)
KINDS = {
    1: Kind.RESET,
    3: Kind.FAULT,
    4: Kind.FAULT,
    5: Kind.FAULT,
    6: Kind.FAULT,
    11: Kind.CALL,
    14: Kind.DEFERRED,
    15: Kind.TICK,
}
# Sizes of kernel/tables.h.
ROUTE_BYTES = 4
THREAD_BYTES = 4
THREAD = struct.Struct("<BBBB")  # struct fvm_thread_config: domain, slot, priority
HEADER_WORDS = 2  # magic and version in front of the threads of struct fvm_domain_header
THREADS_MAX = 4  # FVM_DOMAIN_THREADS of it; slots from here on are ports
VM_THREADS = ("VCT", "USR")


@dataclass(frozen=True)
class Entry:
    """An address that the vector table names; `argument`: exception or line, NONE if shared."""

    address: int
    kind: Kind
    argument: int


@dataclass(frozen=True)
class Watch:
    """Code whose reads of a table tell, by the element, what the kernel is about."""

    kind: Kind
    code: range
    data: range
    stride: int


@dataclass(frozen=True)
class Thread:
    """A thread of the system. `domain` is an index into the domains."""

    domain: int
    name: str
    idle: bool


@dataclass(frozen=True)
class KernelMap:
    """What the plugin has to know of a kernel."""

    entries: tuple[Entry, ...]
    watches: tuple[Watch, ...]
    threads: tuple[Thread, ...]


class _Kernel:
    """kernel.elf by names."""

    def __init__(self, binary: Binary) -> None:
        self._binary = binary

    def extent(self, name: str) -> range:
        symbols = self._binary.image.symbols
        found = None if symbols is None else symbols.extent(name)
        if found is None:
            raise FvmError(f"has no symbol '{name}'", file=self._binary.path, hint=REBUILD)
        return range(found[0], found[0] + found[1])

    def read(self, address: int, size: int) -> bytes:
        return read_bytes(self._binary, address, size)

    def until(self, first: str, behind: str) -> range:
        """Assembler labels have no size."""
        return range(self.extent(first).start, self.extent(behind).start)


def read_bytes(binary: Binary, address: int, size: int) -> bytes:
    """What the ELF has at an address; FvmError when it has not so much."""
    for segment in binary.image.segments:
        start = address - segment.address
        if start >= 0 and start + size <= len(segment.data):
            return bytes(segment.data[start : start + size])
    raise FvmError(f"has nothing at 0x{address:08x}", file=binary.path, hint=REBUILD)


def _entries(kernel: _Kernel) -> tuple[Entry, ...]:
    """By the vector table. An entry that serves several lines learns from a watch which it is."""
    count = SYSTEM_VECTORS + len(kernel.extent("fvm_irq_route")) // ROUTE_BYTES
    table = kernel.extent(VECTORS).start
    words = struct.unpack(f"<{count}I", kernel.read(table, 4 * count))
    found: dict[int, Entry] = {}
    for number, word in enumerate(words):
        if number == 0 or word == 0:
            continue
        address = word & ~1
        if number >= SYSTEM_VECTORS:
            kind, argument = Kind.LINE, number - SYSTEM_VECTORS
        else:
            kind, argument = KINDS.get(number, Kind.OTHER), number
        if kind is Kind.CALL or address in found:
            argument = NONE
        found[address] = Entry(address, kind, argument)
    return tuple(found[address] for address in sorted(found))


def _watches(kernel: _Kernel, threads: int, domains: int) -> tuple[Watch, ...]:
    routes = kernel.extent("fvm_irq_route")
    table = kernel.extent("thread_table")
    restarts = kernel.extent("domain_table")
    starts = kernel.extent("domain_start_again")
    switch = kernel.until("enter", "start_stub")
    return (
        Watch(Kind.LINE, kernel.extent("interrupt_dispatch"), routes, ROUTE_BYTES),
        Watch(Kind.SWITCH, switch, table, len(table) // threads),
        Watch(Kind.CRIME, kernel.extent("fault_raise"), table, len(table) // threads),
        Watch(Kind.RESTART, starts, restarts, len(restarts) // domains),
    )


def _threads(kernel: _Kernel, system: Composed) -> tuple[Thread, ...]:
    table = kernel.extent("fvm_thread")
    records = list(THREAD.iter_unpack(kernel.read(table.start, len(table))))
    if any(domain >= len(system.domains) for domain, *_ in records):
        raise FvmError("has threads of no domain", file=system.elf("kernel"), hint=REBUILD)
    return tuple(
        Thread(
            domain,
            _thread_name(system, domain, slot),
            priority == 0 and slot < THREADS_MAX and _is_process(system, domain),
        )
        for domain, slot, priority, _ in records
    )


def _is_process(system: Composed, domain: int) -> bool:
    return system.domains[domain].kind == "process"


def _thread_name(system: Composed, domain: int, slot: int) -> str:
    """Of a VM by its slot, of a process by the function that it runs."""
    part = system.domains[domain]
    if not _is_process(system, domain):
        return VM_THREADS[slot] if slot < len(VM_THREADS) else f"thread {slot}"
    binary = read_binary(part.name, system.elf(part.name))
    flash = part.of_kind("code")[0].base
    (entry,) = struct.unpack("<I", read_bytes(binary, flash + 4 * (HEADER_WORDS + 2 * slot), 4))
    return thread_function(binary, entry & ~1) or f"thread {slot}"


def read_kernel_map(system: Composed) -> KernelMap:
    """From the ELFs of a built system; FvmError when they aren't what this fvmkit builds."""
    kernel = _Kernel(read_binary("kernel", system.elf("kernel")))
    threads = _threads(kernel, system)
    if not threads:
        raise FvmError("has no threads", file=system.elf("kernel"), hint=REBUILD)
    return KernelMap(_entries(kernel), _watches(kernel, len(threads), len(system.domains)), threads)
