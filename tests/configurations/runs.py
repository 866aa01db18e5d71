"""One configuration in QEMU, the same way every time: by its seed and in counted instructions."""

from __future__ import annotations

import random
import shutil
import subprocess
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.configurations import describe
from tests.configurations.branches import Assembler
from tests.configurations.contexts import Contexts
from tests.configurations.covering import Row
from tests.configurations.edges import Edges
from tests.configurations.switches import NETDUINO
from tests.support.built import Built
from tests.support.halted import Halted
from tests.support.invariants import KernelState

LOOK_TICKS = 50
WINDOW_TICKS = 25  # between two times that contexts are compared
WINDOW_STOPS = 300
ENOUGH = 20  # complaints
# Whenever QEMU stops with its clock counted in instructions, that jumps to the next timer. So there
# is one that is never far: address and value. Nobody else uses it, its line is open to nobody.
TIM4, TIMER1 = 0x40000800, 0x40001000
NEAR_TIMER = {
    True: ((TIM4 + 0x2C, 16000), (TIM4 + 0x0C, 1), (TIM4, 1)),  # reload (ns), interrupt, on
    False: ((TIMER1 + 8, 400), (TIMER1, 1)),  # reload (of 40 ns), on
}
# enum kept of guests/kept.h
STARTS, SPINS, CALLS, CRIMES, CHANCE, WRONG, AFTER, INDEX, WAS, IS, WORDS = range(11)
TAGGED = (*(f"r{i}" for i in range(13)), "lr", "APSR", "FPSCR", *(f"S{i}" for i in range(32)))


@dataclass
class Outcome:
    """Of a run. `complaints` is empty if all is as it must be."""

    ticks: int = 0
    looks: int = 0
    injected: int = 0
    spins: dict[str, int] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    crimes: dict[str, int] = field(default_factory=dict)
    restarts: dict[str, int] = field(default_factory=dict)
    entries: int = 0
    compared: dict[str, int] = field(default_factory=dict)
    compared_with_fpu: int = 0
    ways: list[tuple[str, str]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class _Reset(Exception):
    """The chip was reset."""


class Run:
    """One machine, halted whenever a tick begins."""

    def __init__(self, system: Built, row: Row, halted: Halted, seed: int) -> None:
        self._system = system
        self._row = row
        self._halted = halted
        self._chance = random.Random(seed)
        self._asm = Assembler(system.folder / "kernel" / "kernel.elf")
        self._tick = system.symbol("kernel", "timer_stub")
        self._reset = system.symbol("kernel", "reset_entry")
        self._lines = describe.lines(row)
        self.outcome = Outcome()

    def go(self, ticks: int) -> None:
        for address, value in NEAR_TIMER[self._row["board"] == NETDUINO]:
            self._halted.memory.write(address, value)
        self._halted.step()
        self._halted.break_at(self._reset)
        try:
            self._go(ticks)
        except _Reset:
            self.outcome.complaints.append(f"the chip was reset in tick {self.outcome.ticks}")
            return
        self._conclude()

    def _go(self, ticks: int) -> None:
        self._halted.break_at(self._tick)
        self._to_tick()
        kernel = KernelState(self._system, self._system.elf, self._halted.memory)
        contexts = Contexts(self._system, self._halted, kernel, self._asm)
        while self.outcome.ticks < ticks and len(self.outcome.complaints) < ENOUGH:
            if self.outcome.ticks % WINDOW_TICKS == 0:
                self._compare(contexts)
            if self.outcome.ticks % LOOK_TICKS == LOOK_TICKS - 1:
                self._look()
                self._halted.break_at(self._tick)
            self._to_tick()
            if not self._is_quiet():
                self._inject()
        seen = contexts.seen
        self.outcome.entries = seen.entries
        self.outcome.compared = seen.by_domain
        self.outcome.compared_with_fpu = seen.with_fpu
        self.outcome.ways = sorted(seen.ways)
        self._look()

    def _to_tick(self) -> None:
        self._halted.step()
        self._halted.go_on()
        self._check_reset()
        self.outcome.ticks += 1

    def _check_reset(self) -> None:
        if self._halted.pc == self._reset:
            raise _Reset

    def _is_quiet(self) -> bool:
        """Some of the time nothing comes from outside, so that all VMs sleep."""
        return self.outcome.ticks // 8 % 2 == 0

    def _inject(self) -> None:
        if self._lines:
            self._halted.memory.pend(self._chance.choice(self._lines))
            self.outcome.injected += 1

    def _compare(self, contexts: Contexts) -> None:
        quiet = self._is_quiet()
        contexts.begin()
        for address in contexts.stops:
            self._halted.break_at(address)
        for _ in range(WINDOW_STOPS):
            often = 6 if contexts.at_stop() else 12
            if not quiet and self._chance.randrange(often) == 0:
                self._inject()
            self._halted.go_on()
            self._check_reset()
            if self._halted.pc == self._tick:
                self.outcome.ticks += 1
        for address in contexts.stops - {self._tick}:
            self._halted.forget(address)
        self.outcome.complaints += contexts.seen.complaints
        contexts.seen.complaints.clear()

    def _look(self) -> None:
        """At the kernel's state, in a thread."""
        self.outcome.looks += 1
        self._halted.forget(self._tick)
        if not self._halted.leave_kernel():
            self.outcome.complaints.append("the kernel doesn't come to an end")
            return
        kernel = KernelState(self._system, self._system.elf, self._halted.memory)
        self.outcome.complaints += kernel.violations()

    def _conclude(self) -> None:
        kernel = KernelState(self._system, self._system.elf, self._halted.memory)
        hostile = describe.hostile(self._row)
        outcome = self.outcome
        for name in (*describe.domains(self._row), "hypervisor"):
            restarts = outcome.restarts[name] = kernel.restarts(name)
            if restarts and name not in hostile:
                outcome.complaints.append(f"{name} restarted {restarts} times")
        for name in describe.domains(self._row):
            end = self._system.symbol(name, "end")
            kept = [self._halted.memory.read(end + 4 * i) for i in range(WORDS)]
            outcome.spins[name] = kept[SPINS]
            outcome.calls[name] = kept[CALLS]
            outcome.crimes[name] = kept[CRIMES]
            if kept[WRONG] and name not in hostile:
                after = "preemption" if kept[AFTER] == 0xFFFFFFFF else f"call {kept[AFTER]}"
                outcome.complaints.append(
                    f"{name} found {kept[WRONG]} registers wrong, the first, {TAGGED[kept[INDEX]]},"
                    f" after {after}: 0x{kept[IS]:08x} instead of 0x{kept[WAS]:08x}"
                )
            if kept[CRIMES] == 0 and name in hostile:
                outcome.complaints.append(f"{name} committed no crime")
            if kept[SPINS] == 0:
                outcome.complaints.append(f"{name} did nothing")


def run(system: Built, row: Row, ticks: int, seed: int) -> Outcome:
    folder = Path(tempfile.mkdtemp(prefix="fvm-"))
    halted = Halted(folder, from_reset=True)
    edges = Edges(Assembler(system.folder / "kernel" / "kernel.elf"), folder)
    shift = 4 if row["board"] == NETDUINO else 5
    serial = [word for _ in range(6 if shift == 4 else 5) for word in ("-serial", "null")]
    machine = subprocess.Popen(
        ["qemu-system-arm", "-M", row["board"], "-display", "none", "-monitor", "none",
         "-icount", f"shift={shift},sleep=off", "-kernel", str(system.elf), *serial,
         *halted.options, *edges.options],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with halted:
            one = Run(system, row, halted, seed)
            try:
                one.go(ticks)
            except (TimeoutError, ConnectionError) as error:
                one.outcome.complaints.append(f"QEMU: {error!r}")
            one.outcome.ways = sorted({*one.outcome.ways, *edges.taken()})
            return one.outcome
    finally:
        machine.kill()
        machine.wait()
        shutil.rmtree(folder)
