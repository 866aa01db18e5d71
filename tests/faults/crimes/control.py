"""C: what a victim executes, and how often."""

from __future__ import annotations

from tests.faults.crimes.crime import (
    LONG_UNTIL_TICK,
    RUN,
    RUN_AT_START,
    RUN_IN_VCT,
    SCRIBBLE,
    STACK_AND_CALL,
    Crime,
    above,
    assembled,
    faults,
    function,
    goes_on,
    number,
)
from tests.faults.observe import Expected
from tests.support.built import Built

VCT_WAIT, CALL_CYCLES, VCT_PHYS = 0, 12, 16

# Unprivileged writes of these are ignored, reads give 0 (ARM ARM B5.2.3).
TAKE_THE_PROCESSOR = """
    mrs r3, control
    movs r0, #0
    msr control, r0
    isb
    mrs r2, control
    subs r0, r2, r3
    movs r1, #1
    msr primask, r1
    msr faultmask, r1
    movs r1, #0x20
    msr basepri, r1
    msr basepri_max, r1
    ldr r1, =witness_ram_end
    msr msp, r1
    mrs r1, primask
    orrs r0, r1
    mrs r1, basepri
    orrs r0, r1
    mrs r1, msp
    orrs r0, r1
    bx lr
"""
HINTS = "cpsid i\ncpsid f\nsev\nwfe\nwfi\nyield\nnop\ndmb\ndsb\nisb\ncpsie i\nmovs r0, #0\nbx lr"

# Everything that the domain has, its own stack too.
SPOIL_ALL = """
    ldr r0, =own_ram
    ldr r1, =own_ram_end
    ldr r2, =0xABABABAB
1:  str r2, [r0], #4
    cmp r0, r1
    blo 1b
    pop {r4, pc}
"""


def there(name: str, code: str, cause: str, kind: int = RUN, by: str = "victim") -> Crime:
    """A fault without an address at the label `crime`."""
    plan = Crime(name, kind, faults(cause), by=by, code=code)

    def expected(system: Built) -> Expected:
        pc = assembled(system, plan).labels["crime"]
        thread = "vct" if kind == RUN_IN_VCT else "usr"
        return Expected(1, cause, pc=range(pc, pc + 1), thread=thread)

    return Crime(name, kind, expected, by=by, code=code)


def handler(name: str, value: str, cause: str, pc: str) -> Crime:
    """Overwrites the tick's handler in the guest library's vector table."""
    code = f"""
        ldr r0, =vector_run
        ldr r1, ={value}
        str r1, [r0, #4]
        movs r0, #0
        bx lr
        .ltorg
        .balign 4
    where: .word {pc}
    """
    plan = Crime(name, RUN, faults(cause), code=code)

    def expected(system: Built) -> Expected:
        at = assembled(system, plan).word_at("where")
        return Expected(1, cause, pc=range(at, at + 1), thread="vct", says={"result": 0})

    return Crime(name, RUN, expected, code=code)


def again(name: str, code: str, cause: str, starts: int) -> Crime:
    """Before the firmware does anything, at each of its starts."""
    plan = Crime(name, RUN_AT_START, faults(cause), code=code)

    def expected(system: Built) -> Expected:
        pc = assembled(system, plan).labels["crime"]
        return Expected(starts, cause, pc=range(pc, pc + 1), records=False)

    return Crime(
        name, RUN_AT_START, expected, starts=starts, code=code, until=LONG_UNTIL_TICK + 500
    )


def waits(number: int) -> str:
    """Calls that block, often; nothing but the call depends on r0-r3 and r12."""
    return f"""
        push {{r4, lr}}
        movw r4, #100
    1:  mvn r0, #0
        mov r12, #{number}
        svc 0xF5
        subs r4, #1
        bne 1b
        pop {{r4, pc}}
    """


CRIMES = [
    Crime("C07 takes the processor", RUN, goes_on(result=0), code=TAKE_THE_PROCESSOR),
    Crime("C07 takes it in VCT", RUN_IN_VCT, goes_on(result=0), code=TAKE_THE_PROCESSOR),
    Crime("C07 a process takes it", RUN, goes_on(result=0), by="rogue", code=TAKE_THE_PROCESSOR),
    Crime("C08 masks, sleeps, signals", RUN, goes_on(result=0), code=HINTS),
    there("C08 breakpoint", "crime: bkpt #0\nbx lr", "hard"),
    there("C08 breakpoint of a process", "crime: bkpt #0\nbx lr", "hard", by="rogue"),
    Crime(
        "C11 call with half of the frame outside",
        STACK_AND_CALL,
        faults("stacking"),
        above(16),
        number(CALL_CYCLES),
    ),
    Crime(
        "C11 call with the frame in code",
        STACK_AND_CALL,
        faults("stacking"),
        function("victim", "park"),
        number(CALL_CYCLES),
    ),
    Crime(
        "C11 call with the frame around the end of memory",
        STACK_AND_CALL,
        faults("stacking"),
        number(16),
        number(CALL_CYCLES),
    ),
    Crime(
        "C13 arguments change while it waits",
        SCRIBBLE,
        goes_on(back=1),
        number(0x57A7A5FF),
        code=waits(VCT_WAIT),
    ),
    Crime(
        "C13 arguments change while the hypervisor serves it",
        SCRIBBLE,
        goes_on(back=1),
        number(0x57A7A5FF),
        code=waits(VCT_PHYS).replace("#100", "#4000"),
    ),
    there("C16 undefined instruction", "crime: udf #0\nbx lr", "usage"),
    there("C16 division by zero", "movs r1, #0\ncrime: udiv r0, r0, r1\nbx lr", "usage"),
    there("C16 coprocessor", "crime: mcr p0, 0, r0, c0, c0\nbx lr", "usage"),
    there("C16 FPU without a grant", "crime: vmov s0, r0\nbx lr", "usage", by="plain"),
    there("C16 undefined instruction in VCT", "crime: udf #0\nbx lr", "usage", RUN_IN_VCT),
    there("C16 undefined instruction of a process", "crime: udf #0\nbx lr", "usage", by="rogue"),
    Crime(
        "C17 spoils its whole RAM",
        RUN,
        lambda _: Expected(1, "memory", pc=range(0xABABABAA, 0xABABABAB), says={"fresh": 1}),
        code=SPOIL_ALL,
    ),
    handler("C17 vector to the witness", "spoil + 1", "memory", "spoil"),
    handler("C17 vector to nowhere", "0x60000001", "memory", "0x60000000"),
    handler("C17 even vector", "main", "usage", "main"),
    again("C19 fault at every start", "crime: udf #0", "usage", 100),
    again(
        "C20 what it finds at a start makes it fault",
        "ldr r0, =0\ncrime: ldr r0, [r0]",
        "memory",
        100,
    ),
]
