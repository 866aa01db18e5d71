"""Returns from traps, and what else of the SYSTEM opcode user mode may not run (RISC-V)."""

from __future__ import annotations

from scanner.arch.profiles import profile
from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target

_ALLOWED_HERE = 0x00000073, 0x00100073, 0x10500073
"""ECALL, EBREAK and WFI: rules of their own."""

_HINTS = 0x00D00073, 0x01D00073
"""WRS.NTO and WRS.STO wait for a reservation, or do nothing."""

_URET = 0x00200073
_NAMES = {
    _URET: "uret", 0x10200073: "sret", 0x30200073: "mret", 0x70200073: "mnret", 0x7B200073: "dret",
    0x18000073: "sfence.w.inval", 0x18100073: "sfence.inval.ir", 0x30500073: "cease",
}  # fmt: skip
_FENCES = {0x12000073: "sfence.vma", 0x16000073: "sinval.vma", 0x22000073: "hfence.vvma",
           0x62000073: "hfence.gvma"}  # fmt: skip
_FENCE_MASK = 0xFE007FFF
_HYPERVISOR_FUNCTION = 4
_USER_CUSTOM = 0b100011, 0b110011
"""Upper six bits of the encodings that the standard leaves to vendors for user mode."""


def _judge(value: int, target: Target) -> Judgement | None:
    if value in _ALLOWED_HERE or value in _HINTS:
        return None
    core = profile(target.profile)
    name = _NAMES.get(value) or _FENCES.get(value & _FENCE_MASK)
    if value >> 12 & 7 == _HYPERVISOR_FUNCTION:
        name = "hlv"
    if value == _URET and core.user_interrupts:
        why = "where user interrupts (the N extension) are built in, it ends one"
        return Judgement("silent", why, name)
    if name is None and value >> 26 in _USER_CUSTOM and not core.absent_traps:
        why = "the encoding is the vendor's, for user mode; what it does here is not known"
        return Judgement("silent", why, "system")
    return Judgement("traps", what=name or "system")


RULE = InstructionRule(
    id="privileged",
    why="user mode may not run it: an illegal instruction reboots the domain",
    fix="trap entry and exit belong to the runtime: register handlers through the guest API",
    hardware=(
        "MRET, SRET, URET, DRET and SFENCE.VMA are illegal instructions in user mode, measured in "
        "QEMU. URET runs where the N extension is built in."
    ),
    manual="RISC-V Instruction Set Manual, volume II (20211203), 3.3.2 and 4.2.1",
    patterns=(Pattern(32, 0x707F, 0x0073), Pattern(32, 0x707F, 0x4073)),
    judge=_judge,
    invalid=(
        "mret",
        "sret",
        "uret",
        "dret",
        ".insn 0x70200073",
        "sfence.vma",
        "sfence.vma a0, a1",
        ".insn 0x8c000073",
        ".insn 0x30500073",
        ".insn 0x68054573",
    ),
    valid=("ecall", "ebreak", "wfi", "csrr a0, cycle", ".insn 0x00d00073"),
    assembled_for="rv32imafc",
)
