"""What Thumb instructions do to registers (ARMv7-M ARM, A5.2 and A5.3)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from scanner.decode.effects import NONE, Effect, Effects
from scanner.decode.instruction_set import Flags, Halfwords

_WIDE = 0xE800
_SP, _PC = 13, 15
_CHANGED_BY_HANDLERS = 0x100F
"""What an exception's frame holds, so what the handler of an SVC may change."""
_FROM_PC = 33
"""As a base: the address of the instruction plus 4, rounded down to a word."""

Words = npt.NDArray[np.int32]


def effects(first: Halfwords, second: Halfwords, addresses: npt.NDArray[np.int64]) -> Effects:
    """Decode instructions at addresses."""
    found = _narrow().chosen(first)
    rows = np.flatnonzero(first >= _WIDE)
    if len(rows):
        found.put(rows, _wide(first[rows].astype(np.int32), second[rows].astype(np.int32)))
    relative = found.base == _FROM_PC
    found.number[relative] += (addresses[relative] + 4) & ~3
    found.base[relative] = NONE
    return found


class _Table:
    """Rows that are filled in by masks."""

    def __init__(self, rows: int) -> None:
        self.effects = Effects.nothing(rows)

    def put(self, rows: Flags, kind: int, **columns: Any) -> None:
        """Set columns of the marked rows; arrays are those of all rows."""
        for name, value in {"kind": np.uint8(kind), **columns}.items():
            column = getattr(self.effects, name)
            column[rows] = value[rows] if isinstance(value, np.ndarray) else value


@cache
def _narrow() -> Effects:
    """For every first halfword what it does as an instruction of its own."""
    h = np.arange(0x10000, dtype=np.int32)
    table = _Table(len(h))
    low, middle, high, top = h & 7, h >> 3 & 7, h >> 6 & 7, h >> 8 & 7
    imm5, imm8 = h >> 6 & 0x1F, h & 0xFF
    _narrow_arithmetic(table, h)
    table.put((h & 0xF800) == 0x4800, Effect.LOAD, target=top, base=_FROM_PC, number=imm8 * 4)
    for op in range(8):
        kind = Effect.STORE if op < 3 else Effect.LOAD
        table.put((h & 0xFE00) == 0x5000 | op << 9, kind, target=low, base=middle, index=high)
    for match, size in ((0x6000, 4), (0x7000, 1), (0x8000, 2)):
        for load, kind in ((0, Effect.STORE), (0x800, Effect.LOAD)):
            rows = (h & 0xF800) == match | load
            table.put(rows, kind, target=low, base=middle, number=imm5 * size)
    table.put((h & 0xF800) == 0x9000, Effect.STORE, target=top, base=_SP, number=imm8 * 4)
    table.put((h & 0xF800) == 0x9800, Effect.LOAD, target=top, base=_SP, number=imm8 * 4)
    count = sum((h >> bit & 1) for bit in range(8))
    table.put((h & 0xFE00) == 0xB400, Effect.OTHER, base=_SP, update=-4 * (count + (h >> 8 & 1)))
    table.put(
        (h & 0xFE00) == 0xBC00, Effect.OTHER, base=_SP, update=4 * (count + (h >> 8 & 1)),
        written=imm8,
    )  # fmt: skip
    table.put((h & 0xFF00) == 0xDF00, Effect.OTHER, written=_CHANGED_BY_HANDLERS)
    lowest = np.select([(h >> bit & 1) == 1 for bit in range(8)], list(range(8)), NONE)
    table.put((h & 0xF800) == 0xC000, Effect.STORE, target=lowest, base=top, update=4 * count)
    loads = (h & 0xF800) == 0xC800
    table.put(loads, Effect.LOAD, base=top, update=4 * count, written=imm8)
    return table.effects


def _narrow_arithmetic(table: _Table, h: Words) -> None:
    low, middle, high, top = h & 7, h >> 3 & 7, h >> 6 & 7, h >> 8 & 7
    imm8 = h & 0xFF
    wide_low, wide_middle = h & 7 | h >> 4 & 8, h >> 3 & 0xF
    shift = h >> 6 & 0x1F
    table.put((h & 0xF800) == 0x0000, Effect.ADD, target=low, index=middle, shift=shift)
    for match in (0x0800, 0x1000, 0xB200, 0xBA00):  # shifts right, extensions, reversals
        mask = 0xF800 if match < 0x2000 else 0xFF00
        table.put((h & mask) == match, Effect.OTHER, written=1 << low)
    table.put((h & 0xFE00) == 0x1800, Effect.ADD, target=low, base=middle, index=high)
    table.put((h & 0xFE00) == 0x1A00, Effect.SUBTRACT, target=low, base=middle, index=high)
    table.put((h & 0xFE00) == 0x1C00, Effect.ADD, target=low, base=middle, number=high)
    table.put((h & 0xFE00) == 0x1E00, Effect.ADD, target=low, base=middle, number=-high)
    table.put((h & 0xF800) == 0x2000, Effect.ADD, target=top, number=imm8)
    table.put((h & 0xF800) == 0x3000, Effect.ADD, target=top, base=top, number=imm8)
    table.put((h & 0xF800) == 0x3800, Effect.ADD, target=top, base=top, number=-imm8)
    table.put((h & 0xFC00) == 0x4000, Effect.OTHER, written=1 << low)
    for compares in (8, 11):  # TST, CMN
        table.put((h & 0xFFC0) == 0x4000 | compares << 6, Effect.OTHER, written=0)
    table.put((h & 0xFFC0) == 0x4280, Effect.COMPARE, base=low, index=middle, written=0)
    table.put((h & 0xFF00) == 0x4500, Effect.COMPARE, base=wide_low, index=wide_middle)
    for op, kind in ((0, Effect.AND), (12, Effect.OR)):
        rows = (h & 0xFFC0) == 0x4000 | op << 6
        table.put(rows, kind, target=low, base=low, index=middle, written=0)
    table.put((h & 0xFFC0) == 0x4240, Effect.SUBTRACT, target=low, index=middle, written=0)
    rows = (h & 0xFF00) == 0x4400
    table.put(rows, Effect.ADD, target=wide_low, base=wide_low, index=wide_middle)
    table.put((h & 0xFF00) == 0x4600, Effect.ADD, target=wide_low, base=wide_middle)
    table.put((h & 0xFF00) == 0x4700, Effect.SWITCH, base=wide_middle)
    to_pc = (h & 0xFF87) == 0x4687
    table.put(to_pc, Effect.GO, target=NONE, base=wide_middle)
    from_pc = ((h & 0xFF00) == 0x4600) & (wide_middle == _PC)
    table.put(from_pc, Effect.OTHER, target=NONE, base=NONE, written=1 << wide_low)
    table.put((h & 0xF800) == 0xA000, Effect.ADD, target=top, base=_FROM_PC, number=imm8 * 4)
    table.put((h & 0xF800) == 0xA800, Effect.ADD, target=top, base=_SP, number=imm8 * 4)
    table.put((h & 0xFF00) == 0xB000, Effect.ADD, target=_SP, base=_SP, number=0)


def _wide(f: Words, s: Words) -> Effects:
    table = _Table(len(f))
    group = f >> 9
    if (group == 0x74).any():
        _multiple(table, f, s, (group == 0x74) & ((f & 0x40) == 0))
        _double(table, f, s, (group == 0x74) & ((f & 0x40) != 0))
    _shifted(table, f, s, group == 0x75)
    _floating(table, f, s, ((group & 0x76) == 0x76))
    immediate = ((f & 0xF800) == 0xF000) & ((s & 0x8000) == 0)
    _modified(table, f, s, immediate & ((f & 0x200) == 0))
    _plain(table, f, s, immediate & ((f & 0x200) != 0))
    reads_special = (f & 0xFFE0) == 0xF3E0
    table.put(reads_special & ((s & 0xD000) == 0x8000), Effect.OTHER, written=1 << (s >> 8 & 0xF))
    _single(table, f, s, group == 0x7C)
    two = 1 << (s >> 8 & 0xF) | np.where((f & 0xFF80) == 0xFB80, 1 << (s >> 12 & 0xF), 0)
    table.put(group == 0x7D, Effect.OTHER, written=two)
    return table.effects


def _multiple(table: _Table, f: Words, s: Words, rows: Flags) -> None:
    """LDM and STM, upward or downward."""
    count = sum((s >> bit & 1) for bit in range(16))
    down = (f & 0x0100) != 0
    writes_back = (f & 0x20) != 0
    update = np.where(writes_back, np.where(down, -4, 4) * count, 0)
    columns = {"base": f & 0xF, "number": np.where(down, -4 * count, 0), "update": update}
    loads = (f & 0x10) != 0
    lowest = np.select([(s >> bit & 1) == 1 for bit in range(15)], list(range(15)), NONE)
    table.put(rows & loads, Effect.LOAD, written=s & 0xFFFF, **columns)
    table.put(rows & ~loads, Effect.STORE, target=lowest, **columns)


def _double(table: _Table, f: Words, s: Words, rows: Flags) -> None:
    """LDRD, STRD, exclusive accesses, table branches, and TT."""
    offset = np.where((f & 0x80) != 0, 4, -4) * (s & 0xFF)
    indexed, writes_back = (f & 0x100) != 0, (f & 0x20) != 0
    pair = rows & (indexed | writes_back)
    base = np.where((f & 0xF) == _PC, _FROM_PC, f & 0xF)
    columns = {
        "base": base,
        "number": np.where(indexed, offset, 0),
        "update": np.where(writes_back, offset, 0),
        "target": s >> 12 & 0xF,
    }
    loads = (f & 0x10) != 0
    second = 1 << (s >> 8 & 0xF)
    table.put(pair & loads, Effect.LOAD, written=second, **columns)
    table.put(pair & ~loads, Effect.STORE, **columns)
    single = rows & ~pair & ((s & 0xFFE0) != 0xF000)
    number = np.where((f & 0x80) == 0, 4 * (s & 0xFF), 0)
    columns = {"base": f & 0xF, "number": number, "target": s >> 12 & 0xF}
    table.put(single & loads, Effect.LOAD, **columns)
    status = np.where((f & 0x80) == 0, second, 1 << (s & 0xF))  # STREX; STREXB, STREXH
    table.put(single & ~loads, Effect.STORE, written=status, **columns)
    tests = single & ((f & 0xFFF0) == 0xE840) & ((s >> 12 & 0xF) == _PC)
    table.put(tests, Effect.OTHER, base=NONE, target=NONE, number=0, written=second)


def _shifted(table: _Table, f: Words, s: Words, rows: Flags) -> None:
    """Data processing with a shifted register."""
    op, base, target = f >> 5 & 0xF, f & 0xF, s >> 8 & 0xF
    table.put(rows, Effect.OTHER, written=np.where(target == _PC, 0, 1 << target))
    amount = (s >> 12 & 7) << 2 | s >> 6 & 3
    left = rows & ((s & 0x30) == 0) & (target != _PC)
    columns = {"target": target, "index": s & 0xF, "shift": amount, "written": 0}
    for number, kind in ((0, Effect.AND), (8, Effect.ADD), (13, Effect.SUBTRACT)):
        table.put(left & (op == number), kind, base=base, **columns)
    either = left & (op == 2)
    table.put(either & (base == _PC), Effect.ADD, base=NONE, **columns)
    table.put(either & (base != _PC), Effect.OR, base=base, **columns)


def _floating(table: _Table, f: Words, s: Words, rows: Flags) -> None:
    """Loads and stores of a coprocessor, most of all the FPU, and moves from it."""
    moves = rows & ((f & 0xEF00) == 0xEE00)
    reads = moves & ((f & 0x10) != 0) & ((s & 0x10) != 0)
    table.put(reads, Effect.OTHER, written=np.where(s >> 12 == _PC, 0, 1 << (s >> 12 & 0xF)))
    both = 1 << (s >> 12 & 0xF) | 1 << (f & 0xF)
    table.put(rows & ((f & 0xEFF0) == 0xEC50), Effect.OTHER, written=both)
    accesses = rows & ((f & 0xEE00) == 0xEC00) & ((f & 0xEFE0) != 0xEC40)
    offset = np.where((f & 0x80) != 0, 4, -4) * (s & 0xFF)
    indexed, writes_back = (f & 0x100) != 0, (f & 0x20) != 0
    columns = {
        "base": np.where((f & 0xF) == _PC, _FROM_PC, f & 0xF),
        "number": np.where(indexed, offset, 0),
        "update": np.where(writes_back, offset, 0),
    }
    loads = (f & 0x10) != 0
    table.put(accesses & loads, Effect.LOAD, **columns)
    table.put(accesses & ~loads, Effect.STORE, **columns)


def _modified(table: _Table, f: Words, s: Words, rows: Flags) -> None:
    """Data processing with a modified immediate."""
    op, base, target = f >> 5 & 0xF, f & 0xF, s >> 8 & 0xF
    table.put(rows, Effect.OTHER, written=np.where(target == _PC, 0, 1 << target))
    value = EXPANDED[(f >> 10 & 1) << 11 | (s >> 12 & 7) << 8 | s & 0xFF].astype(np.int64)
    rows = rows & (target != _PC)
    columns = {"target": target, "written": 0}
    table.put(rows & (op == 0), Effect.AND, base=base, number=value, **columns)
    table.put(rows & (op == 1), Effect.AND, base=base, number=~value, **columns)
    either, neither = rows & (op == 2), rows & (op == 3) & (base == _PC)
    table.put(either & (base == _PC), Effect.ADD, number=value, **columns)
    table.put(either & (base != _PC), Effect.OR, base=base, number=value, **columns)
    table.put(neither, Effect.ADD, number=~value, **columns)
    table.put(rows & (op == 8), Effect.ADD, base=base, number=value, **columns)
    table.put(rows & (op == 13), Effect.ADD, base=base, number=-value, **columns)


def _plain(table: _Table, f: Words, s: Words, rows: Flags) -> None:
    """ADDW, SUBW, ADR, MOVW, MOVT, bit fields."""
    target = s >> 8 & 0xF
    table.put(rows, Effect.OTHER, written=1 << target)
    op = f >> 4 & 0x1F
    imm12 = ((f >> 10 & 1) << 11 | (s >> 12 & 7) << 8 | s & 0xFF).astype(np.int64)
    imm16 = (f & 0xF) << 12 | imm12
    base = np.where((f & 0xF) == _PC, _FROM_PC, f & 0xF)
    table.put(rows & (op == 0), Effect.ADD, target=target, base=base, number=imm12, written=0)
    table.put(rows & (op == 10), Effect.ADD, target=target, base=base, number=-imm12, written=0)
    table.put(rows & (op == 4), Effect.ADD, target=target, number=imm16, written=0)
    top = {"target": target, "base": target, "number": imm16, "written": 0}
    table.put(rows & (op == 12), Effect.INSERT_TOP, **top)


def _single(table: _Table, f: Words, s: Words, rows: Flags) -> None:
    """Loads and stores of one register."""
    base, target = f & 0xF, s >> 12 & 0xF
    long = (f & 0x80) != 0
    by_register = ~long & ((s & 0x0FC0) == 0)
    literal = base == _PC
    imm12, imm8 = s & 0xFFF, np.where((s & 0x200) != 0, s & 0xFF, -(s & 0xFF))
    number = np.where(literal, np.where(long, imm12, -imm12), np.where(long, imm12, 0))
    short = ~long & ((s & 0x800) != 0) & ~literal
    number = np.where(short & ((s & 0x400) != 0), imm8, number)
    by_register = by_register & ~literal
    columns = {
        "target": np.where(target == _PC, NONE, target),
        "base": np.where(literal, _FROM_PC, base),
        "index": np.where(by_register, s & 0xF, NONE),
        "shift": np.where(by_register, s >> 4 & 3, 0),
        "number": number,
        "update": np.where(short & ((s & 0x100) != 0), imm8, 0),
    }
    loads = (f & 0x10) != 0
    preloads = loads & (target == _PC) & ((f & 0x60) != 0x40)
    table.put(rows & loads & ~preloads, Effect.LOAD, **columns)
    table.put(rows & ~loads & ((f & 0x100) == 0), Effect.STORE, **columns)


def expand_immediate(code: int) -> int:
    """The constant that the 12 bits i:imm3:imm8 stand for (ARM A5.3.2)."""
    byte = code & 0xFF
    if code >> 10 == 0:
        return byte * (0x00000001, 0x00010001, 0x01000100, 0x01010101)[code >> 8]
    value, rotation = 0x80 | code & 0x7F, code >> 7
    return (value >> rotation | value << (32 - rotation)) & 0xFFFFFFFF


EXPANDED = np.array([expand_immediate(code) for code in range(0x1000)], dtype=np.uint32)
