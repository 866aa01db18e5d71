"""Accesses to control and status registers (RISC-V)."""

from __future__ import annotations

from scanner.arch.profiles import Profile, profile
from scanner.rules.csr_numbers import (
    COUNTERS,
    FLOATING_POINT,
    OTHER_EXTENSIONS,
    USER_INTERRUPTS,
    is_read_only,
    lowest_level,
    register_name,
)
from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.rules.riscv_names import NAMES
from scanner.target import Target

_SYSTEM = 0x73
_WRITE, _SET = 1, 2
_LETTERS = {1: "w", 2: "s", 3: "c"}
_IMMEDIATE = 4
_FORMS = 0x1073, 0x2073, 0x3073
_USER_RANGES = (
    (0xF0000000, 0x00000000),
    (0xF0000000, 0x40000000),
    (0xF0000000, 0x80000000),
    (0xFC000000, 0xCC000000),
)
"""Where numbers of registers lie that user mode reaches and the standard leaves open."""

_ABSENT = "the core has no such register: an illegal instruction"
_DENIED = (
    "user mode may reach a register of this number, and what it does on this core is not known"
)


def is_access(value: int) -> bool:
    """Whether a word is an instruction on one of these registers."""
    return value & 0x7F == _SYSTEM and bool(value >> 12 & 3)


def spelled(value: int, core: Profile) -> str:
    """Such an instruction as text, with the core's names of registers."""
    return _spelled(value, value >> 12 & 7, _name(value >> 20, core))


def _judge(value: int, target: Target) -> Judgement | None:
    core = profile(target.profile)
    number, operation = value >> 20, value >> 12 & 7
    writes = operation & 3 == _WRITE or bool(value >> 15 & 31)
    what = spelled(value, core)
    level = lowest_level(number)
    if level != "user":
        return Judgement("traps", f"it needs {level} mode: an illegal instruction", what)
    if is_read_only(number) and writes:
        return Judgement("traps", "nobody can write it: an illegal instruction", what)
    own = core.user_csrs.get(number)
    if own is not None:
        return Judgement(own.severity, own.effect, what, strict=core.strict_csrs)
    if number in FLOATING_POINT:
        if target.arch != "rv32imafc":
            return Judgement("traps", _ABSENT, what)
        why = "the domain has no FPU, and mstatus.FS stays off: an illegal instruction"
        return None if target.policy.fpu else Judgement("policy", why, what)
    if number in COUNTERS:
        return None
    if number in OTHER_EXTENSIONS or core.absent_traps:
        return Judgement("traps", _ABSENT, what)
    if number in USER_INTERRUPTS:
        why = "where user interrupts (the N extension) are built in, it commands them"
        return Judgement("silent", why, what)
    return Judgement("silent", _DENIED, what)


def _name(number: int, core: Profile) -> str:
    own = core.user_csrs.get(number)
    if own is not None:
        return own.name
    return core.other_csrs.get(number) or register_name(number)


def _spelled(value: int, operation: int, name: str) -> str:
    """The form that programmers write: csrr, csrw and the like where a register is x0."""
    target, source = value >> 7 & 31, value >> 15 & 31
    if operation & 3 == _SET and not source:
        return f"csrr {NAMES[target]}, {name}"
    immediate = operation & _IMMEDIATE
    operand = str(source) if immediate else NAMES[source]
    letters = _LETTERS[operation & 3] + ("i" if immediate else "")
    return (
        f"csrr{letters} {NAMES[target]}, {name}, {operand}"
        if target
        else f"csr{letters} {name}, {operand}"
    )


RULE = InstructionRule(
    id="csr",
    why="it reaches what the system keeps to itself",
    fix="use the guest API for interrupts and time; other vendor registers belong to the runtime",
    hardware=(
        "Bits 9 and 8 of the number are the lowest privilege that reaches a register: from user "
        "mode all others are illegal instructions. Numbers 0x800 to 0x8ff and 0xcc0 to 0xcff are "
        "the vendor's and reach user mode: on WCH QingKe 0x800 (gintenr) switches the interrupts "
        "of the whole chip, and nothing traps. In QEMU's user mode every number but those of "
        "floating point and counters is an illegal instruction, measured for all 4096."
    ),
    manual=(
        "RISC-V Instruction Set Manual, volume II (20211203), 2.1 and 2.2; "
        "QingKe V4 processor manual, chapter on control and status registers"
    ),
    patterns=(
        *(
            Pattern(32, 0x307F | mask, form | match, everywhere=True)
            for mask, match in _USER_RANGES
            for form in _FORMS
        ),
        *(Pattern(32, 0x307F, form) for form in _FORMS),
    ),
    judge=_judge,
    invalid=(
        "csrw 0x800, a0",
        "csrrci a0, 0x800, 8",
        "csrr a5, 0x804",
        "csrs 0x8ff, zero",
        "csrr a0, 0xcc0",
        "csrr t6, 0xcff",
        "csrw 0x000, a0",
        "csrsi 0x4cc, 1",
        "csrr a0, mstatus",
        "csrc mie, a0",
        "csrw mtvec, t0",
        "csrr a0, mhartid",
        "csrw pmpcfg0, a0",
        "csrw satp, zero",
        "csrw cycle, a0",
        "csrr a0, 0x7b0",
        "csrr a0, 0xbc0",
    ),
    valid=("rdcycle a0", "rdtimeh a0", "rdinstret a1", "ecall", "csrr a0, 0xc03"),
    assembled_for="rv32imafc",
    decisive=0xFFFFF07F,
)
