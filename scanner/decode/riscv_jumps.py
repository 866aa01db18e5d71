"""Where RISC-V jumps through a register lead: pairs that build an address, and jump tables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Indices
from scanner.decode.marks import Marks
from scanner.decode.riscv_compressed import expanded
from scanner.decode.riscv_constants import words_at, writes
from scanner.decode.riscv_fields import fields
from scanner.decode.riscv_values import MAX_CASES, Registers, Sought
from scanner.decode.select import among, previous, select

_BEFORE_JUMP, _BEFORE_CALL = 32, 8
"""So far back an address is sought. Few calls by pointer go to a known place, and they are many."""

_BEFORE_LOAD = 3
_LINK = 1
"""The register that nearly all return addresses are in."""

_LOAD = 0x03
_AUIPC, _LUI, _JALR, _JAL, _SYSTEM = 0x17, 0x37, 0x67, 0x6F, 0x73
_TRAP_VECTOR, _VECTOR_TABLE, _TRAP_PC, _COMMON_ENTRY = 0x305, 0x307, 0x341, 0x7EC
_SET_UPS = _TRAP_VECTOR, _VECTOR_TABLE, _TRAP_PC, _COMMON_ENTRY
"""mtvec, mtvt, mepc, and Nuclei's mtvt2 for interrupts that have no vector of their own."""

_VECTORED, _TABLE = 1, 3
_WRITES_CSR = (0x707F, 0x1073)
_MAX_SET_UPS = 256
"""A program sets its traps up in a few places."""


def computed_targets(space: CodeSpace, wide: Flags, starts: Marks, indices: Indices) -> list[int]:
    """Indices that the jumps and calls at the indices lead to, as far as the code tells."""
    found, alone = _pairs(space, starts, indices)
    tables = []
    for index in _computed(space, wide, starts, alone).tolist():
        parts = fields(_word(space, index))
        steps = _BEFORE_CALL if parts.target else _BEFORE_JUMP
        registers = _before(space, starts, index, steps, parts.left)
        addresses = registers.possible(registers.value(parts.left))
        tables.append([address + parts.number & 0xFFFFFFFE for address in addresses])
    return found + space.tabled(tables)


def _pairs(space: CodeSpace, starts: Marks, indices: Indices) -> tuple[list[int], Indices]:
    """Targets of AUIPC or LUI with a jump right behind it, and the jumps that aren't such."""
    words = words_at(space, indices)
    before = np.maximum(indices - 2, 0)
    firsts = words_at(space, before)
    opcode = firsts & 0x7F
    paired = among(opcode, (_AUIPC, _LUI)) & starts[before] & (indices >= 2)
    paired &= (firsts >> 7 & 31 == words >> 15 & 31) & (words & 0x7F == _JALR)
    upper = (firsts[paired] & 0xFFFFF000).astype(np.int64)
    upper += np.where(opcode[paired] == _AUIPC, space.addresses(before[paired]), 0)
    addresses = (upper + (words[paired].astype(np.int32) >> 20)) & 0xFFFFFFFE
    targets = space.indices(addresses)
    return targets[targets >= 0].tolist(), indices[~paired]


def _computed(space: CodeSpace, wide: Flags, starts: Marks, indices: Indices) -> Indices:
    """Jumps, and of calls and returns, which are many, those whose register is set before.

    What is simply loaded leads anywhere, or back to the caller.
    """
    words = words_at(space, indices)
    chosen = (words >> 7 & 31 == 0) & (words >> 15 & 31 != _LINK)
    rows = np.flatnonzero(~chosen)
    at = indices[rows]
    for _ in range(_BEFORE_LOAD):
        at = previous(space, wide, starts, at)
        rows, at = rows[at >= 0], at[at >= 0]
        before = words_at(space, at)
        sets = writes(before, words[rows] >> 15 & 31)
        chosen[rows[sets & (before & 0x7F != _LOAD)]] = True
        rows, at = rows[~sets], at[~sets]
    found: Indices = indices[chosen]
    return found


def vectors(space: CodeSpace, starts: Marks) -> list[int]:
    """Indices where traps go that the marked code sets up."""
    rows = select(space, starts, (_WRITES_CSR,))
    numbers = space.halfwords[rows + 1] >> 4
    sets_up = among(numbers, _SET_UPS)
    rows, numbers = rows[sets_up][:_MAX_SET_UPS], numbers[sets_up][:_MAX_SET_UPS]
    found: list[int] = []
    for index, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        source = _word(space, index) >> 15 & 31
        pointer = _before(space, starts, index, _BEFORE_JUMP, source).value(source).constant
        if pointer is not None:
            found += _handlers(space, number, pointer)
    return found


def _handlers(space: CodeSpace, number: int, pointer: int) -> Iterator[int]:
    mode = pointer & 3 if number == _TRAP_VECTOR else 0
    base = pointer & ~3 if mode else pointer & ~1
    if number == _VECTOR_TABLE or mode == _TABLE:
        yield from _table(space, base)
        return
    for row in range(MAX_CASES):
        start = space.index(base + 4 * row)
        if start is None:
            return
        yield start
        if mode != _VECTORED or _word(space, start) & 0xFFF != _JAL:
            return


def _table(space: CodeSpace, base: int) -> Iterator[int]:
    """A row of code addresses, with zeros where nothing is handled."""
    for word in space.words(base, MAX_CASES):
        target = None if word % 2 else space.index(word)
        if target is not None:
            yield target
        elif word:
            return


def _before(space: CodeSpace, starts: Marks, index: int, steps: int, register: int) -> Registers:
    """What a register depends on, after the straight line of instructions before the index."""
    line: list[tuple[int, int]] = []
    sought = Sought(register)
    at, is_start = index, starts.has
    for _ in range(steps):
        if at >= 1 and is_start(at - 1):
            earlier = at - 1
        elif at >= 2 and is_start(at - 2):
            earlier = at - 2
        else:
            break
        word = _word(space, earlier)
        ends = word == 0 or word & 0x7F in (_JAL, _JALR)
        if ends or earlier + _length(space, earlier) != at:
            break
        if sought.needs(fields(word)):
            line.append((earlier, word))
        at = earlier
    registers = Registers(space.words)
    for place, word in reversed(line):
        registers.step(space.address(place), word)
    return registers


def _length(space: CodeSpace, index: int) -> int:
    return 2 if space.halfwords.data[index] & 3 == 3 else 1


def _word(space: CodeSpace, index: int) -> int:
    """One instruction; `instruction_words` is for many."""
    words = space.halfwords.data  # of single numbers the buffer is quicker than the array
    first: int = words[index]
    if first & 3 != 3:
        expansion: int = expanded().data[first]
        return expansion
    return 0 if first & 0x1F == 0x1F else first | words[index + 1] << 16
