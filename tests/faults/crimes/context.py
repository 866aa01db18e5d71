"""What a victim does to the context that the kernel resumes it with, to its stack pointer, and to
what others leave in the FPU."""

from __future__ import annotations

from tests.faults.crimes.crime import (
    CLAIM_BASIC,
    CLAIM_FPU,
    CLAIM_FPU_AT,
    EDIT_PC,
    EDIT_RETURN,
    EDIT_STACK,
    EDIT_STACK_ASLEEP,
    EDIT_XPSR,
    FPU_STACK_SPIN,
    LONG_UNTIL_TICK,
    NONE,
    READ_FPU,
    RESUME,
    RESUME_AT,
    RUN,
    STACK_AND_CALL,
    STACK_AND_SPIN,
    Crime,
    Number,
    above,
    at,
    faults,
    function,
    goes_on,
    inside,
    number,
    pattern,
)
from tests.faults.observe import Expected
from tests.support.built import Built

XPSR_T = 1 << 24
XPSR_ISR = 0x1FF
XPSR_IT = 0x0600FC00
CALL_INT_DIS, CALL_WDG_CLR, CALL_REBOOT = 2, 7, 20
USART1 = 0x40011000


def parked(system: Built) -> range:
    """In the loop in which the victim is when its context is edited."""
    return system.extent("victim", "park")


def decoy(system: Built) -> int:
    """A frame in the witness's RAM with which code of the witness would go on."""
    return system.symbol("witness", "decoy")


def bottom(offset: int) -> Number:
    """From the start of the victim's RAM."""
    return lambda system: system.memory("victim", "ram").start + offset


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
        until=LONG_UNTIL_TICK + 250,
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
    Crime("S24 two words outside", STACK_AND_SPIN, faults("stacking"), above(8)),
    Crime("S24 half of the frame outside", STACK_AND_SPIN, faults("stacking"), above(16)),
    Crime("S24 half of it below the RAM", STACK_AND_SPIN, faults("stacking"), bottom(16)),
    Crime("S24 legal neighbour: the last frame inside", STACK_AND_SPIN, goes_on(back=1), above(0)),
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
        "C22 call whose number is stacked, and FPU registers are not",
        RUN,
        faults("stacking"),
        above(32),
        number(CALL_WDG_CLR),
        code="vmov.f32 s0, #1.0\nmov sp, r0\nmov r12, r1\nsvc 0\nb .",
    ),
    Crime(
        "S23 mask call, stack in the kernel",
        STACK_AND_CALL,
        faults("stacking"),
        function("kernel", "cpu", 32),  # where a frame is that says who runs
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
        until=LONG_UNTIL_TICK,
    ),
    Crime(
        "F07 FPU part of the frame in the witness", FPU_STACK_SPIN, faults("stacking"), above(72)
    ),
    Crime("F07 two words of it", FPU_STACK_SPIN, faults("stacking"), above(8)),
    Crime("F07 legal neighbour: all of it inside", FPU_STACK_SPIN, goes_on(back=1), above(0)),
]
