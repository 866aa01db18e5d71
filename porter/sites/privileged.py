"""Instructions that a virtual machine can't run: what the hardware ignores or the kernel owns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.registers.system_space import in_system_space
from porter.source.asm_text import Instruction

_SPECIAL = frozenset(
    {"primask", "basepri", "basepri_max", "faultmask", "control", "msp", "psp", "msplim", "psplim",
     "ipsr", "iapsr", "eapsr", "epsr", "iepsr", "psr", "xpsr", "cpsr", "cpsr_c", "cpsr_cxsf",
     "spsr", "sp"}
)  # fmt: skip
_CPS = re.compile(r"cps(?:i[de])?$")
UNREAD = frozenset({".inst", ".insn", "dci"})
"""Instructions by their number, which nobody read."""

_WAIT = frozenset({"wfi", "wfe", "sev"})
_CSR = re.compile(r"csr[rwsc]+i?$")
_KERNEL_CSR = re.compile(
    r"(?:m[a-z]\w*|pmp\w+|d(?:csr|pc|scratch\d?)|t(?:select|data\d|info|control)"
    r"|[su](?:status|ie|ip|tvec|counteren|scratch|epc|cause|tval|atp|envcfg)"
    r"|(?:cycle|time|instret|hpmcounter\d+)h?)$"
)
_COUNTER = re.compile(r"rd(?:cycle|time|instret)h?$")
_FLOATING_POINT = range(1, 4)  # numbers of fflags, frm and fcsr
_CSR_NUMBER = re.compile(r"0x[0-9a-f]+|\d+")
_OF_TEMPLATE = re.compile(r"%[a-z]?(?:\d|\[)")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d{9,}")


def judged_by_operand(mnemonic: str) -> bool:
    """Whether only its operands say that an instruction is a site."""
    return mnemonic.startswith(("mrs", "msr")) or _CSR.match(mnemonic) is not None


def privileged(instruction: Instruction) -> bool:
    """Whether an instruction is a site."""
    name = instruction.mnemonic
    operands = [operand.lower() for operand in instruction.operands]
    if (
        name in UNREAD
        or _CPS.match(name)
        or name in _WAIT
        or name in ("svc", "swi", "mret", "ecall")
    ):
        return True
    if name.startswith(("mrs", "msr")):
        return any(operand.removesuffix("_ns") in _SPECIAL for operand in operands)
    if _COUNTER.match(name):
        return True
    if _CSR.match(name):
        return bool(operands) and _is_kernels(operands[_place_of_register(name, operands)])
    return any(
        in_system_space(int(number.group(), 0))
        for operand in operands
        for number in _NUMBER.finditer(operand)
    )


def _place_of_register(name: str, operands: Sequence[str]) -> int:
    """Which operand of an access to a CSR names it: `csrw CSR, x`, but `csrr x, CSR`."""
    writes_only = len(operands) < 3 and name.removesuffix("i") in ("csrw", "csrs", "csrc")
    return 0 if writes_only or len(operands) < 2 else 1


def _is_kernels(register: str) -> bool:
    """All but those of floating point are; an operand of a template may be any of them."""
    if _CSR_NUMBER.fullmatch(register):
        return int(register, 0 if register.startswith("0x") else 10) not in _FLOATING_POINT
    return bool(_KERNEL_CSR.match(register) or _OF_TEMPLATE.match(register))
