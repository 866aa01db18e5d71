"""What a function with privileged instructions is, by what it does and not by its name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from porter.context_switch.decode import Immediate, Instruction, Memory
from porter.context_switch.object_file import ObjectFile
from porter.context_switch.result import (
    ROLE_CALL,
    ROLE_OTHER,
    ROLE_STACK,
    ROLE_START,
    ROLE_SVC,
    ROLE_SWITCH,
)

_READ_FIRST = frozenset({"msr", "bx", "blx", "str", "strb", "strh", "cmp", "tst", "stm", "stmdb"})
FAULT_STATUS = range(0xE000_ED28, 0xE000_ED3C)  # CFSR, HFSR, DFSR, MMFAR, BFAR
_CALCULATES = frozenset(
    {"mov", "movw", "movt", "mvn", "add", "sub", "and", "orr", "eor", "bic", "lsl", "lsr", "asr",
     "ldr", "ldrb", "ldrh", "dsb", "isb", "dmb", "nop"}
)  # fmt: skip
_SCRATCH = frozenset({"r0", "r1", "r2", "r3", "r12"})
_PRIVILEGED = frozenset({"msr", "mrs", "cpsid", "cpsie", "svc", "wfi", "wfe"})


def classify(instructions: list[Instruction], is_handler: bool = False) -> str | None:
    """The role, or None for a function that the context-switch transcriber has nothing to do with.
    `is_handler`: it is known to serve an exception.

    A handler that reads PSP and writes PSP switches; one that only writes PSP starts the first
    task, which legacy code does behind an SVC, and one that reads PSP and calls what a register
    says leaves both to what it calls; code that raises the SVC, or opens interrupts or resets MSP
    and goes to the task itself is the first-task start; what asks EXC_RETURN for the stack that was
    in use serves supervisor calls; what sets PSP, selects it and returns, without anything else but
    calculating, puts its caller there.
    """
    if puts_caller_on_psp(instructions):
        return ROLE_STACK
    reads = any(i.name == "mrs" and i.detail.endswith("psp") for i in instructions)
    writes = any(i.name == "msr" and i.detail.startswith("psp") for i in instructions)
    resets = any(i.detail.startswith("msp,") for i in instructions)
    opens = resets or any(i.name == "cpsie" for i in instructions)
    raises = any(i.name == "svc" for i in instructions)
    resumes = (is_handler and not raises) or not (opens or _goes_to_argument(instructions))
    if writes and (reads or resumes):
        return ROLE_SWITCH if reads else ROLE_SVC
    if writes:
        return ROLE_START
    calls = raises and not is_handler
    if not reads and (calls or (opens and (writes or resets))):
        return ROLE_START
    if reads and not writes and _reads_msp(instructions):
        return ROLE_CALL
    if reads and is_handler and any(map(_calls_by_register, instructions)):
        return ROLE_SWITCH
    privileged = any(i.name in _PRIVILEGED for i in instructions)
    return ROLE_OTHER if privileged or any(map(_is_literal_load, instructions)) else None


def _reads_msp(instructions: list[Instruction]) -> bool:
    return any(i.name == "mrs" and i.detail.endswith("msp") for i in instructions)


def puts_caller_on_psp(instructions: list[Instruction]) -> bool:
    """Whether a function does that, whatever it calculates on the way."""
    written = [i.detail.partition(",")[0] for i in instructions if i.name == "msr"]
    ends = [i for i in instructions if i.name == "bx"]
    return (
        sorted(written) == ["control", "psp"]
        and [i.detail for i in ends] == ["lr"]
        and all(
            i.name in ("msr", "bx")
            or (i.name in _CALCULATES and set(i.registers()[:1]) <= _SCRATCH)
            for i in instructions
        )
        and not any(i.condition for i in instructions)
    )


def _calls_by_register(instruction: Instruction) -> bool:
    return instruction.name == "blx" and bool(instruction.registers())


def _goes_to_argument(instructions: list[Instruction]) -> bool:
    """Whether it ends with a jump to what the caller said: a task's entry."""
    written = {"lr"}
    for instruction in instructions:
        registers = instruction.registers()
        if instruction.name in ("bx", "blx") and registers:
            return registers[0] not in written
        if instruction.name not in _READ_FIRST:
            written |= set(registers[:1])
    return False


def touches_stack_pointers(instructions: list[Instruction]) -> bool:
    """Whether PSP or MSP is read or written: no other part of the porter understands that."""
    return any(
        instruction.name in ("mrs", "msr") and register in instruction.detail
        for instruction in instructions
        for register in ("psp", "msp")
    )


def loads_stack_pointer(instructions: list[Instruction]) -> bool:
    """Whether sp comes from a register or from memory that no constant names: where tasks run on
    the main stack, a switch needs nothing privileged."""
    return any(
        instruction.registers()[:1] == ("sp",)
        and (
            (instruction.name == "mov" and len(instruction.registers()) > 1)
            or (instruction.name == "ldr" and "pc" not in instruction.detail)
        )
        for instruction in instructions
    )


def sets_callers_stack(instructions: list[Instruction]) -> bool:
    """Whether all it does is to give its caller another main stack."""
    names = [(i.name, i.detail.partition(",")[0]) for i in instructions]
    return ("msr", "msp") in names and all(
        name in ("msr", "mov", "bx", "nop", "dsb", "isb") for name, _ in names
    )


def reads_fault_status(instructions: list[Instruction], unit: ObjectFile, section: int) -> bool:
    """Whether it asks what fault there was."""
    return any(constant_of(it, unit, section) in FAULT_STATUS for it in instructions)


def needs_port(instructions: list[Instruction], unit: ObjectFile, section: int) -> bool:
    """Whether a function of an assembler file has privileged instructions, or addresses of the
    system control space."""
    return any(
        instruction.name in _PRIVILEGED or constant_of(instruction, unit, section) >> 28 == 0xE
        for instruction in instructions
    ) or any(value >> 28 == 0xE for value in _shifted(instructions))


def _shifted(instructions: list[Instruction]) -> Iterator[int]:
    """Words that a shift to the left makes of constants: cores without movt have no other way to
    an address but a word beside the code."""
    known: dict[str, int] = {}
    for instruction in instructions:
        registers, last = instruction.registers(), instruction.operands[-1:]
        amount = last[0].value if last and isinstance(last[0], Immediate) else None
        if instruction.name == "mov" and amount is not None:
            known[registers[0]] = amount
        elif instruction.name == "lsl" and amount is not None and registers[-1] in known:
            known[registers[0]] = known[registers[-1]] << amount & 0xFFFF_FFFF
            yield known[registers[0]]


def constant_of(instruction: Instruction, unit: ObjectFile, section: int) -> int:
    """The word that an instruction loads, 0 for another instruction."""
    last = instruction.operands[-1] if instruction.operands else None
    if isinstance(last, Immediate) and instruction.name in ("mov", "movw", "movt"):
        return last.value << 16 if instruction.name == "movt" else last.value
    if (place := loads_from(instruction)) != instruction.address:
        with suppress(IndexError):
            return unit.word(section, place)
    return 0


def loads_from(instruction: Instruction) -> int:
    """Where the word stands that an instruction loads from beside the code; its own address for
    another, which may have a constant in itself."""
    last = instruction.operands[-1] if instruction.operands else None
    if isinstance(last, Memory) and instruction.name == "ldr" and last.base == "pc":
        return ((instruction.address + 4) & ~3) + last.displacement
    return instruction.address


def _is_literal_load(instruction: Instruction) -> bool:
    """A naked function that loads a constant may reach the system control space."""
    if instruction.name == "movt":
        last = instruction.operands[-1]
        return isinstance(last, Immediate) and last.value >> 12 == 0xE
    return instruction.name == "ldr" and "pc" in instruction.detail
