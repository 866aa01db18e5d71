"""C09 to C18: system calls that must be refused, with the result that each must give."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from tests.faults.crimes.crime import RUN, RUN_IN_VCT, Crime, Outcome, goes_on

E_CALL, E_CAPABILITY, E_ARGUMENT, E_OWNER, E_LOCKED = -1, -2, -3, -4, -5
IRQ_ENA, IRQ_DIS, IRQ_DONE, TICK_SET, EVT_SND = 3, 4, 5, 6, 8
PIN_SET, CYCLES, PIN_GET = 11, 12, 13
VCT_PHYS, VCT_EVT, EVT_ADD, VCT_LCK, REBOOT = 16, 17, 18, 19, 20
FAULT_NEXT, SIGNAL_SEND, STATUS, DOMAIN_STOP = 32, 33, 34, 35
VCPU_BUDGET, DOMAIN_RESTART, FAULT_READ, SIGNAL_WAIT, REQUEST_NEXT = 39, 40, 41, 42, 43
DECIDED, TIMER_SET = 60, 61
CALLS_OF_VMS = {*range(14), *range(VCT_PHYS, REBOOT + 1)}
ON_CAPABILITIES = (
    EVT_SND, SIGNAL_SEND, REQUEST_NEXT, DOMAIN_STOP, VCPU_BUDGET, DOMAIN_RESTART, FAULT_READ,
    FAULT_NEXT, STATUS, DECIDED, TIMER_SET,
)  # fmt: skip
CALLS_OF_PROCESSES = {*ON_CAPABILITIES, SIGNAL_WAIT}

OWN_LINE, WITNESS_LINE, FIRST_VECTOR = 37, 28, 3
LINES, EVENTS, VECTORS = 82, 2, 64
EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF)
FAR = (0x100, 0x10003, 0x7FFFFFFF, 0x80000000, 0x80000003, 0xFFFFFFFF)
RANDOM_CALLS = 300


class Call(NamedTuple):
    """Number, three arguments, and the result that must come back."""

    number: int
    a: int
    b: int
    c: int
    result: int


# r6 counts the calls whose result is another one; r0-r3 and r12 are the kernel's to see.
MAKE_CALLS = """
    push {{r4-r7, lr}}
    adr r4, table
    ldr r5, =COUNT
    movs r6, #0
1:  ldr r12, [r4], #4
    ldmia r4!, {{r0-r2}}
    svc 0xF5
    ldr r3, [r4], #4
    cmp r0, r3
    it ne
    addne r6, #1
    subs r5, #1
    bne 1b
    mov r0, r6
    pop {{r4-r7, pc}}
    .ltorg
    .balign 4
table: {table}
"""


def calls(
    name: str,
    made: Sequence[Call],
    by: str = "victim",
    kind: int = RUN,
    expected: Outcome | None = None,
) -> Crime:
    """Makes them all; none may give anything else, and no right may change."""
    table = "\n".join(
        f".word {', '.join(str(word & 0xFFFFFFFF) for word in call)}" for call in made
    )
    code = MAKE_CALLS.format(table=table).replace("COUNT", str(len(made)))
    return Crime(name, kind, expected or goes_on(result=0), by=by, code=code)


def by_a_vm(number: int, a: int, b: int) -> int | None:
    """What a call of the victim must give; None where it is allowed."""
    if number not in CALLS_OF_VMS:
        return E_CALL
    if number in (IRQ_ENA, IRQ_DIS):
        return E_ARGUMENT if a >= LINES else None if a == OWN_LINE else E_OWNER
    if number == IRQ_DONE:
        return None if a == FIRST_VECTOR else E_ARGUMENT
    if number == TICK_SET:
        return E_ARGUMENT if a > 1000 or (a and 1000 % a) else None
    if number == EVT_SND:
        return E_ARGUMENT if a >= EVENTS else None
    if number == PIN_SET:
        return E_OWNER
    if number == PIN_GET:
        return E_ARGUMENT if b > 1 else E_OWNER
    return E_LOCKED if number in range(VCT_PHYS, REBOOT) else None


def of_a_vm(numbers: Sequence[int], values: Sequence[int], seconds: Sequence[int]) -> list[Call]:
    found = []
    for number, a, b in product(numbers, values, seconds):
        result = by_a_vm(number, a, b)
        if result is not None:
            found.append(Call(number, a, b, 0, result))
    return found


def wild_calls() -> Iterator[Call]:
    """Any number with any arguments, as long as it must be refused."""
    chosen = random.Random(9)
    while True:
        number = chosen.choice((chosen.randrange(256), chosen.getrandbits(32), *CALLS_OF_VMS))
        a, b, c = (chosen.choice((chosen.getrandbits(32), chosen.randrange(90))) for _ in range(3))
        result = by_a_vm(number, a, b)
        if result is not None:
            yield Call(number, a, b, c, result)


def by_a_process(number: int) -> int:
    return E_CAPABILITY if number in CALLS_OF_PROCESSES else E_CALL


def some(source: Iterator[Call], count: int) -> list[Call]:
    return [next(source) for _ in range(count)]


NUMBERS = [n for n in (*range(256), *FAR) if n not in CALLS_OF_VMS]
IMMEDIATES = "\n".join(f"mov r12, #{CYCLES}\nsvc {i}" for i in range(256))

CRIMES = [
    calls("C09 every number", [Call(n, n, 0xFFFFFFFF, 0, E_CALL) for n in NUMBERS]),
    calls("C09 random numbers and arguments", some(wild_calls(), RANDOM_CALLS)),
    Crime("C09 every immediate", RUN, goes_on(result=0), code=f"{IMMEDIATES}\nmovs r0, #0\nbx lr"),
    calls(
        "C09 a process: every number",
        [Call(n, 0xFFFF, 0, 0, by_a_process(n)) for n in (*range(256), *FAR)],
        by="rogue",
    ),
    calls(
        "C10 capabilities out of the table, and of another type",
        [
            Call(n, cap, 0xFFFFFFFF, 0xFFFFFFFF, E_CAPABILITY)
            for n, cap in product(ON_CAPABILITIES, (0, 1, *EDGES[2:]))
        ],
        by="rogue",
    ),
    calls(
        "C12 numbers at the ends of their ranges",
        of_a_vm(
            (IRQ_ENA, IRQ_DIS, IRQ_DONE, TICK_SET, EVT_SND),
            (*EDGES, LINES - 1, LINES, VECTORS - 1, VECTORS, 3, 1001),
            (0,),
        )
        + of_a_vm((PIN_SET, PIN_GET, VCT_PHYS, VCT_EVT, EVT_ADD), EDGES, (0, 2, 0xFFFFFFFF)),
    ),
    calls(
        "C14 registration after lockdown",
        of_a_vm((VCT_PHYS, VCT_EVT, EVT_ADD, VCT_LCK), (OWN_LINE, 0, 1), (FIRST_VECTOR, 4)),
    ),
    calls(
        "C14 events of somebody else",
        [Call(EVT_SND, event, 0, 0, E_OWNER) for event in range(EVENTS)]
        + [Call(EVT_ADD, event, 0, 0, E_LOCKED) for event in range(EVENTS)],
        by="plain",
    ),
    calls(
        "C14 hypervisor's calls from VCT",
        [Call(n, OWN_LINE, FIRST_VECTOR, 0, E_CALL) for n in range(VCT_PHYS, REBOOT)],
        kind=RUN_IN_VCT,
    ),
    calls(
        "C15 the witness's line",
        of_a_vm((IRQ_ENA, IRQ_DIS, VCT_PHYS), (WITNESS_LINE,), (0, 3, 4, 64, 0xFFFFFFFF)),
    ),
    calls(
        "C18 capability words built in its own RAM",
        [
            Call(n, 0x2000F800 + offset, 0, 0, E_CAPABILITY)
            for n, offset in product(sorted(CALLS_OF_PROCESSES), range(0, 64, 4))
        ],
        by="rogue",
    ),
]
