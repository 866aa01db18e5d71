"""T14, T15: an interrupt at every instruction of a path.

The machine stops where the path begins, goes on by single steps, gets an interrupt of the
witness's line, and runs to the witness's handler; then the same one step later. Each interrupt must
be served, exactly once, and after all of them the witness and the kernel must be whole.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from tests.faults.crimes import context, control
from tests.faults.crimes.crime import SPIN, words_of
from tests.faults.trial import CONSOLES
from tests.support.built import Built
from tests.support.counted import run
from tests.support.halted import Halted
from tests.support.invariants import KernelState
from tests.support.variables import Variables

TIM2_LINE, TIM2_DIER = 28, 0x4000000C
START_TICK = 100  # before the victim begins
SETTLE_TICKS = 100
PATIENCE = 60.0  # seconds
SHORT_STRIDE = 9
NOTHING = context.CRIMES[0]
FAULTS = next(crime for crime in control.CRIMES if crime.id == "C19")
FOR_EVER = 0x7FFFFFFF


@dataclass(frozen=True)
class Sweep:
    """A path by the part and symbol where it begins, and how many of its steps are swept."""

    id: str
    part: str
    start: str
    steps: int
    busy: bool = False  # a victim never waits, so that kernel paths begin in it too
    restarting: bool = False  # a victim faults at every start
    short: bool = False  # part of the short form of the campaign

    @property
    def name(self) -> str:
        return f"{self.id} {self.part}: {self.start}"


SWEEPS = (
    Sweep("T15", "victim", "usr_start", 400, restarting=True),
    Sweep("T15", "witness", "vPortExitCritical", 60, short=True),
    Sweep("T15", "witness", "guest_switch", 80, short=True),
    Sweep("T15", "witness", "hyp_vct_wait", 80),
    Sweep("T15", "witness", "fvm_vct_main_loop", 150),
    Sweep("T15", "witness", "vTaskSwitchContext", 60),
    Sweep("T15", "witness", "xTaskResumeAll", 120),
    Sweep("T14", "kernel", "timer_stub", 200, busy=True),
    Sweep("T14", "kernel", "deferred_stub", 250, busy=True, short=True),
    Sweep("T14", "kernel", "call_stub", 200),
    Sweep("T15", "kernel", "leave", 120, busy=True),
    Sweep("T15", "kernel", "enter", 90, busy=True),
)
# The tick's handler returns into the loop: where VCT looks for more, and waits.
ALIASES = {"fvm_vct_main_loop": "SysTick_Handler"}


class Witness:
    """What the witness knows, read from its memory."""

    def __init__(self, system: Built, halted: Halted) -> None:
        self._of = Variables(system.folder / "witness" / "witness.elf", halted.memory.memory)

    def __getitem__(self, name: str) -> int:
        return int(self._of[name])

    def complaints(self) -> list[str]:
        wrong = {name: self[name] for name in ("wrong_fpu", "wrong_pattern", "foreign_words")}
        found = [f"O6: {name}={count}" for name, count in wrong.items() if count]
        ticks, calculated, compared = (self[n] for n in ("ticks", "calculated", "compared"))
        if abs(calculated - ticks) > 1 or abs(compared - ticks // 10) > 1:
            found.append(f"O1: ticks {ticks}, calculated {calculated}, compared {compared}")
        return found


def sweep(system: Built, one: Sweep, full: bool) -> list[str]:
    """What doesn't hold."""
    folder = Path(tempfile.mkdtemp(prefix="fvm-"))
    try:
        words = words_of(system, FAULTS if one.restarting else NOTHING)
        plan = system.symbol("victim", "plan")
        if one.busy:
            words |= {plan: SPIN, plan + 12: 1}
        if one.restarting:
            words[plan + 12] = FOR_EVER
        image = system.patched(folder / "system.elf", words)
        halted = Halted(folder)
        found: list[str] = []

        def inspect() -> None:
            with halted:
                found.extend(_each_step(system, one, halted, 1 if full else SHORT_STRIDE))
                found.extend(_afterwards(system, one, image, halted))

        run(image, CONSOLES, START_TICK, options=halted.options, inspect=inspect)
        return found
    finally:
        shutil.rmtree(folder)


def _each_step(system: Built, one: Sweep, halted: Halted, stride: int) -> list[str]:
    start = system.symbol(one.part, ALIASES.get(one.start, one.start))
    handler = system.symbol("witness", "TIM2_IRQHandler")
    tick = system.symbol("witness", "SysTick_Handler")
    witness = Witness(system, halted)
    halted.memory.write(TIM2_DIER, 0)
    halted.leave_kernel()
    halted.run_to(tick)  # what was pending is served
    found = []
    for step in range(0, one.steps, stride):
        halted.run_to(start)
        for _ in range(step):
            halted.step()
        before = witness["timed"]
        halted.memory.pend(TIM2_LINE)
        halted.run_to(handler)
        for _ in range(2):  # the first may be of the same pass of VCT, before the line opens
            halted.run_to(tick)
        times = witness["timed"] - before
        if times != 1:
            found.append(f"O1: step {step} of {one.name}: served {times} times")
    return found


def _afterwards(system: Built, one: Sweep, image: Path, halted: Halted) -> list[str]:
    witness = Witness(system, halted)
    goal = witness["ticks"] + SETTLE_TICKS
    end = time.monotonic() + PATIENCE
    halted.let_go()
    while witness["ticks"] < goal and time.monotonic() < end:
        time.sleep(0.02)
    halted.stop()
    found = [] if witness["ticks"] >= goal else ["O1: the witness stands still"]
    if not halted.leave_kernel():
        return [*found, "O3: the kernel doesn't come to an end"]
    kernel = KernelState(system, image, halted.memory)
    found += [f"O3: {sentence}" for sentence in kernel.violations()]
    others = [name for name in CONSOLES if not (one.restarting and name == "victim")]
    restarts = {name: kernel.restarts(name) for name in others}
    found += [f"O4: {name} restarted {count} times" for name, count in restarts.items() if count]
    return found + witness.complaints()
