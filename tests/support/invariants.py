"""What must hold of a kernel's state whenever a thread runs, read from outside.

The flash is what was loaded; the protection unit and the processor hold what the tables say; every
object is connected as the tables say; every queue has exactly the threads that wait in it; no
kernel stack overflowed. `violations` names what doesn't hold.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from tests.support.built import Built
from tests.support.injector import Injector
from tests.support.variables import Variables

STOPPED, READY, WAITING = range(3)
NONE = 0xFF
ROUTE_VCPU, ROUTE_SIGNAL = 1, 2
ROUTE_KIND = 0x7F
RAM = 0x20000000
STACK_PATTERN = struct.pack("<I", 0xA5A5A5A5)
SLOT_EMPTY = 0  # FVM_CAP_EMPTY
STACK_GUARD = 4  # words that no path may reach

VTOR, AIRCR, CCR, SHCSR, CPACR = 0xE000ED08, 0xE000ED0C, 0xE000ED14, 0xE000ED24, 0xE000ED88
MPU_CTRL, MPU_RNR, MPU_RBAR, MPU_RASR = 0xE000ED94, 0xE000ED98, 0xE000ED9C, 0xE000EDA0
FPCCR = 0xE000EF34
NVIC_ISER, NVIC_IPR = 0xE000E100, 0xE000E400
FAULTS_ENABLED = 7 << 16
PRIGROUP = 7 << 8
DIVIDE_TRAP, UNALIGNED_TRAP, SOFTWARE_TRIGGER = 1 << 4, 1 << 3, 1 << 1
LSPEN, ASPEN = 1 << 30, 1 << 31
PRIORITY_SHARED = 0x80
RBAR_ADDRESS = ~0x1F


class KernelState:
    """The kernel of a machine that stands still, or whose kernel at least doesn't run."""

    def __init__(self, system: Built, image: Path, memory: Injector) -> None:
        self._system = system
        self._image = image
        self._memory = memory
        self.of = Variables(system.folder / "kernel" / "kernel.elf", memory.memory)
        self._threads: list[dict[str, Any]] = self.of["thread_table"]
        self._domains: list[dict[str, Any]] = self.of["fvm_domain"]
        # A system without VMs has none of this, or one unused element.
        count = sum(domain["vcpu"] != NONE for domain in self._domains)
        self._vcpus: list[dict[str, Any]] = self.of.get("vcpu_table", [])[:count]
        self._vcpu_configs: list[dict[str, Any]] = self.of.get("fvm_vcpu", [])[:count]

    def violations(self) -> list[str]:
        """Each as a sentence; none is as it should be."""
        return [
            *self._flash(),
            *self._stack(),
            *self._processor(),
            *self._protection(),
            *self._thread_objects(),
            *self._vcpu_objects(),
            *self._queues(),
            *self._signals(),
            *self._lines(),
            *self._delegations(),
        ]

    def rights(self) -> dict[str, Any]:
        """What no refused call may change: mappings, locks, rights, lines, periods, starts."""
        kept = ("open", "locked", "line", "tick_period")
        return {
            "vcpus": [{name: vcpu[name] for name in kept} for vcpu in self._vcpus],
            "may_send": self.of["may_send"],
            "bound": self.of["bound"],
            "enabled": self.of["interrupt_lines"]["enabled"],
            "domains": self.of["domain_table"],
        }

    def restarts(self, domain: str) -> int:
        return int(self.of["domain_table"][self.index(domain)]["restarts"])

    def index(self, domain: str) -> int:
        names = [bytes(d["name"]).rstrip(b"\0").decode() for d in self._domains]
        return names.index(domain)

    def _word(self, address: int) -> int:
        return self._memory.read(address)

    def _flash(self) -> Iterator[str]:
        for address, content in _loaded(self._image):
            found = self._memory.memory(address, len(content))
            if found != content:
                at = next(i for i, (a, b) in enumerate(zip(found, content, strict=True)) if a != b)
                yield f"flash at 0x{address + at:08x} is not what was loaded"

    def _stack(self) -> Iterator[str]:
        limit = self._system.symbol("kernel", "kernel_stack_limit")
        if self._memory.memory(limit, 4 * STACK_GUARD) != STACK_PATTERN * STACK_GUARD:
            yield "the kernel's stack reached its end"

    def _processor(self) -> Iterator[str]:
        control = self._word(CCR)
        checks = {
            "VTOR": self._word(VTOR) == self._system.symbol("kernel", "vector_table"),
            "SHCSR": self._word(SHCSR) & FAULTS_ENABLED == FAULTS_ENABLED,
            "AIRCR": self._word(AIRCR) & PRIGROUP == 0,
            "CCR": control & (DIVIDE_TRAP | UNALIGNED_TRAP | SOFTWARE_TRIGGER) == DIVIDE_TRAP,
            "FPCCR": self._word(FPCCR) & (LSPEN | ASPEN) in (ASPEN, 0),
            "the lines' priorities": set(
                self._memory.memory(NVIC_IPR, len(self.of["fvm_irq_route"]))
            )
            == {PRIORITY_SHARED},
        }
        yield from (f"{name} was changed" for name, good in checks.items() if not good)

    def _protection(self) -> Iterator[str]:
        table = self._domains[self._current()["domain_index"]]["protection"]
        on = re.search(r"FVM_MPU_ENABLE\s+(\w+)", self._configuration())
        assert on is not None
        if (self._word(MPU_CTRL) & 1) != (on[1] in ("1", "true")):
            yield "the MPU was switched"
        if self._word(CPACR) != table["cpacr"]:
            yield "CPACR isn't the domain's"
        selected = self._word(MPU_RNR)
        for number, region in enumerate(table["region"]):
            self._memory.write(MPU_RNR, number)
            found = self._word(MPU_RBAR) & RBAR_ADDRESS, self._word(MPU_RASR)
            if found != (region["rbar"] & RBAR_ADDRESS, region["rasr"]):
                yield f"MPU region {number} isn't the domain's"
        self._memory.write(MPU_RNR, selected)

    def _configuration(self) -> str:
        return (self._system.folder / "kernel" / "fvm_config.h").read_text("utf-8")

    def _current(self) -> dict[str, Any]:
        thread: dict[str, Any] = self.of.at(self.of["cpu"]["current"], "thread_table")
        return thread

    def _pointer(self, table: str, index: int) -> int:
        return self.of.address(table) + index * self.of.element(table)

    def _thread_objects(self) -> Iterator[str]:
        for i, (thread, config) in enumerate(
            zip(self._threads, self.of["fvm_thread"], strict=True)
        ):
            index = config["domain"]
            domain = self._domains[index]
            vcpu = domain["vcpu"]
            wanted = {
                "domain": self._pointer("fvm_domain", index),
                "domain_index": index,
                "slot": config["slot"],
                "vcpu": 0 if vcpu == NONE else self._pointer("vcpu_table", vcpu),
            }
            found = {name: thread[name] for name in wanted}
            if found != wanted or thread["state"] not in (STOPPED, READY, WAITING):
                yield f"thread {i}: {found} in state {thread['state']} instead of {wanted}"
            if not self._is_kernels(thread["context"]) and not (
                vcpu != NONE and i == self._vcpu_configs[vcpu]["usr"]
            ):
                yield f"thread {i}: its context is at 0x{thread['context']:08x}"

    def _is_kernels(self, address: int) -> bool:
        return address % 4 == 0 and address in self._system.memory("kernel", "ram")

    def _vcpu_objects(self) -> Iterator[str]:
        for i, (vcpu, config) in enumerate(zip(self._vcpus, self._vcpu_configs, strict=True)):
            domain = self._domains[config["domain"]]
            wanted = {
                "config": self._pointer("fvm_vcpu", i),
                "vct": self._pointer("thread_table", config["vct"]),
                "usr": self._pointer("thread_table", config["usr"]),
                "state": domain["ram_base"],
                "bit": 1 << i,
            }
            found = {name: vcpu[name] for name in wanted}
            if found != wanted:
                yield f"vCPU {i}: {found} instead of {wanted}"
            # Who is interrupted gets a fixed sum back, which the interrupt's owner paid.
            most = config["budget"] + config["budget"] // 8
            if vcpu["budget"] > most or vcpu["tick_owed"] > config["catchup"]:
                yield f"vCPU {i}: budget {vcpu['budget']}, {vcpu['tick_owed']} ticks owed"
            for vector, line in enumerate(vcpu["line"]):
                route = None if line == NONE else self.of["fvm_irq_route"][line]
                if route and (route["kind"] & ROUTE_KIND, route["target"], route["virt_id"]) != (
                    ROUTE_VCPU, i, vector,
                ):  # fmt: skip
                    yield f"vCPU {i}: line {line} as vector {vector}"

    def _queues(self) -> Iterator[str]:
        cpu = self.of["cpu"]
        if cpu["current"] != cpu["next"] or self._current()["state"] != READY:
            yield f"another thread should run: {cpu}"
        wanted = 0
        for priority, (_, thread) in self._running_with_priorities().items():
            wanted |= (thread["state"] == READY) << priority
            if (thread["priority"], thread["bit"]) != (priority, 1 << priority):
                yield f"priority {priority} has a thread of {thread['priority']}"
        if cpu["ready"] != wanted or not wanted & 1:
            yield f"ready processes 0x{cpu['ready']:x} instead of 0x{wanted:x}"
        wanted = 0
        for i, config in enumerate(self._vcpu_configs):
            pair = (self._threads[config[name]]["state"] for name in ("vct", "usr"))
            wanted |= (READY in pair) << i
        if not self._vcpus:
            return
        vcpus = self.of["vcpus"]
        if vcpus["ready"] != wanted:
            yield f"ready vCPUs 0x{vcpus['ready']:x} instead of 0x{wanted:x}"
        if vcpus["boosted"] & ~(wanted & vcpus["funded"]):
            yield f"boosted vCPUs 0x{vcpus['boosted']:x} of 0x{wanted:x}"
        if vcpus["turn"] not in [1 << i for i in range(len(self._vcpus))]:
            yield f"turn 0x{vcpus['turn']:x}"

    def _signals(self) -> Iterator[str]:
        for i, signal in enumerate(self.of["signal_table"]):
            if signal["waiter"] == 0:
                continue
            thread = self.of.at(signal["waiter"], "thread_table")
            at = self._pointer("signal_table", i)
            if signal["count"] != 0 or (thread["state"], thread["signal"]) != (WAITING, at):
                yield f"signal {i}: count {signal['count']}, waiter {thread}"
        request = self.of["request"] if self._vcpus else {"answer": 0}
        server = request["server"] if request["answer"] else 0
        if request["answer"] and request["asking"]:
            yield "the server waits while a call is to be decided on"
        for pointer, thread in self._running_with_priorities().values():
            if thread["state"] != WAITING or pointer == server:
                continue
            if self._is_kernels(thread["signal"]):  # of the table, or in kernel memory
                waiter = self.of.at(thread["signal"], "signal_table")["waiter"]
                if waiter != pointer:
                    yield f"0x{pointer:08x} waits where 0x{waiter:08x} does"
            else:
                yield f"0x{pointer:08x} waits for nothing"

    def _running_with_priorities(self) -> dict[int, tuple[int, dict[str, Any]]]:
        """Of processes, by priority: the thread, or what runs in its place."""
        return {
            priority: (pointer, self.of.at(pointer, "thread_table"))
            for priority, pointer in enumerate(self.of["process_thread"])
            if pointer
        }

    def _open_lines(self) -> list[int]:
        count = len(self.of["fvm_irq_route"])
        data = self._memory.memory(NVIC_ISER, (count + 31) // 32 * 4)
        return [i for i in range(count) if data[i // 8] >> i % 8 & 1]

    def _lines(self) -> Iterator[str]:
        none = [0] * (len(self.of["fvm_irq_route"]) // 32 + 1)
        lines = self.of.get("interrupt_lines", {"enabled": none, "closed": none})
        enabled, closed = lines["enabled"], lines["closed"]
        for line in self._open_lines():
            route = self.of["fvm_irq_route"][line]
            mine = route["kind"] & ROUTE_KIND == ROUTE_VCPU
            may = enabled[line // 32] & ~closed[line // 32] & 1 << line % 32
            if (mine and not may) or (not mine and route["kind"] & ROUTE_KIND != ROUTE_SIGNAL):
                yield f"line {line} is open"

    def _delegations(self) -> Iterator[str]:
        """Who holds a delegated capability stands once in the list of its root, which alone is at
        depth 0, and holds the same object with no more rights than those it may be from."""
        if "node" not in self.of or "slot_table" not in self.of:
            return
        nodes, slots = self.of["node"], self.of["slot_table"]
        nobody, roots = len(nodes) - 1, len(nodes) - 1 - len(slots)
        listed: set[int] = set()
        for head in (i for i in range(nobody) if nodes[i]["depth"] == 0):
            if nodes[head]["previous"] != nobody:
                yield f"node {head} is a root behind node {nodes[head]['previous']}"
            above = [(0, slots[head - roots]["capability"])] if head >= roots else []
            before, at = head, nodes[head]["next"]
            while at != nobody:
                if at < roots or at in listed or nodes[at]["depth"] == 0:
                    yield f"node {at} stands behind node {before}"
                    break
                listed.add(at)
                depth, capability = nodes[at]["depth"], slots[at - roots]["capability"]
                if nodes[at]["previous"] != before:
                    yield f"node {at} is behind {nodes[at]['previous']} instead of {before}"
                above = [it for it in above if it[0] < depth]
                yield from (
                    f"slot {at - roots}: {capability} from {given}"
                    for _, given in above[-1:]
                    if any(capability[name] != given[name] for name in ("type", "index"))
                    or capability["rights"] & ~given["rights"]
                )
                above.append((depth, capability))
                before, at = at, nodes[at]["next"]
        for i, slot in enumerate(slots):
            node, capability = nodes[roots + i], slot["capability"]
            if node["depth"] and roots + i not in listed:
                yield f"slot {i} is in no list: {node}"
            if capability["type"] == SLOT_EMPTY and (node["depth"], node["next"]) != (0, nobody):
                yield f"slot {i} is empty and in a list: {node}"


def stored(image: Path, address: int, size: int) -> bytes:
    """What an image puts at an address of the flash."""
    return next(
        content[address - base : address - base + size]
        for base, content in _loaded(image)
        if base <= address and address + size <= base + len(content)
    )


@cache
def _loaded(image: Path) -> list[tuple[int, bytes]]:
    """What an image puts into the flash."""
    with image.open("rb") as file:
        return [
            (s["p_paddr"], s.data())
            for s in ELFFile(file).iter_segments("PT_LOAD")
            if s["p_filesz"] and s["p_paddr"] < RAM
        ]
