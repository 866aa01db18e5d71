"""RV32 as the transcriber has to know it."""

from __future__ import annotations

from porter.context_switch.call_registers import CallRegisters
from porter.context_switch.compiled_text import compiled_for_riscv
from porter.context_switch.machine import Machine
from porter.context_switch.result import ANY_TRAP, ROLE_START, ROLE_SVC, ROLE_SWITCH
from porter.context_switch.riscv.debug_lines import dwarf
from porter.context_switch.riscv.jump_table import jump_targets
from porter.project.compiler_command import is_for_riscv
from porter.registers.riscv_blocks import riscv_space
from scanner.arch.profiles import profile
from scanner.rules import csr

_R_RISCV_32 = 1
_JUMPS = frozenset({16, 17, 18, 19, 44, 45})  # BRANCH, JAL, CALL(_PLT), RVC_BRANCH, RVC_JUMP
_C_NOP, _C_STAY, _C_EBREAK = b"\1\0", b"\1\xa0", b"\2\x90"
_NOP, _STAY, _EBREAK = b"\x13\0\0\0", b"\x6f\0\0\0", b"\x73\0\x10\0"


def _spelled(value: int) -> str | None:
    return csr.spelled(value, profile(None)) if csr.is_access(value) else None


RV32 = Machine(
    elf="EM_RISCV",
    macro="__riscv",
    is_named=is_for_riscv,
    runtime="riscv32",
    assembler="-Wa,-gdwarf-4,-mno-relax",  # distances are final: the linker shortens nothing
    gnu_only="of RISC-V only GNU's assembler is understood, not IAR's",
    compiled=compiled_for_riscv,
    word=_R_RISCV_32,
    jumps=_JUMPS,
    dwarf=dwarf,
    jump_targets=jump_targets,
    length=lambda first: 4 if first & 3 == 3 else 2,
    fillers=frozenset({b"\0\0", _C_NOP, _C_STAY, _C_EBREAK, _NOP, _STAY, _EBREAK}),
    core="rv32imac",
    head=".text\n",
    argument="a",
    spelled=_spelled,
    calls=CallRegisters(
        arguments=tuple(f"a{number}" for number in range(8)),
        destroyed=frozenset(
            {f"a{number}" for number in range(8)} | {f"t{number}" for number in range(7)}
        ),
        results=("a0", "a1"),
        kept=frozenset({f"s{number}" for number in range(12)}),
        safe="s0-s11",
        link="ra",
    ),
    thread_pointer=("tp", "x4"),
    space=riscv_space,
    devices=((0x1_0000, 0xFFFF_0000),),  # anywhere: all but what may stand for no address
    register=lambda address: None,
    masks={"mstatus": None},
    # What starts tasks returns where a handler's C calls it.
    resuming=frozenset({ROLE_SWITCH, ROLE_SVC, ROLE_START}),
    numbered_calls=False,
    no_yields="the guest library builds no frames of this machine",
    template=ANY_TRAP,
)
