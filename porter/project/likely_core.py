"""The machine that a project without build files is for, by the privileged instructions in it."""

from __future__ import annotations

import re
from collections.abc import Iterable

_RISCV = re.compile(
    rb"\b(?:csr[rwsc]{1,2}i?|mret|m(?:status|tvec|epc|cause|scratch)|PFIC|E?CLIC|CLINT"
    rb"|core_riscv|riscv\w*|WCH-Interrupt-fast|ch32v\w*|gd32vf\w*)\b",
    re.IGNORECASE,
)
_ARM = re.compile(
    rb"\b(?:cpsi[de]|mrs|msr|__[gs]et_(?:PRIMASK|BASEPRI|[MP]SP|CONTROL)|SCB|PRIMASK|BASEPRI"
    rb"|core_cm\w+|arm_math|cortex-m\w*)\b",
    re.IGNORECASE,
)
# Makers of RISC-V chips took over NVIC_EnableIRQ(), SysTick and __disable_irq(): they tell nothing.
_RV32 = ("-march=rv32imac_zicsr", "-mabi=ilp32")


def likely_core(texts: Iterable[bytes]) -> tuple[str, ...]:
    """Compiler options for RV32, where more of its files show that machine than a Cortex-M; ()
    elsewhere."""
    balance = 0
    for text in texts:
        balance += bool(_RISCV.search(text)) - bool(_ARM.search(text))
    return _RV32 if balance > 0 else ()
