"""T: what a victim does with its time."""

from __future__ import annotations

from tests.faults.crimes.crime import (
    LINE_STORM,
    RUN,
    RUN_IN_VCT,
    SPIN,
    Crime,
    Outcome,
    assembled,
    faults,
    goes_on,
    number,
)
from tests.faults.observe import Expected
from tests.support.built import Built

LOOP = "crime: b ."
MASKED = "ldr r0, =fvm_state\nmovs r1, #1\nstrb r1, [r0, #2]\ncrime: b ."
FEED = "mov r12, #7\nsvc 0xF5\n"
FEED_WITH_RUBBISH = "mvn r0, #0\nmvn r1, #0\nmov r2, #0x80000000\nmov r12, #7\nsvc 0xF5\n"
DISABLE = "mov r12, #2\nsvc 0xF5\n"
USART1_LINE = 37


def silent(**says: int) -> Outcome:
    """The others go on; nothing is expected of the victim."""
    return lambda _: Expected(says=says, silent=True, changes=True)


def bitten(name: str, code: str, kind: int = RUN, thread: str = "usr") -> Crime:
    """The watchdog restarts it out of the loop at the label `crime`."""
    plan = Crime(name, kind, faults("watchdog"), code=code)

    def expected(system: Built) -> Expected:
        pc = assembled(system, plan).labels["crime"]
        return Expected(1, "watchdog", pc=range(pc, pc + 2), thread=thread)

    return Crime(name, kind, expected, code=code)


def storm(call: str) -> str:
    """System calls at the highest rate for about a quarter of a second."""
    return f"""
        push {{r4, lr}}
        ldr r4, =400000
    1:  {call}
        svc 0xF5
        subs r4, #1
        bne 1b
        movs r0, #0
        pop {{r4, pc}}
    """


# Instructions that take long and are given up or continued at an interrupt.
LONG = """
    push {r4-r11, lr}
    ldr r12, =300000
    sub sp, #64
1:  mov r0, sp
    stmia r0, {r0-r11}
    ldmia r0, {r0-r11}
    vpush {s0-s31}
    vpop {s0-s31}
    movs r1, #3
    mvn r2, #0
    udiv r3, r2, r1
    sdiv r3, r2, r1
    umull r4, r5, r2, r2
    itttt ne
    addne r4, r5
    mulne r4, r5
    movne r5, r4
    addne r4, #1
    subs r12, #1
    bne 1b
    add sp, #64
    movs r0, #0
    pop {r4-r11, pc}
"""

SLEEP_FOR_EVER = """
    movs r0, #0
    mov r12, #6
    svc 0xF5
    mvn r0, #0
    mov r12, #0
    svc 0xF5
    mvn r0, #0
    mov r12, #0
    svc 0xF5
    movs r0, #1
    bx lr
"""

# Computes until just before the next kernel tick, then sleeps: 200 times.
DODGE = """
    push {r4-r6, lr}
    movs r4, #200
1:  mov r12, #12
    svc 0xF5
    mov r5, r0
2:  mov r12, #12
    svc 0xF5
    subs r0, r5
    ldr r1, =160000
    cmp r0, r1
    blo 2b
    mvn r0, #0
    mov r12, #0
    svc 0xF5
    subs r4, #1
    bne 1b
    movs r0, #0
    pop {r4-r6, pc}
"""

CRIMES = [
    Crime("T01 loop", SPIN, silent(), company=True),
    Crime("T01 loop of the code", RUN, silent(), code=LOOP),
    Crime("T02 loop with interrupts masked", RUN, silent(), code=MASKED, company=True),
    Crime("T03 loop in VCT", RUN_IN_VCT, silent(), code=LOOP, company=True),
    bitten("T04 loop with everything off", f"{FEED}{DISABLE}{LOOP}"),
    bitten("T04 loop with interrupts masked", f"{FEED}{MASKED}"),
    bitten("T04 loop in VCT", f"{FEED}{LOOP}", RUN_IN_VCT, "vct"),
    bitten("T05 fed with rubbish", f"{FEED_WITH_RUBBISH}{LOOP}"),
    Crime(
        "T08 storm of calls served by the kernel",
        RUN,
        goes_on(result=0),
        code=storm("mov r12, #12"),
    ),
    Crime(
        "T08 storm of calls served by the hypervisor",
        RUN,
        goes_on(result=0),
        code=storm("movs r0, #37\nmovs r1, #3\nmov r12, #16").replace("400000", "20000"),
    ),
    Crime(
        "T08 storm of wakes of VCT",
        RUN,
        goes_on(result=0),
        code=storm("mov r12, #9").replace("400000", "50000"),
    ),
    Crime(
        "T09 flood of events",
        RUN,
        goes_on(result=0),
        code=storm("movs r0, #0\nmov r12, #8").replace("400000", "50000"),
    ),
    Crime(
        "T09 flood of signals",
        RUN,
        goes_on(result=0),
        code=storm("movs r0, #1\nmov r12, #8").replace("400000", "50000"),
    ),
    Crime("T10 line that is never cleared", LINE_STORM, silent(), number(USART1_LINE)),
    Crime("T12 long instructions", RUN, goes_on(result=0), code=LONG),
    Crime("T13 sleeps for ever", RUN, silent(), code=SLEEP_FOR_EVER),
    Crime("T16 sleeps before each tick", RUN, goes_on(result=0), code=DODGE),
]
