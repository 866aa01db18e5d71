"""Systems beside the configurations, by name: for branches that no switch and no chance leads to.

`decisions` sweeps interrupts over a call that the hypervisor decides on. What the kernel provides
for but nothing leads to is brought about by hand there: a fault that is pended without a status, a
request whose server or whose lines aren't what they are. `late` has bus errors that QEMU doesn't
know. Both must go on as if nothing had been.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.configurations.branches import FALLS, TAKEN, Assembler, Branch, holds
from tests.configurations.edges import Edges
from tests.configurations.runs import NEAR_TIMER, Outcome
from tests.runtime import test_decisions, test_late_errors, test_mps2
from tests.support.built import Built, build, change, with_other_kernel
from tests.support.halted import Halted
from tests.support.invariants import KernelState

SHCSR, CFSR = 0xE000ED24, 0xE000ED28
MEMFAULTPENDED = 1 << 13
XPSR = 16
SPOILT = 50  # each so-manieth request


@dataclass(frozen=True)
class Named:
    """`build` gets the description's file and the folder to build in."""

    what: str
    build: Callable[[Path, Path], Built]
    run: Callable[[Built], Outcome]


def _build_decisions(text: Path, folder: Path) -> Built:
    """With VMs of two priorities, so that lines wait."""
    said = test_decisions.DESCRIPTION.read_text("utf-8")
    said = change(said, '<vm name="busybody"', '<vm name="busybody" priority="1"')
    text.write_text(said, "utf-8")
    return build(text, folder, {"../..": test_mps2.TESTS})


class _Decisions:
    """One machine, halted at every request that the manager takes and every IT instruction."""

    def __init__(self, system: Built, halted: Halted, assembler: Assembler) -> None:
        self._system = system
        self._halted = halted
        self._its: dict[int, Branch] = {
            b.address: b for b in assembler.branches if b.condition is not None
        }
        self.outcome = Outcome()
        self.ways: set[tuple[str, str]] = set()

    def go(self) -> None:
        halted, symbol = self._halted, self._system.symbol
        end, reset = symbol("asking", "main"), symbol("kernel", "reset_entry")
        request, switch = symbol("kernel", "next_request"), symbol("kernel", "from_process")
        for address, value in NEAR_TIMER[False]:
            halted.memory.write(address, value)
        halted.step()
        for place in (end, reset, request, *self._its):
            halted.break_at(place)
        requests = 0
        halted.go_on()
        while halted.pc not in (end, reset):
            if halted.pc == request:
                requests += 1
                self._spoil(requests)
            elif halted.pc == switch:
                halted.memory.write(symbol("kernel", "interrupt_holding"), 0)
                halted.forget(switch)
            else:
                self._note()
            halted.step()
            halted.go_on()
        if halted.pc == reset:
            self.outcome.complaints.append("the chip was reset")
            return
        for place in (end, reset, request, *self._its):
            halted.forget(place)
        self._leave_a_fault()
        self._look()

    def _note(self) -> None:
        registers = self._halted.registers()
        branch = self._its[registers[15]]
        assert branch.condition is not None
        met = holds(branch.condition, registers[XPSR])
        self.ways.add((branch.place, TAKEN if met else FALLS))

    def _spoil(self, requests: int) -> None:
        """Now and then it looks as if another thread served, or as if other lines waited: at the
        request, or when the thread that served it leaves."""
        symbol = self._system.symbol
        word = {1: "request", 2: "interrupt_holding"}.get(requests % SPOILT)
        if word is not None:
            self._halted.memory.write(symbol("kernel", word), 0)
        elif requests % SPOILT == 3:
            self._halted.break_at(symbol("kernel", "from_process"))
        self.outcome.injected += requests % SPOILT in (1, 2, 3)

    def _leave_a_fault(self) -> None:
        """One that is pended without a status is nobody's: the thread goes on as it was."""
        halted, memory = self._halted, self._halted.memory
        before = halted.registers()
        memory.write(SHCSR, memory.read(SHCSR) | MEMFAULTPENDED)
        halted.run_to(self._system.symbol("kernel", "fault_stub"))
        if memory.read(CFSR) != 0 or not halted.leave_kernel():
            self.outcome.complaints.append("the fault that was left has a status, or no end")
        after = halted.registers()
        if after != before:
            self.outcome.complaints.append(f"a fault that was left: {before} became {after}")

    def _kernel(self) -> KernelState:
        return KernelState(self._system, self._system.elf, self._halted.memory)

    def _look(self) -> None:
        kernel = self._kernel()
        self.outcome.looks += 1
        self.outcome.complaints += kernel.violations()
        for name in ("heartbeat", "asking", "busybody", "hypervisor"):
            restarts = self.outcome.restarts[name] = kernel.restarts(name)
            if restarts:
                self.outcome.complaints.append(f"{name} restarted {restarts} times")


def _run_decisions(system: Built) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="fvm-") as room:
        folder = Path(room)
        halted = Halted(folder, from_reset=True)
        assembler = Assembler(system.folder / "kernel" / "kernel.elf")
        edges = Edges(assembler, folder)
        said = folder / "said"
        board = test_decisions.BOARD
        machine = subprocess.Popen(
            ["qemu-system-arm", "-M", board.machine, "-display", "none", "-monitor", "none",
             "-icount", f"shift={board.shift},sleep=off", "-kernel", str(system.elf),
             "-serial", "null", "-serial", f"file:{said}", "-serial", "null",
             *halted.options, *edges.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            with halted:
                one = _Decisions(system, halted, assembler)
                try:
                    one.go()
                except (TimeoutError, ConnectionError) as error:
                    one.outcome.complaints.append(f"QEMU: {error!r}")
        finally:
            machine.kill()
            machine.wait()
        one.outcome.ways = sorted({*one.ways, *edges.taken()})
        wanted = {"fired": str(test_decisions.CALLS), "lost": "0", "refused": "0", "changed": "0"}
        found = dict(w.split("=", 1) for w in said.read_text("latin-1").split() if "=" in w)
        if {key: found.get(key) for key in wanted} != wanted:
            one.outcome.complaints.append(f"the VM that asks found {found}")
        return one.outcome


def _build_late(text: Path, folder: Path) -> Built:
    base = build(
        test_mps2.described(test_late_errors.MACHINE, folder.with_name("late-base")),
        folder.with_name("late-base"),
    )
    return with_other_kernel(base, folder, test_late_errors.FAULT, test_late_errors.IMPRECISE)


def _run_late(system: Built) -> Outcome:
    """The error of a thread that made a call, and of one that was interrupted."""
    outcome, ways = Outcome(), set()
    for stub in ("call_stub", "timer_stub"):
        with tempfile.TemporaryDirectory(prefix="fvm-") as room:
            edges = Edges(Assembler(system.folder / "kernel" / "kernel.elf"), Path(room))
            (found,) = test_late_errors.fail_in(system, stub, 0, options=edges.options)
            ways |= edges.taken()
        outcome.injected += 1
        outcome.restarts[found.writer] = outcome.restarts.get(found.writer, 0) + 1
        outcome.complaints += found.violations
        if found.restarts.get(found.writer) != 1 or sum(found.restarts.values()) != 1:
            outcome.complaints.append(f"in {stub}: {found}")
    outcome.ways = sorted(ways)
    return outcome


NAMED: Mapping[str, Named] = {
    "decisions": Named(
        "interrupts at every instruction of a decision of the hypervisor's; a fault without status",
        _build_decisions,
        _run_decisions,
    ),
    "late": Named("bus errors that come late, in entries", _build_late, _run_late),
}
