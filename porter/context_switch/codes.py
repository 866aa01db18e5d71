"""The machines' codes: what is asked of a function, whatever it was made for."""

from __future__ import annotations

from porter.context_switch.assemble import Assembly
from porter.context_switch.code import Code
from porter.context_switch.cortex_m import CORTEX_M
from porter.context_switch.cortex_m_code import ArmCode
from porter.context_switch.machine import Machine
from porter.context_switch.object_file import Function
from porter.context_switch.riscv.code import RiscvCode
from porter.context_switch.riscv.machine import RV32

_CODES: dict[Machine, type[Code]] = {CORTEX_M: ArmCode, RV32: RiscvCode}


def code_of(assembly: Assembly, function: Function) -> Code:
    """A function's code; NotTranscribable where its bytes aren't understood."""
    return _CODES[assembly.object.machine](assembly, function)


def privileged_in(assembly: Assembly, function: Function) -> str:
    """What of a function that a compiler made is privileged; "" for nothing."""
    return _CODES[assembly.object.machine].privileged(assembly, function)
