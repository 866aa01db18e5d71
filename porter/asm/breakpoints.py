"""Instructions that stop for a debugger, and those of them by which a program calls one."""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.source.asm_text import Instruction

BREAKPOINTS = frozenset({"bkpt", "ebreak", "c.ebreak"})
SEMIHOSTING = 0xAB
WHY_STOP = (
    "stops for a debugger; in a machine it is a fault, and the machine is restarted: take it out, "
    "or write hyp_reboot() where that is meant"
)
WHY_SEMIHOSTING = (
    "semihosting, a call of the debugger; in a machine it is a fault, and the machine is "
    "restarted: take it out; what it prints hyp_putc() writes into the log"
)
_ZERO = r"(?:x0|zero)"
_ENTRY = re.compile(rf"{_ZERO}, {_ZERO}, (?:0x1f|31)")  # what marks an ebreak as such a call


def why_breakpoint(
    instruction: Instruction | None, around: Iterable[Instruction] = (), code: int | None = None
) -> str:
    """What is to be done about one. `around`: the text that it is in; `code`: what it is given,
    where that isn't a number in the text."""
    given = instruction.operands if instruction is not None else ()
    is_call = SEMIHOSTING in (code, *map(_number, given)) or any(
        it.mnemonic == "slli" and _ENTRY.fullmatch(", ".join(it.operands).lower()) for it in around
    )
    return WHY_SEMIHOSTING if is_call else WHY_STOP


def _number(operand: str) -> int | None:
    text = operand.strip("#$ ()").lower()
    return int(text, 0) if re.fullmatch(r"0x[0-9a-f]+|0|[1-9]\d*", text) else None
