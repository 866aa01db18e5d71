"""What a crime is, and places in the image that crimes name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.faults.assembled import Assembled, assemble
from tests.faults.observe import Expected
from tests.support.built import Built
from tests.support.invariants import stored
from tests.support.variables import Variables

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
    RUN,
    RUN_IN_VCT,
    RUN_AT_START,
    SCRIBBLE,
    FLIP,
    LINE_STORM,
    SOAK,
) = range(23)

RAM, BIT_BAND = 0x20000000, 0x22000000
UNTIL_TICK = 1000
LONG_UNTIL_TICK = 1500

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
    code: str = ""  # for RUN, RUN_IN_VCT, RUN_AT_START: assembler text
    until: int = UNTIL_TICK
    short: bool = True  # part of the short form of the campaign

    @property
    def id(self) -> str:
        """The class, as S01."""
        return self.name.partition(" ")[0]


def places(system: Built, by: str) -> Mapping[str, int]:
    """What the code of crimes may name. `own_` is what belongs to the one that commits it."""
    found = {}
    for part in ("kernel", "hypervisor", "heartbeat", "witness", by):
        name = "own" if part == by else part
        for kind in ("ram", "code"):
            area = system.memory(part, kind)
            found[f"{name}_{kind}"], found[f"{name}_{kind}_end"] = area.start, area.stop
    elf = system.folder / "kernel" / "kernel.elf"
    kernel = Variables(elf, lambda address, size: stored(elf, address, size))
    for table in ("thread_table", "vcpu_table", "domain_table", "cpu"):
        found[table] = kernel.address(table)
    domains = [bytes(domain["name"]).rstrip(b"\0").decode() for domain in kernel["fvm_domain"]]
    found["own_domain"] = kernel.address("domain_table") + domains.index(by) * kernel.element(
        "domain_table"
    )
    for name in ("pattern", "decoy", "spoil", "flooded"):
        found[name] = system.symbol("witness", name)
    found["pattern_alias"] = BIT_BAND + 32 * (found["pattern"] - RAM)
    found["kernel_stack"] = system.symbol("kernel", "kernel_stack_limit")
    found["kernel_text"] = system.symbol("kernel", "cpu_arch_reset")
    found["board"] = system.grant("victim", "shared", "board").start
    found["board_end"] = system.grant("victim", "shared", "board").stop
    for name in ("vector_run", "fvm_state", "secret", "ticks", "lines", "main"):
        if by == "victim":
            found[name] = system.symbol(by, name)
    return found


def assembled(system: Built, crime: Crime) -> Assembled:
    """The crime's machine code where it will be."""
    return assemble(crime.code, system.symbol(crime.by, "code"), places(system, crime.by))


def words_of(system: Built, crime: Crime) -> dict[int, int]:
    """What the image has to hold for the crime."""
    plan = system.symbol(crime.by, "plan")
    ram = system.memory("witness", "ram")
    told = system.symbol("witness", "ram")
    words = (crime.kind, crime.a(system), crime.b(system), crime.starts)
    patches = {plan + 4 * i: word for i, word in enumerate(words)}
    patches |= {told: ram.start, told + 4: len(ram)}
    if crime.company:
        patches[system.symbol("plain", "plan")] = SPIN
        patches[system.symbol("plain", "plan") + 12] = 1
    if crime.code:
        at = system.symbol(crime.by, "code")
        patches |= {at + 4 * i: word for i, word in enumerate(assembled(system, crime).words)}
    return patches


def goes_on(**says: int) -> Outcome:
    """Nothing happens to anybody."""
    return lambda _: Expected(says=says)


def faults(cause: str, starts: int = 1, pc: Places | None = None) -> Outcome:
    """The victim, and only it, is restarted."""
    return lambda s: Expected(restarts=starts, cause=cause, pc=pc(s) if pc else None)


def at(address: Number) -> Places:
    """Exactly there."""
    return lambda s: range(address(s), address(s) + 1)


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


def function(part: str, name: str, odd: int = 0) -> Number:
    return lambda system: system.symbol(part, name) + odd


def pattern(system: Built) -> int:
    """In the witness's pattern: so far in that a frame with FPU state above or below fits."""
    return system.symbol("witness", "pattern") + 256
