"""RV32 with compressed instructions, as far as control flow and constants need it.

Source: The RISC-V Instruction Set Manual, volume I (20191213), chapters 2, 16 and 24.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scanner.decode import riscv_constants, riscv_effects, riscv_frames, riscv_jumps
from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import Constants, Direct, Effects
from scanner.decode.instruction_set import Flags, Flow, Flows, Halfwords, Indices
from scanner.decode.marks import Marks
from scanner.decode.riscv_compressed import Words, expanded, instruction_words
from scanner.decode.select import among

JAL, JALR, BRANCH, SYSTEM = 0x6F, 0x67, 0x63, 0x73
_TRAP_RETURNS = 0x00200073, 0x10200073, 0x30200073, 0x70200073, 0x7B200073
_UNIMP = 0xC0001073
_COMPRESSED_EBREAK = 0x9002


class RiscV:
    """RV32IMAFC and everything smaller."""

    name = "riscv"
    code_markers = b"x"
    mixes_constants = False
    starts_with_code = True
    register_jumps: tuple[tuple[int, int], ...] = ()
    link_reads: tuple[tuple[int, int], ...] = ()
    padding: tuple[int, ...] = (0x0000, 0x0001)
    wide_padding = 0x0013, 0x0000
    arguments = riscv_effects.ARGUMENTS
    clobbered = riscv_effects.CLOBBERED

    def __init__(self) -> None:
        first = np.arange(0x10000, dtype=np.uint32)
        is_long = first & 0x1F == 0x1F
        self.wide: Flags = (first & 3 == 3) & ~is_long
        self.ordinary: Flags = ~(_special(first, self.wide) | is_long)
        self._kinds, self._distances = _decoded(np.where(is_long, 0, expanded()))
        self._kinds[_COMPRESSED_EBREAK] = Flow.STOP

    def join(
        self, first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.uint32]:
        """Little-endian: the first halfword is the lower one."""
        joined: npt.NDArray[np.uint32] = second << np.uint32(16) | first
        return joined

    def code_addresses(self, pointers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Jumps clear bit 0; an odd pointer is rarely meant as code."""
        return np.where(pointers & 1, -1, pointers)

    def vectors(self, space: CodeSpace) -> Sequence[int]:
        """Execution begins with an instruction; tables of vectors are not told from data."""
        return []

    def frames(self, space: CodeSpace) -> tuple[Indices, Indices]:
        """What moves the stack pointer down, up to where it goes back."""
        return riscv_frames.frames(space)

    def literals(self, space: CodeSpace, starts: Marks) -> Indices:
        """Constants stand in instructions, not behind them."""
        return np.zeros(0, dtype=np.intp)

    def tables(self, space: CodeSpace, starts: Marks) -> Indices:
        """No bit of an address tells data from code."""
        return np.zeros(0, dtype=np.intp)

    def constants(self, space: CodeSpace, starts: Marks) -> tuple[Constants, Direct]:
        """LUI and AUIPC, and ADDI behind them; loads and stores around address 0 and gp."""
        return riscv_constants.constants(space, self.wide, starts)

    def effects(
        self, first: Halfwords, second: Halfwords, addresses: npt.NDArray[np.int64]
    ) -> Effects:
        """What instructions make of registers."""
        return riscv_effects.effects(instruction_words(first, second), addresses)

    def flows(self, first: npt.NDArray[np.uint16], second: npt.NDArray[np.uint16]) -> Flows:
        """Jumps, branches, calls, returns, and what stops."""
        kinds = self._kinds.take(first, mode="clip")
        distances = self._distances.take(first, mode="clip")
        rows = np.flatnonzero(self.wide.take(first, mode="clip"))
        words = instruction_words(first.take(rows), second.take(rows))
        kinds[rows], distances[rows] = _decoded(words)
        return Flows(kinds, distances, np.zeros(len(first), dtype=np.uint8))

    def table_calls(self, space: CodeSpace, callees: npt.NDArray[np.int32]) -> Flags:
        """No compiler calls a function that reads a table behind the call."""
        return np.zeros(len(callees), dtype=np.bool_)

    def computed_targets(self, space: CodeSpace, starts: Marks, indices: Indices) -> Sequence[int]:
        """Address pairs and jump tables."""
        return riscv_jumps.computed_targets(space, self.wide, starts, indices)

    def pointers(self, space: CodeSpace, starts: Marks) -> Indices:
        """Trap handlers. What else makes an address may mean data: no bit tells code."""
        return np.array(riscv_jumps.vectors(space, starts), dtype=np.intp)


def _decoded(words: Words) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Kinds of flow and distances in halfwords, of instructions as 32-bit words."""
    kinds = np.full(len(words), Flow.NEXT, dtype=np.uint8)
    distances = np.zeros(len(words), dtype=np.int32)
    opcode = words & 0x7F
    branches, jumps = np.flatnonzero(opcode == BRANCH), np.flatnonzero(opcode == JAL)
    kinds[branches] = Flow.BRANCH
    distances[branches] = branch_distance(words[branches]) // 2
    kinds[jumps] = np.where(words[jumps] >> 7 & 31 == 0, Flow.JUMP, Flow.CALL)
    distances[jumps] = jump_distance(words[jumps]) // 2
    indirect = np.flatnonzero(opcode == JALR)
    kinds[indirect] = _indirect(words[indirect])
    system = np.flatnonzero(opcode == SYSTEM)
    stops = among(words[system], (_UNIMP, *_TRAP_RETURNS))
    kinds[system[stops]] = Flow.STOP
    kinds[words == 0] = Flow.STOP
    return kinds, distances


def _indirect(words: Words) -> npt.NDArray[np.uint8]:
    """JALR: to wherever a register points; back to the caller, too, if nothing else is known."""
    return np.where(words >> 7 & 31 == 0, Flow.COMPUTED, Flow.COMPUTED_CALL).astype(np.uint8)


def jump_distance(words: Words) -> npt.NDArray[np.int32]:
    """The immediate of JAL, in bytes."""
    upper = (words.astype(np.int32) >> 31) << 20
    middle = (words & 0xFF000) | (words >> 20 & 1) << 11 | (words >> 21 & 0x3FF) << 1
    return upper | middle.astype(np.int32)


def branch_distance(words: Words) -> npt.NDArray[np.int32]:
    """The immediate of a conditional branch, in bytes."""
    upper = (words.astype(np.int32) >> 31) << 12
    middle = (words >> 7 & 1) << 11 | (words >> 25 & 0x3F) << 5 | (words >> 8 & 0xF) << 1
    return upper | middle.astype(np.int32)


def _special(first: Words, wide: Flags) -> Flags:
    """First halfwords that may begin something `flows` has to look at."""
    words = np.where(wide, first, expanded())
    opcode, function = words & 0x7F, words >> 12 & 7
    is_system = (opcode == SYSTEM) & (function <= 1)
    special: Flags = among(opcode, (JAL, JALR, BRANCH)) | is_system | (words == 0)
    return special
