"""The crimes of the campaign: which class, who commits it, with what, and what must follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.faults.observe import Expected
from tests.support.built import Built
from tests.support.counted import Transcript, run

CONSOLES = {"victim": 1, "witness": 2, "plain": 3}
UNTIL_TICK = 1500

# enum crime of victim.c
(
    NONE,
    EDIT_RETURN,
    CLAIM_FPU,
    CLAIM_FPU_AT,
    CLAIM_BASIC,
    EDIT_XPSR,
    EDIT_PC,
    EDIT_STACK,
    EDIT_STACK_ASLEEP,
    STACK_AND_SPIN,
    STACK_AND_CALL,
    READ_FPU,
    RESUME,
    RESUME_AT,
    SPIN,
    FPU_STACK_SPIN,
) = range(16)

XPSR_T = 1 << 24
XPSR_ISR = 0x1FF
XPSR_IT = 0x0600FC00
CALL_INT_DIS, CALL_REBOOT = 2, 20
USART1 = 0x40011000

Number = Callable[[Built], int]
Places = Callable[[Built], range]
Outcome = Callable[[Built], Expected]


@dataclass(frozen=True)
class Crime:
    """A crime with its arguments, which may depend on where things are in the image."""

    name: str
    kind: int
    expected: Outcome
    a: Number = lambda _: 0
    b: Number = lambda _: 0
    by: str = "victim"
    starts: int = 1  # that commit it
    company: bool = False  # the other victim never waits meanwhile


def commit(system: Built, crime: Crime, folder: Path) -> Transcript:
    """Runs the system in which `crime` is committed."""
    plan = system.symbol(crime.by, "plan")
    ram = system.memory("witness", "ram")
    told = system.symbol("witness", "ram")
    words = (crime.kind, crime.a(system), crime.b(system), crime.starts)
    patches = {plan + 4 * i: word for i, word in enumerate(words)}
    if crime.company:
        patches[system.symbol("plain", "plan")] = SPIN
        patches[system.symbol("plain", "plan") + 12] = 1
    image = system.patched(folder / "system.elf", patches | {told: ram.start, told + 4: len(ram)})
    return run(image, CONSOLES, UNTIL_TICK)


def goes_on(**says: int) -> Outcome:
    """Nothing happens to anybody."""
    return lambda _: Expected(says=says)


def faults(cause: str, starts: int = 1, pc: Places | None = None) -> Outcome:
    """The victim, and only it, is restarted."""
    return lambda s: Expected(restarts=starts, cause=cause, pc=pc(s) if pc else None)


def at(address: Number) -> Places:
    """Exactly there."""
    return lambda s: range(address(s), address(s) + 1)


def parked(system: Built) -> range:
    """In the loop in which the victim is when its context is edited."""
    return system.extent("victim", "park")


def number(value: int) -> Number:
    return lambda _: value


def top(system: Built) -> int:
    """End of the victim's RAM, where that of the witness begins."""
    end = system.memory("victim", "ram").stop
    assert end == system.memory("witness", "ram").start
    return end


def above(offset: int) -> Number:
    return lambda system: top(system) + offset


def inside(part: str) -> Number:
    """The middle of a part's RAM."""
    return lambda system: system.memory(part, "ram").start + 1024


def pattern(system: Built) -> int:
    """In the witness's pattern: so far in that a frame with FPU state above or below fits."""
    return system.symbol("witness", "pattern") + 256


def decoy(system: Built) -> int:
    """A frame in the witness's RAM with which code of the witness would go on."""
    return system.symbol("witness", "decoy")


def function(part: str, name: str, odd: int = 0) -> Number:
    return lambda system: system.symbol(part, name) + odd


FORGED = {
    "handler mode": 0xFFFFFFF1,
    "handler mode with FPU": 0xFFFFFFE1,
    "thread on MSP": 0xFFFFFFF9,
    "reserved": 0xFFFFFFF5,
    "no EXC_RETURN": 0x00000000,
    "an address": 0x08000101,
}


def _returns() -> list[Crime]:
    """Forged where the kernel keeps it, and handed to the call that takes one."""
    edited = [
        Crime(f"C01 {name}", EDIT_RETURN, goes_on(moved=0), number(value))
        for name, value in FORGED.items()
    ]
    resumed = [
        Crime(f"C01 resume call, {name}", RESUME, goes_on(back=1), number(value), by="plain")
        for name, value in FORGED.items()
    ]
    return edited + resumed


CRIMES = [
    Crime("nothing", NONE, goes_on()),
    *_returns(),
    Crime("C02 claims an FPU frame", CLAIM_FPU, goes_on(moved=72, foreign=0)),
    Crime("C02 claims an FPU frame without FPU", CLAIM_FPU, goes_on(moved=0), by="plain"),
    Crime("C02 claims a basic frame", CLAIM_BASIC, goes_on(moved=-72)),
    Crime("C02 FPU frame, one word outside", CLAIM_FPU_AT, faults("stacking"), above(-96)),
    Crime(
        "C02 FPU frame, all but the basic part outside",
        CLAIM_FPU_AT,
        faults("stacking"),
        above(-32),
    ),
    Crime(
        "C02 legal neighbour: the last FPU frame inside",
        CLAIM_FPU_AT,
        goes_on(foreign=0),
        above(-104),
    ),
    Crime("C04 T bit", EDIT_XPSR, faults("usage", pc=parked), b=number(XPSR_T)),
    Crime(
        "C04 exception number, again and again",
        EDIT_XPSR,
        faults("usage", 30),
        number(3),
        number(XPSR_ISR),
        starts=30,
    ),
    Crime(
        "C04 IT and ICI bits",
        EDIT_XPSR,
        faults("usage", pc=parked),
        number(XPSR_IT),
        number(XPSR_IT),
    ),
    Crime(
        "C05 the kernel",
        EDIT_PC,
        faults("memory", pc=at(function("kernel", "cpu_arch_reset"))),
        function("kernel", "cpu_arch_reset"),
    ),
    Crime(
        "C05 the witness",
        EDIT_PC,
        faults("memory", pc=at(function("witness", "spoil"))),
        function("witness", "spoil"),
    ),
    Crime(
        "C05 the witness, odd",
        EDIT_PC,
        faults("memory", pc=at(function("witness", "spoil"))),
        function("witness", "spoil", 1),
    ),
    Crime("C05 RAM of the witness", EDIT_PC, faults("memory", pc=at(pattern)), pattern),
    Crime("C05 own RAM", EDIT_PC, faults("memory", pc=at(inside("victim"))), inside("victim")),
    Crime(
        "C05 nothing there",
        EDIT_PC,
        faults("memory", pc=at(number(0x60000000))),
        number(0x60000000),
    ),
    Crime(
        "C05 system control space",
        EDIT_PC,
        faults("memory", pc=at(number(0xE000E000))),
        number(0xE000E000),
    ),
    Crime("C06 frame of the witness", EDIT_STACK, faults("stacking"), decoy),
    Crime(
        "C06 resume call to a frame of the witness",
        RESUME_AT,
        faults("stacking"),
        decoy,
        number(0xFFFFFFFD),
    ),
    Crime("C06 resume call into the kernel", RESUME_AT, faults("stacking"), inside("kernel")),
    Crime("C06 frame in the kernel", EDIT_STACK, faults("stacking"), inside("kernel")),
    Crime("C06 frame in the process", EDIT_STACK, faults("stacking"), inside("heartbeat")),
    Crime("C06 frame nowhere", EDIT_STACK, faults("stacking"), number(0x60000000)),
    Crime("S22 stack in the witness", STACK_AND_SPIN, faults("stacking"), pattern),
    Crime("S22 stack in the kernel", STACK_AND_SPIN, faults("stacking"), inside("kernel")),
    Crime("S22 stack in the hypervisor", STACK_AND_SPIN, faults("stacking"), inside("hypervisor")),
    Crime("S22 stack in code", STACK_AND_SPIN, faults("stacking"), function("victim", "park")),
    Crime("S22 two words outside", STACK_AND_SPIN, faults("stacking"), above(8)),
    Crime("S22 legal neighbour: the last frame inside", STACK_AND_SPIN, goes_on(back=1), above(0)),
    Crime("C21 into the witness", EDIT_STACK_ASLEEP, faults("stacking"), pattern),
    Crime("C21 to a frame of the witness", EDIT_STACK_ASLEEP, faults("stacking"), decoy),
    Crime("C21 into the kernel", EDIT_STACK_ASLEEP, faults("stacking"), inside("kernel")),
    Crime(
        "C22 reboot call, stack in the witness",
        STACK_AND_CALL,
        faults("stacking"),
        pattern,
        number(CALL_REBOOT),
        company=True,
    ),
    Crime(
        "C22 mask call, stack in the kernel",
        STACK_AND_CALL,
        faults("stacking"),
        inside("kernel"),
        number(CALL_INT_DIS),
    ),
    Crime(
        "C22 reboot call, stack in a device",
        STACK_AND_CALL,
        lambda _: Expected(1, "stacking", address=USART1 + 0x100 - 32),
        number(USART1 + 0x100),
        number(CALL_REBOOT),
    ),
    Crime(
        "F01 registers after the witness used them",
        READ_FPU,
        lambda _: Expected(says={"fpu.foreign": 0, "fpu.not_zero": 0}),
    ),
    Crime(
        "F07 FPU part of the frame in the witness", FPU_STACK_SPIN, faults("stacking"), above(72)
    ),
    Crime("F07 two words of it", FPU_STACK_SPIN, faults("stacking"), above(8)),
    Crime("F07 legal neighbour: all of it inside", FPU_STACK_SPIN, goes_on(back=1), above(0)),
]
