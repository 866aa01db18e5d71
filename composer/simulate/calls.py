"""Where programs make system calls, and which: the instruction behind which each call comes.

A call's number is a constant that is moved to a register before the calling function of processes
is called, or to r12 before an SVC. Where it isn't, the call stays without a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import capstone

from composer.image.binary import Binary
from composer.sources import runtime_folder

# The parameter that has the number; the first one is where the result goes.
CALLERS = {"fvm_call": "r1"}
SVC_REGISTER = "ip"
DEFINITION = re.compile(r"#define FVM_CALL_(\w+) (\d+)\b")
RANGES = ("HYPERVISOR", "HYPERVISOR_END")  # bounds of a group, not calls
MOST_BYTES = 4 << 20  # of code that is looked at: symbols may overlap without end
REACH = 12  # instructions between the move and the call
CONSTANT = re.compile(r"#(?:0x([0-9a-f]+)|(\d+))$")

Instruction = tuple[int, int, str, str]  # address, size, mnemonic, operands


@cache
def call_names() -> dict[int, str]:
    """Number -> name, from the header that the runtime is compiled with."""
    text = (runtime_folder() / "include/fvm/hypercall.h").read_text("utf-8")
    return {int(n): name.lower() for name, n in DEFINITION.findall(text) if name not in RANGES}


def find_calls(binary: Binary) -> Iterator[tuple[int, int]]:
    """(address, number) of the instructions after which a system call is made."""
    symbols = binary.image.symbols
    if symbols is None:
        return
    targets = {
        place[0]: register
        for name, register in CALLERS.items()
        if (place := symbols.extent(name)) is not None
    }
    starts, sizes = symbols.functions()
    extents = {(int(start) & ~1, int(size)) for start, size in zip(starts, sizes, strict=True)}
    looked_at = 0
    for start, size in sorted(extents):
        looked_at += size
        if looked_at > MOST_BYTES:
            return
        code = _disassemble(binary, start, size)
        jumps = {target for line in code if (target := _target(line)) is not None}
        for index, line in enumerate(code):
            address, _, mnemonic, _ = line
            register = SVC_REGISTER if mnemonic == "svc" else targets.get(_target(line) or 0)
            if register is None or address in jumps:
                continue
            number = _constant(code[max(index - REACH, 0) : index], register, jumps)
            if number is not None:
                yield address, number


def thread_function(binary: Binary, start: int) -> str | None:
    """What the start code of a thread, at this address, calls last and for ever."""
    symbols = binary.image.symbols
    name = None if symbols is None else symbols.function_at(start)
    place = None if symbols is None or name is None else symbols.extent(name)
    if symbols is None or place is None:
        return None
    starts = {int(value) & ~1 for value in symbols.functions()[0]} - {place[0]}
    called = [t for line in _disassemble(binary, *place) if (t := _target(line)) in starts]
    return symbols.function_at(called[-1] or 0) if called else name


def _disassemble(binary: Binary, start: int, size: int) -> list[Instruction]:
    decoder = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    decoder.skipdata = True
    for segment in binary.image.segments:
        offset = start - segment.address
        if segment.executable and 0 <= offset < len(segment.data):
            return list(decoder.disasm_lite(bytes(segment.data[offset : offset + size]), start))
    return []


def _target(instruction: Instruction) -> int | None:
    """Where a direct branch goes."""
    _, _, mnemonic, operands = instruction
    if not mnemonic.startswith(("b", "cb")):
        return None
    found = CONSTANT.search(operands)
    return int(found[1], 16) if found and found[1] else None


def _constant(before: list[Instruction], register: str, jumps: set[int]) -> int | None:
    """What the register holds at the end, if every way there comes past the move."""
    for address, _, mnemonic, operands in reversed(before):
        changed, _, value = operands.partition(", ")
        if changed == register and mnemonic.startswith("mov") and mnemonic != "movt":
            found = CONSTANT.fullmatch(value)
            if found:
                return int(found[1], 16) if found[1] else int(found[2])
            register = value
        elif changed == register or mnemonic.startswith(("b", "cb", "it", "tb")):
            return None
        if address in jumps:
            return None
    return None
