"""Instructions that a virtual machine can't run: what the hardware ignores, the kernel owns or a
debugger serves."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.asm.breakpoints import BREAKPOINTS
from porter.registers.system_space import in_system_space
from porter.source.arithmetic import literal
from porter.source.asm_text import Instruction

_OF_ANYBODY = re.compile(r"apsr(_\w+)?")
"""The special registers that unprivileged code reads and writes (Armv7-M manual, B5.2)."""
UNREAD = frozenset({".inst", ".insn", "dci"})
"""Instructions by their number, which nobody read."""

_CPS = re.compile(r"cps(?:i[de])?$")
_OTHERS = frozenset({"wfi", "wfe", "sev", "svc", "swi", "mret", "ecall"})
# armcc's named register variables: `register unsigned mask __asm("basepri")`, which reads and
# writes it by the variable's name.
_NAMED = frozenset(
    {"primask", "basepri", "basepri_max", "faultmask", "control", "msp", "psp", "ipsr", "xpsr",
     "iapsr", "eapsr", "iepsr", "epsr"}
)  # fmt: skip
_CSR = re.compile(r"csr[rwsc]+i?$")
_OF_FLOATING_POINT = re.compile(r"fflags|frm|fcsr|(?:0x0*)?[123]")
_COUNTER = re.compile(r"rd(?:cycle|time|instret)h?$")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d{9,}")


def judged_by_operand(mnemonic: str) -> bool:
    """Whether only its operands say that an instruction is a site."""
    return mnemonic.startswith(("mrs", "msr")) or _CSR.match(mnemonic) is not None


def privileged(instruction: Instruction) -> bool:
    """Whether an instruction is a site."""
    name = instruction.base
    operands = [operand.lower() for operand in instruction.operands]
    if name in UNREAD | _OTHERS | BREAKPOINTS or _CPS.match(name) or _COUNTER.match(name):
        return True
    if name in _NAMED and not operands:
        return True
    if name.startswith(("mrs", "msr")):
        special = next(iter(operands[1 if name.startswith("mrs") else 0 :]), "")
        return bool(special) and _OF_ANYBODY.fullmatch(special) is None
    if _CSR.match(name):
        register = _csr(name, operands)
        return bool(register) and _OF_FLOATING_POINT.fullmatch(register) is None
    numbers = (it for operand in operands for it in _NUMBER.findall(operand))
    values = (literal(it.encode()) for it in numbers)
    return any(it is not None and in_system_space(it.value) for it in values)


def _csr(name: str, operands: Sequence[str]) -> str:
    """The register that such an instruction names: `csrw CSR, x`, but `csrr x, CSR`. "" where that
    is a part of the text that isn't here."""
    writes_only = len(operands) < 3 and name.removesuffix("i") in ("csrw", "csrs", "csrc")
    return next(iter(operands[0 if writes_only else 1 :]), "")
