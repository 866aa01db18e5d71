"""The compiled yield, interrupted at each of its instructions: a task has the registers behind it
that it had before, mixed with preempted tasks of every kind, with and without FPU state.

tests/runtime/test_everywhere.py does the like in QEMU with the kernel itself, at the instructions
that a timer reaches; here the instruction is chosen, and every register is looked at.
"""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.runtime.yields import processor as p
from tests.runtime.yields.processor import Processor, build

M4F = ("-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")
M3 = ("-mcpu=cortex-m3", "-mfloat-abi=soft")
MACHINES = {
    "fpu": (M4F, ()),
    "soft": (M3, ()),
    "short": (M3, ("-DSHORT_FRAMES",)),
    "by handler": (M3, ("-DHANDLER",)),
    "by handler, fpu": (M4F, ("-DHANDLER",)),
}
FLAGS = 0xF80F_0000  # NZCVQ and GE
EQUAL = 1 << 30
ARRIVALS = 6
LATER = 160  # instructions: in the yield, VCT or the next yield


@dataclass(frozen=True)
class Left:
    """How the other task stopped running, so that a yield goes on with it."""

    preempted: bool = False
    fpu: bool = False
    in_it_block: bool = False
    odd_stack: bool = False


WAYS = {
    "yielded": Left(),
    "yielded with fpu": Left(fpu=True),
    "preempted": Left(preempted=True),
    "preempted with fpu": Left(preempted=True, fpu=True),
    "preempted in it": Left(preempted=True, in_it_block=True),
    "preempted, padded": Left(preempted=True, odd_stack=True),
    "preempted, padded, with fpu": Left(preempted=True, odd_stack=True, fpu=True),
}


class Tasks:
    """Two tasks that fill their registers, yield, and look at what comes back."""

    def __init__(self, processor: Processor, left: Left, fpu: bool, entry: str) -> None:
        self.machine, self.left, self.fpu, self.entry = processor, left, fpu, entry
        processor.arrived = self._arrived
        self.began = 0

    def play(self, seed: int, due: list[int], switches: bool) -> None:
        """Task 1 stops running, task 0 yields; `due` counts from there."""
        machine, self.random = self.machine, random.Random(seed)
        machine.restart([])
        self.expected: list[dict[int, int] | None] = [None, None]
        self.arrivals = 0
        self._first_frame()
        self._fill(1, self.left.fpu, self.left.odd_stack)
        if self.left.preempted:
            self._preempt()
        else:
            self._begin_yield(1, "yields")
        machine.run()  # task 0 goes on where its frame says
        machine.store(machine.symbols["tick_switches"], int(switches))
        self.began = machine.steps
        machine.due = [self.began + step for step in due]
        self._fill(0, self.fpu, False)
        self._begin_yield(0, self.entry)
        machine.run()
        assert not any(machine.uc.mem_read(machine.state + p.MASK_PRI, 2)), "still masked"

    def _word(self) -> int:
        return self.random.getrandbits(32)

    def _first_frame(self) -> None:
        """Task 0 has never run."""
        machine = self.machine
        stack = p.STACKS + 0x2000
        core = [self._word() for _ in range(13)]
        frame = [*core[:4], core[12], self._word() | 1, machine.symbols["work"], p.THUMB]
        is_whole = "pend_sv" in machine.symbols and not self._short
        marks = [] if self._short or is_whole else [p.BASIC]
        flag = [0] if is_whole and machine.has_fpu else []
        start = stack - 4 * (len(flag) + 8 + len(marks) + len(frame))
        machine.store(start, *flag, *core[4:12], *marks, *frame)
        machine.store(machine.symbols["task"], start)
        registers = dict(zip(p.CORE, core, strict=True))
        self.expected[0] = {**registers, p.LR: frame[5], p.SP: stack}

    @property
    def _short(self) -> bool:
        return self.machine.word(self.machine.state + 12) >> 8 & 1 == 1

    def _fill(self, task: int, fpu: bool, odd_stack: bool) -> None:
        machine = self.machine
        machine.write(p.CORE, [self._word() for _ in p.CORE])
        stack = p.STACKS + 0x2000 * (task + 1) - (4 if odd_stack else 0)
        machine.write([p.SP, p.LR], [stack, machine.symbols["returned"] | 1])
        machine.uc.reg_write(p.XPSR, p.THUMB | (self._word() & FLAGS))
        if machine.has_fpu:
            machine.write(p.SINGLE, [self._word() for _ in p.SINGLE])
            machine.uc.reg_write(p.FPSCR, self._word() & 0xF000_0000)
            machine.uc.reg_write(p.CONTROL, p.FPCA if fpu else 0)

    def _begin_yield(self, task: int, entry: str) -> None:
        """What a call must keep."""
        machine = self.machine
        kept = [*p.CORE[4:12], p.SP]
        if machine.fpu_is_live:
            kept += [*p.SINGLE[16:], p.FPSCR]
        self.expected[task] = dict(zip(kept, machine.read(kept), strict=True))
        machine.uc.reg_write(p.PC, machine.symbols[entry])

    def _preempt(self) -> None:
        """A tick that asks for a switch, with task 1 at work: every register counts."""
        machine = self.machine
        machine.uc.reg_write(p.PC, machine.symbols["work"])
        everything = [*p.CORE, p.LR, p.SP, p.XPSR]
        if machine.fpu_is_live:
            everything += [*p.SINGLE, p.FPSCR]
        if self.left.in_it_block:
            machine.uc.reg_write(p.PC, machine.symbols["work_in_it"])
            state = 0x08  # one instruction, if equal
            flags = machine.uc.reg_read(p.XPSR) & FLAGS | p.THUMB
            machine.uc.reg_write(p.XPSR, flags | state >> 2 << 10 | (state & 3) << 25)
        self.expected[1] = dict(zip(everything, machine.read(everything), strict=True))
        if self.left.in_it_block and machine.uc.reg_read(p.XPSR) & EQUAL:
            self.expected[1][p.CORE[0]] = machine.uc.reg_read(p.CORE[0]) + 1 & 0xFFFF_FFFF
        machine.store(machine.symbols["tick_switches"], 1)
        machine.interrupt()

    def _arrived(self, place: int) -> bool:
        machine = self.machine
        current = machine.word(machine.symbols["current"])
        task = (current - machine.symbols["task"]) // 4
        expected, self.expected[task] = self.expected[task], None
        assert expected is not None, f"task {task} goes on twice"
        registers = list(expected)
        for register, found in zip(registers, machine.read(registers), strict=True):
            value = expected[register]
            if register == p.XPSR:
                found, value = found & FLAGS, value & FLAGS
            assert found == value, (
                f"task {task}, place {place}, register {register}: {found:#x} for {value:#x}"
            )
        self.arrivals += 1
        if self.arrivals == 1 or self.arrivals == ARRIVALS:
            return True
        self._fill(task, self.fpu if task == 0 else self.left.fpu, False)
        self._begin_yield(task, "yields")
        return False


CASES = [
    (machine, way)
    for machine in MACHINES
    for way in WAYS
    if MACHINES[machine][0] is M4F or not WAYS[way].fpu
]


@pytest.fixture(scope="module")
def processor(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Processor:
    machine, defines = MACHINES[request.param]
    folder: Path = tmp_path_factory.mktemp("yields")
    return Processor(build(folder, machine, defines), machine is M4F)


@pytest.mark.campaign
@pytest.mark.parametrize("entry", ["yields", "yields_in_critical_section"])
@pytest.mark.parametrize(("processor", "way"), CASES, indirect=["processor"])
def test_a_task_keeps_its_registers_wherever_the_interrupt_comes(
    processor: Processor, way: str, entry: str
) -> None:
    left = WAYS[way]
    for fpu in (False, True) if processor.has_fpu else (False,):
        assert everywhere(Tasks(processor, left, fpu, entry)) > 40


def everywhere(tasks: Tasks) -> int:
    """How many instructions were interrupted, by a tick that switches and one that doesn't; a
    second tick comes soon after."""
    tasks.play(0, [], False)
    length = tasks.machine.steps - tasks.began
    for step in range(1, length):
        for switches in (False, True):
            later = step + random.Random(step).randrange(1, LATER)
            tasks.play(step, [step, later], switches)
    return length


# In arch/armv7m/guest: the file, what is taken out or changed, and the task that it hurts.
MISTAKES = {
    "no mask while the stacks change": (
        "switch.S",
        ("    push {r4-r11, r12, lr}\n    strb r0, [r0, #MASK_PRI]\n    choose_next",
         "    push {r4-r11, r12, lr}\n    choose_next"), "yielded", False),
    "the mask too late": (
        "switch.S",
        ("    ldrb r3, [r0, #FRAMES]\n    strb r0, [r0, #MASK_PRI]\n    cbnz",
         "    ldrb r3, [r0, #FRAMES]\n    cbnz"), "yielded", True),
    "FPSCR lost": (
        "switch.S",
        ("    vmsr fpscr, r3\n    vpop {s16-s31}\n    bx lr", "    vpop {s16-s31}\n    bx lr"),
        "yielded with fpu", True),
    "IT state lost": ("switch.S", ("0x0600FE00", "0x00000200"), "preempted in it", False),
    "padding lost": ("switch.S", ("0x0600FE00", "0x0600FC00"), "preempted, padded", False),
    "flags lost": ("switch.S", ("    msr apsr_nzcvqg, r1\n", ""), "preempted", False),
    "the kernel's block": (
        "by_handler.S", ("    str r4, [r6]\n", ""), "yielded", False),
    "the block stays": (
        "by_handler.S", ("    str r3, [r6]\n", ""), "preempted", False),
    "no handler in user mode": (
        "by_handler.S", ("    strb r2, [r5, #BUSY]\n    mov sp, r1", "    mov sp, r1"),
        "yielded", False),
    "the task's stack": ("by_handler.S", ("    mov sp, r1 ", "    nop "), "yielded", False),
    "FPSCR lost by the handler": (
        "by_handler.S", ("    vmsr fpscr, r3\n", ""), "yielded with fpu", True),
    "S16-S31 lost": ("by_handler.S", ("    vldm r2, {s16-s31}\n", ""), "yielded with fpu", True),
    "registers behind the mask": (
        "by_handler.S",
        ("    ldm r4, {r4-r11}\n    ldr r2, [r0, #FRAME_PC]",
         "    movs r2, #0\n    strb r2, [r12, #MASK_PRI]\n    nop\n    ldm r4, {r4-r11}\n"
         "    ldr r2, [r0, #FRAME_PC]"), "yielded", False),
}  # fmt: skip


@pytest.mark.campaign
@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_a_mistake_in_the_switch_is_noticed(mistake: str, tmp_path: Path) -> None:
    file, (before, after), way, fpu = MISTAKES[mistake]
    runtime = tmp_path / "runtime"
    shutil.copytree(p.RUNTIME, runtime)
    switch = runtime / "arch" / "armv7m" / "guest" / file
    assert before in switch.read_text()
    switch.write_text(switch.read_text().replace(before, after))
    defines = ("-DHANDLER",) if file == "by_handler.S" else ()
    processor = Processor(build(tmp_path, M4F, defines, runtime), has_fpu=True)
    with pytest.raises((AssertionError, p.unicorn.UcError)):
        everywhere(Tasks(processor, WAYS[way], fpu, "yields"))
