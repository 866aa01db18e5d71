"""Whether an assembler function only calculates, with its arguments and numbers, in registers that
a call may destroy: what counts leading zeros for a C compiler that can't."""

from __future__ import annotations

from porter.context_switch.assemble import Assembly
from porter.context_switch.decode import Immediate, Instruction, Register, decode_all
from porter.context_switch.object_file import Function
from porter.context_switch.result import NotTranscribable

_CALCULATES = frozenset(
    {"clz", "rbit", "rev", "rev16", "mov", "movw", "movt", "mvn", "and", "orr", "eor", "bic", "add",
     "sub", "rsb", "lsl", "lsr", "asr", "cmp", "cmn", "tst", "uxtb", "uxth", "sxtb", "sxth", "mul",
     "it", "nop"}
)  # fmt: skip
_REGISTERS = frozenset({"r0", "r1", "r2", "r3", "r12"})


def calculates(assembly: Assembly, function: Function) -> bool:
    """Whether it does that and comes back. Nothing in it branches, so it runs as it stands."""
    try:
        code = decode_all(assembly.object, function, assembly.text)
    except NotTranscribable:
        return False
    for address in sorted(code):
        instruction = code[address]
        if instruction.name == "bx" and instruction.registers() == ("lr",):
            if not instruction.condition:
                return True
        elif not _is_harmless(assembly, function, instruction):
            return False
    return False


def _is_harmless(assembly: Assembly, function: Function, it: Instruction) -> bool:
    known = it.name in _CALCULATES and set(it.registers()) <= _REGISTERS
    plain = all(isinstance(part, Register | Immediate) for part in it.operands)
    places = range(it.address, it.next, 2)
    linked = any(assembly.object.relocation(function.section, place) for place in places)
    return known and plain and not linked
