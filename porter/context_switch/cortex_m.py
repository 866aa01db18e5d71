"""Cortex-M as the transcriber has to know it."""

from __future__ import annotations

import re
from typing import Any

from porter.context_switch.arm_relocations import JUMPS, R_ARM_ABS32, R_ARM_TLS_LDO32
from porter.context_switch.call_registers import FLAGS, CallRegisters
from porter.context_switch.compiled_text import compiled_for_arm
from porter.context_switch.machine import Machine
from porter.context_switch.result import ANY_SWITCH, ROLE_SVC, ROLE_SWITCH
from porter.context_switch.sections_once import SectionsOnce
from porter.registers.system_space import ArmSpace, identify

_NOP, _MOV_R8_R8, _STAY, _WIDE_NOP = b"\0\xbf", b"\xc0\x46", b"\xfe\xe7", b"\xaf\xf3\0\x80"
_BARRIERS = {  # dsb, dmb and isb, each with all of its options
    bytes((0xBF, 0xF3, kind << 4 | option, 0x8F)) for kind in (4, 5, 6) for option in range(16)
}


def _dwarf(raw: bytes) -> Any:
    return SectionsOnce(_without_threads(raw)).get_dwarf_info()


def _without_threads(raw: bytes) -> bytes:
    """An object whose debug information doesn't say where in a thread's storage a variable is:
    nobody asks, and elftools knows no such relocation."""
    data, elf = bytearray(raw), SectionsOnce(raw)
    for section in elf.iter_sections("SHT_REL"):
        entries = range(section["sh_offset"], section["sh_offset"] + section["sh_size"], 8)
        in_debug = section.name.startswith(".rel.debug")
        for entry in entries if in_debug else ():
            if data[entry + 4] == R_ARM_TLS_LDO32:  # the symbol's number stands behind it
                data[entry + 4] = R_ARM_ABS32
    return bytes(data)


CORTEX_M = Machine(
    elf="EM_ARM",
    macro="__arm__",
    is_named=lambda options: False,  # it is what is taken where no other is named
    runtime="armv7m",
    assembler="-Wa,-gdwarf-4,-mimplicit-it=thumb",
    gnu_only="",
    compiled=compiled_for_arm,
    word=R_ARM_ABS32,
    jumps=JUMPS,
    dwarf=_dwarf,
    jump_targets=None,
    length=lambda first: 4 if first >> 11 > 0x1C else 2,
    fillers=frozenset({b"\0\0", _NOP, _MOV_R8_R8, _STAY, _WIDE_NOP}) | _BARRIERS,
    core="armv7em",
    head=".syntax unified\n.thumb\n.text\n",
    argument="r",
    spelled=lambda value: None,
    calls=CallRegisters(
        arguments=("r0", "r1", "r2", "r3"),
        destroyed=frozenset(
            {"r0", "r1", "r2", "r3", "r12", FLAGS} | {f"s{number}" for number in range(16)}
        ),
        results=("r0", "r1", "s0", "s1"),
        kept=frozenset(
            {f"r{number}" for number in range(4, 12)} | {f"s{number}" for number in range(16, 32)}
        ),
        safe="r4-r11",
        link="lr",
    ),
    thread_pointer=(),
    space=lambda chip: ArmSpace(),
    devices=((0x4000_0000, 0x6000_0000), (0xE000_0000, 0xE010_0000)),  # Armv7-M ARM B3.1
    register=identify,
    masks={
        "PRIMASK": re.compile(r"cpsid|msr\w*\s+primask", re.IGNORECASE),
        "BASEPRI": re.compile(r"msr\w*\s+basepri", re.IGNORECASE),
    },
    resuming=frozenset({ROLE_SWITCH, ROLE_SVC}),
    numbered_calls=True,
    no_yields="",
    template=ANY_SWITCH,
)
