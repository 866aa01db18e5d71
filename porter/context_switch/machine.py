"""What a machine is to the transcriber, as data: how its compiler and assembler are called, what
their objects are like, which registers calls keep, where devices are, what a guest of it lacks.

A machine that is new here is one more `Machine`, listed in `machines`, and what its instructions
mean, one more `Code`, listed in `codes`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from porter.context_switch.call_registers import CallRegisters
from porter.context_switch.compiled_text import CompiledText
from porter.project.compile_options import CompileOptions
from porter.registers.register import Register
from porter.registers.system_space import SystemSpace

Masks = Mapping[str, re.Pattern[str] | None]
JumpTargets = Callable[[bytes, int, int], Iterable[tuple[int, int]]]


@dataclass(frozen=True, eq=False)
class Machine:
    """The compiler. `elf`: e_machine of its objects; `macro`: what it defines by itself;
    `is_named`: whether options say so where it can't be asked; `runtime`: the folder of its headers
    in fvm-runtime/arch.
    `assembler`: switches of GNU's; `gnu_only`: why no other's text is understood, "" where it is;
    `compiled`: what is made of a C file, from the text and the file's name.

    Objects. `word`: the relocation of a word that is an address; `jumps`: those of instructions
    that go there; `dwarf`: debug information of an object's bytes; `jump_targets`: in a section,
    between two places, jumps of a table and where they go, None where handlers are words of a
    table; `length`: bytes of an instruction, from its first halfword; `fillers`: what fills up or
    stops, and so may be lost.

    Numbers in assembler text. `core`: the scanner's name for what decodes them; `head`: what a text
    begins with; `argument`: how names of registers begin that stand for operands; `spelled`: what
    the scanner has no text for, None for nothing.

    Calls and addresses. `thread_pointer`: names of the register of threads' variables, none where
    none is kept for them; `space`: where the system's registers are, by the name of a chip, None
    for any; `devices`: where else no handler may go, as far as that is known without the chip;
    `register`: what of the system stands at an address.

    Handlers. `masks`: what holds interrupts off, with the text that takes it, None where every
    handler begins so; `resuming`: roles of functions that C may believe never to return;
    `numbered_calls`: whether a supervisor call says something to who serves it; `no_yields`: why
    the guest's library makes no frames of yields, "" where it does; `template`: what shows what to
    write instead of a handler."""

    elf: str
    macro: str
    is_named: Callable[[CompileOptions], bool]
    runtime: str
    assembler: str
    gnu_only: str
    compiled: Callable[[str, str], CompiledText]

    word: int
    jumps: frozenset[int]
    dwarf: Callable[[bytes], Any]
    jump_targets: JumpTargets | None
    length: Callable[[int], int]
    fillers: frozenset[bytes]

    core: str
    head: str
    argument: str
    spelled: Callable[[int], str | None]

    calls: CallRegisters
    thread_pointer: tuple[str, ...]
    space: Callable[[str | None], SystemSpace]
    devices: tuple[tuple[int, int], ...]
    register: Callable[[int], Register | None]

    masks: Masks
    resuming: frozenset[str]
    numbered_calls: bool
    no_yields: str
    template: str
