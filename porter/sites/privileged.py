"""Instructions that a virtual machine can't run: what the hardware ignores or the kernel owns."""

from __future__ import annotations

import re

from porter.registers.system_space import in_system_space
from porter.source.asm_text import Instruction

_SPECIAL = frozenset(
    {"primask", "basepri", "basepri_max", "faultmask", "msp", "psp", "msplim", "psplim", "ipsr",
     "iapsr", "eapsr", "epsr", "iepsr", "xpsr", "cpsr", "cpsr_c", "cpsr_cxsf", "spsr"}
)  # fmt: skip
_CPS = re.compile(r"cps(?:i[de])?$")
_WAIT = frozenset({"wfi", "wfe", "sev"})
_CSR = re.compile(r"csr[rwsc]+i?$")
_MACHINE_CSR = re.compile(
    r"(?:m[a-z]\w*|pmp\w+|d(?:csr|pc|scratch\d?)|t(?:select|data\d|info|control)"
    r"|s(?:status|ie|ip|tvec|counteren|scratch|epc|cause|tval|atp|envcfg)"
    r"|0x(?:[137bf][0-9a-f]{2}|80[04]))$"
)
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d{9,}")


def judged_by_operand(mnemonic: str) -> bool:
    """Whether only its operands say that an instruction is a site."""
    return mnemonic.startswith(("mrs", "msr")) or _CSR.match(mnemonic) is not None


def privileged(instruction: Instruction) -> bool:
    """Whether an instruction is a site."""
    name = instruction.mnemonic
    operands = [operand.lower() for operand in instruction.operands]
    if _CPS.match(name) or name in _WAIT or name in ("svc", "swi", "mret", "ecall"):
        return True
    if name.startswith("mrs"):
        return bool(_SPECIAL & set(operands))
    if name.startswith("msr"):
        return bool((_SPECIAL | {"control"}) & set(operands))
    if _CSR.match(name):
        return any(_MACHINE_CSR.match(operand) for operand in operands)
    return any(
        in_system_space(int(number.group(), 0))
        for operand in operands
        for number in _NUMBER.finditer(operand)
    )
