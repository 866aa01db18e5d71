"""Wrong saving and restoring of registers, as other bytes in the code of a kernel's entries."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from composer.verify.analysis import Analysis
from composer.verify.checks.ownership import watched, who_runs
from composer.verify.code.decode import Instruction, Register
from composer.verify.code.effects import Next
from composer.verify.code.state import Notes, State
from composer.verify.ownership.watch import Watch
from tests.verify.kernels import Alone
from tests.verify.mutation import Mutant

_NOP, _NOP_WIDE = b"\x00\xbf", b"\xaf\xf3\x00\x80"
_KEPT = 0x0FF0  # r4 to r11, as bits
_LR_BIT = 1 << 14


class Passing(Watch):
    """Collects the instructions that handlers run themselves."""

    def __init__(self, alone: Alone, analysis: Analysis) -> None:
        super().__init__(alone.system, who_runs(analysis), analysis.memory, analysis.stack_top)
        self.seen: dict[int, Instruction] = {}

    def passed(
        self, before: State, instruction: Instruction, way: Next, executed: bool
    ) -> Notes | None:
        """As the watch does."""
        self.seen[instruction.address] = instruction
        return super().passed(before, instruction, way, executed)


def register_mutants(alone: Alone) -> list[Mutant]:
    """Every list of r4 to r11 or S16 to S31 that is one register shorter or another one, every
    such instruction and every other step of a switch left out, every test of EXC_RETURN turned."""
    analysis = Analysis(alone.kernel)
    passing = Passing(alone, analysis)
    assert list(watched(analysis, passing)) == []
    code = [passing.seen[address] for address in sorted(passing.seen)]
    found: list[Mutant] = []
    for number, instruction in enumerate(code):
        data = analysis.memory.find(instruction.address, instruction.size)
        assert data is not None
        before = code[number - 1] if number else instruction
        found += (
            Mutant(f"0x{instruction.address:08x} {instruction.text}: {what}",
                   {instruction.address: patch})
            for what, patch in _changes(instruction, data, before)
        )  # fmt: skip
    return found


def _changes(
    instruction: Instruction, data: bytes, before: Instruction
) -> Iterator[tuple[str, bytes]]:
    name, text = instruction.name, instruction.text
    gone = _NOP if instruction.size == 2 else _NOP_WIDE
    if name in ("ldm", "stm") and len(data) == 4:
        first, registers = struct.unpack("<HH", data)
        if registers & _KEPT == _KEPT:
            yield "left out", gone
            for bit in range(16):
                if registers >> bit & 1:
                    yield f"without r{bit}", struct.pack("<HH", first, registers & ~(1 << bit))
            others = registers & _LR_BIT | (registers & _KEPT) << 1
            yield "the next register each", struct.pack("<HH", first, others)
    elif name in ("vldmia", "vstmia"):
        first, second = struct.unpack("<HH", data)
        yield "left out", gone
        yield "one less", struct.pack("<HH", first, second - 1)
        if second & 0xFF == 16:  # S16 to S31
            yield "one further", struct.pack("<HH", first | 1 << 6, second - 1)
    elif text.startswith(("msr psp", "vmsr fpscr", "cpsie")):
        yield "left out", gone
    elif text.startswith("mrs") and text.endswith("psp") and not text.startswith("mrs r0,"):
        yield "left out", gone  # into r0: the frame of a call
    elif name in ("ldr", "str") and before.name in ("ldm", "stm", "mrs"):
        if _moves_stack_pointer(before, instruction):
            yield "left out", gone
    elif name in ("and", "orr") and _is_return_register(instruction):
        yield "left out", gone
    elif (
        name == "b"
        and instruction.condition in ("eq", "ne")
        and (before.name == "tst" and before.text.endswith((", #4", ", #0x10")))
    ):
        turned = bytearray(data)
        if len(data) == 2:
            turned[1] ^= 1
        else:
            turned[0] ^= 1 << 6
        yield "turned", bytes(turned)


def _is_return_register(instruction: Instruction) -> bool:
    target = instruction.operands[0]
    return isinstance(target, Register) and target.number == 14


def _moves_stack_pointer(before: Instruction, instruction: Instruction) -> bool:
    """Behind r4 to r11 and lr, at the place where that list ended."""
    if before.name == "mrs":
        return instruction.name == "str"
    return "lr" in before.text and before.writes_back and instruction.name[:2] == before.name[:2]
