"""S: what a domain reaches for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tests.faults.crimes.crime import (
    RUN,
    UNTIL_TICK,
    Crime,
    Outcome,
    assembled,
    faults,
    goes_on,
    places,
)
from tests.faults.observe import Expected
from tests.support.built import Built
from tests.support.invariants import stored
from tests.support.variables import Variables

READ = "ldr r0, =WHERE\ncrime: ldr r0, [r0]\nbx lr"
CALL = "ldr r0, =WHERE\nbx r0"


def write(value: str) -> str:
    """Of a word."""
    return f"ldr r0, =WHERE\nldr r1, ={value}\ncrime: str r1, [r0]\nbx lr"


WRITE, CLEAR = write("0x5EC2E7FF"), write("0")

NVIC_ICER0, STIR = 0xE000E180, 0xE000EF00
SYST_CSR, ICSR, VTOR, AIRCR, SHCSR = 0xE000E010, 0xE000ED04, 0xE000ED08, 0xE000ED0C, 0xE000ED24
MPU_CTRL, MPU_RASR = 0xE000ED94, 0xE000EDA0
RESET, PENDSVSET, WITNESS_LINE = "0x05FA0004", "1 << 28", "28"

UNITS = {"ldrb r0, [r0]": 1, "ldrh r0, [r0]": 2, "ldr r0, [r0]": 4, "ldrd r0, r1, [r0]": 8}


def stopped(crime: Crime, cause: str) -> Outcome:
    """The record names the instruction at the label `crime` and the address stored at `where`."""

    def expected(system: Built) -> Expected:
        code = assembled(system, crime)
        pc = code.labels["crime"]
        return Expected(1, cause, pc=range(pc, pc + 1), address=code.word_at("where"))

    return expected


def touch(
    name: str,
    text: str,
    where: int | str,
    cause: str = "memory",
    by: str = "victim",
    short: bool = True,
) -> Crime:
    """One access to an address or a named place that ends in a fault there."""
    code = f"{text}\n.balign 4\nwhere: .word WHERE".replace("WHERE", str(where))
    plan = Crime(name, RUN, faults(cause), by=by, code=code)
    return Crime(name, RUN, stopped(plan, cause), by=by, code=code, short=short)


def jump(name: str, where: int | str, cause: str = "memory") -> Crime:
    """A call of an address that nothing may be executed at; the record has it as pc."""

    def expected(system: Built) -> Expected:
        address = places(system, "victim")[where] if isinstance(where, str) else where
        return Expected(1, cause, pc=range(address, address + 1))

    return Crime(name, RUN, expected, code=CALL.replace("WHERE", f"{where} + 1"))


@dataclass(frozen=True)
class Access:
    """An instruction with r0 as the address `place` + `offset`; it faults at `place` + `hit`."""

    instruction: str
    place: str
    offset: int
    hit: int


def series(name: str, accesses: Sequence[Access], legal: str = "nop") -> Crime:
    """One access a start; before each, the legal neighbours."""
    cases = "\n".join(
        f"case{i}: ldr r0, ={access.place} + ({access.offset})\n{access.instruction}\nbx lr\n.ltorg"
        for i, access in enumerate(accesses)
    )
    table = "\n".join(f".word case{i} + 1" for i in range(len(accesses)))
    code = (
        f"push {{r2, lr}}\n{legal}\npop {{r2, lr}}\n"
        f"adr r0, table\nsubs r2, #1\nldr pc, [r0, r2, lsl #2]\n.ltorg\ntable: {table}\n{cases}"
    )

    def expected(system: Built) -> Expected:
        known = places(system, "victim")
        hits = tuple(known[access.place] + access.hit for access in accesses)
        pc = system.extent("victim", "code")
        return Expected(len(accesses), "memory", pc=pc, addresses=hits)

    until = UNTIL_TICK + 40 * len(accesses)
    return Crime(name, RUN, expected, starts=len(accesses), code=code, until=until)


def edge(area: str) -> Crime:
    """One byte past both ends of an area, in each size; the last legal units before."""
    accesses, legal = [], []
    for load, size in UNITS.items():
        aligned = min(size, 4)
        accesses.append(Access(load, f"{area}_end", 0, 0))
        accesses.append(Access(load, area, -aligned, -aligned))
        legal.append(f"ldr r0, ={area}_end - {size}\n{load}")
        legal.append(f"ldr r0, ={area}\n{load}")
    return series(f"S16 around {area.replace('_', ' ')}", accesses, "\n".join(legal))


STRADDLING = [
    Access("ldmia r0, {r0-r3}", "own_ram_end", -8, 0),
    Access("stmia r0, {r0-r3}", "own_ram_end", -8, 0),
    Access("ldrd r0, r1, [r0]", "own_ram_end", -4, 0),
    Access("strd r0, r1, [r0]", "own_ram_end", -4, 0),
    Access("vldmia r0, {s0-s7}", "own_ram_end", -16, 0),
    Access("vstmia r0, {s0-s7}", "own_ram_end", -16, 0),
    Access("ldmia r0, {r0-r3}", "own_ram", -8, -8),
    Access("stmia r0, {r0-r3}", "own_ram", -8, -8),
]


def hole(crime: Crime) -> Outcome:
    """The word below the victim's RAM is in a subregion of its that is switched off."""

    def expected(system: Built) -> Expected:
        kernel = system.folder / "kernel" / "kernel.elf"
        table = Variables(kernel, lambda address, size: stored(kernel, address, size))
        below = system.memory("victim", "ram").start - 4
        victim = next(d for d in table["fvm_domain"] if bytes(d["name"]).startswith(b"victim\0"))
        assert any(off(r["rbar"], r["rasr"], below) for r in victim["protection"]["region"])
        return stopped(crime, "memory")(system)

    return expected


def off(rbar: int, rasr: int, address: int) -> bool:
    """Whether an address is in a region, and in a subregion of it that is switched off."""
    size = 2 << (rasr >> 1 & 31)
    offset = address - (rbar & ~0x1F)
    return bool(rasr & 1 and 0 <= offset < size and rasr >> 8 >> (offset * 8 // size) & 1)


def misaligned(name: str, instruction: str) -> Crime:
    """Not even allowed in memory of one's own."""
    code = f"ldr r0, =secret + 2\ncrime: {instruction}\nbx lr"
    plan = Crime(name, RUN, faults("usage"), code=code)

    def expected(system: Built) -> Expected:
        pc = assembled(system, plan).labels["crime"]
        return Expected(1, "usage", pc=range(pc, pc + 1))

    return Crime(name, RUN, expected, code=code)


HOLE = touch("S18 a hole of subregions", READ, "own_ram - 4")


CRIMES = [
    touch("S01 null read", READ, 0),
    touch("S02 null write", WRITE, 0),
    jump("S03 null call", 0),
    Crime(
        "S03 call of an even null",
        RUN,
        lambda _: Expected(1, "memory", pc=range(1)),
        code="movs r0, #0\nblx r0",
    ),
    touch("S04 reads the witness's RAM", READ, "pattern"),
    touch("S04 a process reads the witness's RAM", READ, "pattern", by="rogue"),
    touch("S05 writes the witness's RAM", WRITE, "pattern"),
    touch("S05 a process writes the witness's RAM", WRITE, "pattern", by="rogue"),
    touch("S06 reads the kernel's RAM", READ, "cpu"),
    touch("S07 writes the kernel's RAM", CLEAR, "cpu"),
    touch("S07 writes the kernel's stack", CLEAR, "kernel_stack"),
    touch("S07 a process writes the kernel's RAM", CLEAR, "cpu", by="rogue"),
    touch("S08 writes its own thread", CLEAR, "thread_table"),
    touch("S08 writes its own vCPU", CLEAR, "vcpu_table"),
    touch("S08 writes its own restart count", WRITE, "own_domain"),
    touch("S09 writes its own code", WRITE, "own_code"),
    touch("S10 writes the kernel's flash", WRITE, "kernel_code"),
    touch("S10 writes the witness's flash", WRITE, "witness_code"),
    touch("S11 reads the kernel's flash", READ, "kernel_text"),
    touch("S11 reads the witness's flash", READ, "witness_code"),
    touch("S12 reads the witness's USART", READ, 0x40004400),
    touch("S13 stops the witness's timer", CLEAR, 0x40000000),
    touch("S13 switches the witness's USART off", CLEAR, 0x4000440C),
    touch("S14 closes the witness's line", write("1 << 28"), NVIC_ICER0, "bus"),
    touch("S14 moves the vector table", CLEAR, VTOR, "bus"),
    touch("S14 resets the chip", write(RESET), AIRCR, "bus"),
    touch("S14 stops the tick", CLEAR, SYST_CSR, "bus"),
    touch("S14 disables the fault handlers", CLEAR, SHCSR, "bus"),
    touch("S14 pends an exception", write(PENDSVSET), ICSR, "bus"),
    touch("S14 triggers a line in software", write(WITNESS_LINE), STIR, "bus"),
    touch("S15 switches the MPU off", CLEAR, MPU_CTRL, "bus"),
    touch("S15 opens a region", WRITE, MPU_RASR, "bus"),
    edge("own_ram"),
    edge("own_code"),
    edge("board"),
    series("S17 multiples across an edge", STRADDLING),
    replace(HOLE, expected=hole(HOLE)),
    jump("S19 executes its own RAM", "secret"),
    jump("S20 calls the witness", "spoil"),
    misaligned("S21 unaligned load multiple", "ldmia r0, {r0-r3}"),
    misaligned("S21 unaligned load double", "ldrd r0, r1, [r0]"),
    misaligned("S21 unaligned exclusive", "ldrex r1, [r0]"),
    Crime(
        "S21 legal neighbour: an unaligned word",
        RUN,
        goes_on(result=0),
        code="ldr r0, =secret + 2\nldr r0, [r0]\nmovs r0, #0\nbx lr",
    ),
    Crime(
        "S25 recursion without end",
        RUN,
        lambda _: Expected(1, "stacking", placed=False),
        code="1: push {r0-r7, lr}\nbl 1b",
    ),
    touch("S27 programs a DMA controller", CLEAR, 0x40026410),
    touch("S28 writes the witness by its bit-band alias", CLEAR, "pattern_alias"),
    touch("S29 reads where nothing is", READ, 0x60000000),
    touch("S29 writes where nothing is", WRITE, 0xA0000000),
    touch("S30 writes what it may only read", WRITE, "board"),
    Crime(
        "S30 legal neighbour: reads it",
        RUN,
        goes_on(result=0),
        code="ldr r0, =board\nldr r0, [r0]\nbx lr",
    ),
]
