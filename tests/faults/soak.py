"""A system for long under random faults, interrupts and events: `make soak`.

The victim does what its seeded generator says: crimes of several kinds, signals, events, storms,
loops, masks. From outside come interrupts of a line of the victim and of one of the witness. At
every look the machine stands still and the kernel's invariants are checked. At the end every crime,
signal, event and interrupt must be accounted for: it was delivered, or a restart dropped it.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tests.faults.crimes.crime import SOAK, Crime, goes_on, inside, number, places, words_of
from tests.faults.image import make
from tests.faults.sweep import TIM2_DIER, TIM2_LINE, Witness
from tests.support.built import Built
from tests.support.halted import Halted
from tests.support.invariants import KernelState
from tests.support.variables import Variables

BUILD = Path(__file__).parents[2] / "build" / "soak"
VICTIM_LINE = 37
ISER = 0xE000E100
SETTLE = 500  # ticks
LOOKS = 8  # a look at the kernel's state in so many interrupts
POLL = 0.005  # seconds of the host
PATIENCE = 120.0  # seconds of the host without a tick
SAY_TICKS = 60_000  # how far it is
# enum kept of victim.c
CRIMES, BELLS, FLOODS, LINES, CHANCE, QUIET = range(2, 8)


@dataclass
class Counts:
    """What was done, and what became of it."""

    ticks: int = 0
    looks: int = 0
    crimes: int = 0
    restarts: int = 0
    bells: int = 0
    bells_counted: int = 0
    floods: int = 0
    floods_served: int = 0
    witness_lines: int = 0
    witness_lines_served: int = 0
    victim_lines: int = 0
    victim_lines_served: int = 0
    victim_lines_dropped: int = 0
    violations: list[str] = field(default_factory=list)

    def differences(self) -> list[str]:
        """What isn't accounted for."""
        pairs = {
            "crimes and restarts": (self.crimes, self.restarts),
            "signals sent and counted": (self.bells, self.bells_counted),
            "events sent and served": (self.floods, self.floods_served),
            "the witness's interrupts": (self.witness_lines, self.witness_lines_served),
            "the victim's interrupts": (
                self.victim_lines,
                self.victim_lines_served + self.victim_lines_dropped,
            ),
        }
        return [
            f"{name}: {one} and {other}" for name, (one, other) in pairs.items() if one != other
        ]


class Soak:
    """One machine."""

    def __init__(self, system: Built, image: Path, halted: Halted, seed: int) -> None:
        self._system = system
        self._image = image
        self._halted = halted
        self._chance = random.Random(seed)
        self._witness = Witness(system, halted)
        self._kept = Variables(system.folder / "victim" / "victim.elf", halted.memory.memory)
        self._end = system.symbol("victim", "end")
        self._record = places(system, "victim")["own_domain"]  # its first word counts the starts
        self._served = 0  # interrupts of the victim's line when one was pended
        self._restarts = 0
        self._open = False  # one is under way
        self.counts = Counts()

    def run(self, ticks: int) -> None:
        self._wait(50)  # the witness starts its timer
        self._halted.memory.write(TIM2_DIER, 0)
        self._wait(50)  # the last interrupt of it is served
        before = self._witness["timed"]
        flooded = self._witness["flooded"]
        said = 0
        while self.counts.ticks < ticks:
            if self.counts.ticks - said >= SAY_TICKS:
                said = self.counts.ticks
                found = len(self.counts.violations)
                print(f"{said // 1000} of {ticks // 1000} s, {found} violations", flush=True)
            self._wait(self._chance.randrange(10, 200))
            self.counts.ticks = self._witness["ticks"]
            self._settle()
            self._inject()
            if self._chance.randrange(LOOKS) == 0:
                self._look()
        self._halted.memory.write(self._end + 4 * QUIET, 1)
        self._wait(SETTLE)
        kernel = self._look()
        self._settle()
        self.counts.crimes = self._kept_word(CRIMES)
        self.counts.restarts = kernel.restarts("victim")
        self.counts.bells = self._kept_word(BELLS)
        self.counts.bells_counted = self._bells(kernel)
        self.counts.floods = self._kept_word(FLOODS)
        self.counts.floods_served = self._witness["flooded"] - flooded
        self.counts.witness_lines_served = self._witness["timed"] - before
        self.counts.victim_lines_served = self._kept_word(LINES)
        self.counts.violations += self._witness.complaints()
        for other in ("witness", "plain", "rogue", "heartbeat", "hypervisor"):
            if kernel.restarts(other):
                self.counts.violations.append(f"O4: {other} restarted")

    def _kept_word(self, index: int) -> int:
        return self._halted.memory.read(self._end + 4 * index)

    def _bells(self, kernel: KernelState) -> int:
        """Nobody waits for them: they stay in the signal."""
        target = kernel.of["fvm_event"][1]["route"]["target"]
        return int(kernel.of["signal_table"][target]["count"])

    def _wait(self, ticks: int) -> None:
        """Lets the machine run for so many of the witness's ticks."""
        goal = self._witness["ticks"] + ticks
        end = time.monotonic() + PATIENCE
        self._halted.let_go()
        while self._witness["ticks"] < goal:
            if time.monotonic() > end:
                raise TimeoutError("O1: the witness stands still")
            time.sleep(POLL)
        self._halted.stop()

    def _look(self) -> KernelState:
        self.counts.looks += 1
        if not self._halted.leave_kernel():
            raise TimeoutError("O3: the kernel doesn't come to an end")
        kernel = KernelState(self._system, self._image, self._halted.memory)
        self.counts.violations += [f"O3: {sentence}" for sentence in kernel.violations()]
        return kernel

    def _victims_restarts(self) -> int:
        return self._halted.memory.read(self._record)

    def _settle(self) -> None:
        """What became of the last interrupt of the victim's line."""
        if not self._open:
            return
        if self._kept_word(LINES) != self._served:
            self._open = False
        elif self._victims_restarts() != self._restarts:
            self.counts.victim_lines_dropped += 1
            self._open = False

    def _inject(self) -> None:
        memory = self._halted.memory
        opened = memory.read(ISER + 4 * (VICTIM_LINE // 32)) >> VICTIM_LINE % 32 & 1
        if not self._open and opened:
            self._open = True
            self._served = self._kept_word(LINES)
            self._restarts = self._victims_restarts()
            self.counts.victim_lines += 1
            memory.pend(VICTIM_LINE)
        if memory.read(ISER) >> TIM2_LINE & 1:
            self.counts.witness_lines += 1
            memory.pend(TIM2_LINE)


def soak(system: Built, seconds: float, seed: int) -> Counts:
    """Runs the system for so long a time of its own."""
    folder = Path(tempfile.mkdtemp(prefix="fvm-"))
    crime = Crime("soak", SOAK, goes_on(), inside("kernel"), number(seed | 1), starts=0x7FFFFFFF)
    image = system.patched(folder / "system.elf", words_of(system, crime))
    halted = Halted(folder)
    serial = [word for _ in range(6) for word in ("-serial", "null")]
    machine = subprocess.Popen(
        ["qemu-system-arm", "-M", "netduinoplus2", "-display", "none", "-monitor", "none",
         "-icount", "shift=4,sleep=off", "-kernel", str(image), *serial, *halted.options],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        with halted:
            one = Soak(system, image, halted, seed)
            try:
                one.run(int(1000 * seconds))
            except (TimeoutError, ConnectionError) as error:
                one.counts.violations.append(str(error))
            return one.counts
    finally:
        machine.kill()
        machine.wait()
        shutil.rmtree(folder)


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3600.0
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    system = make(BUILD / "system")
    start = time.monotonic()
    counts = soak(system, seconds, seed)
    wrong = counts.violations + counts.differences()
    report = {"seed": seed, "host_seconds": round(time.monotonic() - start), **asdict(counts)}
    (BUILD / "result.json").write_text(json.dumps(report, indent=2) + "\n", "utf-8")
    print(json.dumps(report, indent=2))
    for sentence in wrong:
        print(f"BROKEN {sentence}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
