"""F: what is left in registers and memory."""

from __future__ import annotations

from tests.faults.crimes.crime import FLIP, RUN, Crime, number
from tests.faults.crimes.spatial import CLEAR, READ, touch, write
from tests.faults.observe import Expected

FPCCR, FPCAR = 0xE000EF34, 0xE000EF38
LAZY_ACTIVE = "0xC0000001"

# Fills r1-r11 with a pattern, calls, and counts what changed. r12 is the number, r0 the result.
KEEPS = """
    push {r4-r11, lr}
    sub sp, #4
    movs r0, #0
    mov r12, #12
    ldr r1, =0x5EC2E701
    ldr r2, =0x5EC2E702
    ldr r3, =0x5EC2E703
    ldr r4, =0x5EC2E704
    ldr r5, =0x5EC2E705
    ldr r6, =0x5EC2E706
    ldr r7, =0x5EC2E707
    ldr r8, =0x5EC2E708
    ldr r9, =0x5EC2E709
    ldr r10, =0x5EC2E70A
    ldr r11, =0x5EC2E70B
    CALL
    svc 0xF5
    movs r0, #0
    ldr lr, =0x5EC2E700
    CHECK
    add sp, #4
    pop {r4-r11, pc}
"""
CHECK = "\n".join(f"sub r{n}, lr\ncmp r{n}, #{n}\nit ne\naddne r0, #1" for n in range(1, 12))


def keeps(call: str) -> str:
    return KEEPS.replace("CHECK", CHECK).replace("CALL", call)


def flips(first: int, seeds: int, short: bool) -> Crime:
    """One random bit of the exposed context or of USR's frame a seed. Where many flips follow each
    other, some may hit the victim's own count of them: then it doesn't tell that it is done."""
    told = {"flips": seeds} if short else {}
    return Crime(
        f"F06 {seeds} flipped bits from seed {first}",
        FLIP,
        lambda _: Expected(restarts=None, records=False, says=told, silent=True, changes=True),
        number(first),
        number(seeds),
        starts=0xFFFFFFFF,
        until=600 + 8 * seeds,
        short=short,
    )


FLIPS_IN_FULL = 10000
FLIPS_A_RUN = 500

CRIMES = [
    touch("F03 points lazy stacking elsewhere", write("pattern"), FPCAR, "bus"),
    touch("F03 claims lazy stacking", write(LAZY_ACTIVE), FPCCR, "bus"),
    touch("F03 switches the stacking off", CLEAR, FPCCR, "bus"),
    touch("F03 reads where it is stacked", READ, FPCAR, "bus"),
    Crime(
        "F04 registers after a call of the kernel",
        RUN,
        lambda _: Expected(says={"result": 0}),
        code=keeps(""),
    ),
    Crime(
        "F04 registers after a call of the hypervisor",
        RUN,
        lambda _: Expected(says={"result": 1}),  # r1 is an argument
        code=keeps("movs r0, #37\nmovs r1, #3\nmov r12, #16"),
    ),
    flips(1, 40, short=True),
    *(
        flips(first, FLIPS_A_RUN, short=False)
        for first in range(1000, 1000 + FLIPS_IN_FULL, FLIPS_A_RUN)
    ),
]
