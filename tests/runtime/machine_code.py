"""The kernel's machine code as a graph: instructions, where each leads, and what registers hold.

Only bytes of the ELF count: the vector table gives the entries, mapping symbols tell code from
literals and jump tables, and everything else is followed from there. Values are followed inside a
procedure: a register holds one of a few constants, a constant plus something unknown, or anything.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from capstone import CS_ARCH_ARM, CS_MODE_MCLASS, CS_MODE_THUMB, CS_OP_IMM, CS_OP_MEM, CS_OP_REG, Cs
from capstone.arm import ARM_CC_AL, ARM_CC_INVALID, ARM_REG_LR, ARM_REG_PC, ARM_SFT_LSL
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

_MASK = 0xFFFFFFFF
_MOST = 4  # constants that one register is followed through
_CLOBBERED = ("r0", "r1", "r2", "r3", "ip", "lr")
_ENDS = ("udf", "bkpt")
_RESERVED = (7, 8, 9, 10, 13)  # exception numbers


class Value(NamedTuple):
    """What a register may hold; without `exact` something unknown is added to it."""

    numbers: frozenset[int]
    exact: bool = True


Registers = Mapping[str, Value]


class Store(NamedTuple):
    """A store through a base of which something is known: word address, what is stored."""

    address: int
    exact: bool
    stored: Value | None


@dataclass(frozen=True)
class Flow:
    """Where an instruction leads. `returns`: it may leave the procedure."""

    following: tuple[int, ...]
    call: int | None = None
    returns: bool = False


class Code:
    """The code of one kernel.elf."""

    def __init__(self, elf: Path) -> None:
        with elf.open("rb") as file:
            image = ELFFile(file)
            self._segments = [
                (s["p_vaddr"], s.data()[: s["p_filesz"]])
                for s in image.iter_segments("PT_LOAD")
                if s["p_flags"] & 1
            ]
            vectors = image.get_section_by_name(".vectors")
            text = image.get_section_by_name(".text")
            table = image.get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            symbols = [(s.name, s["st_value"], s["st_info"]["type"]) for s in table.iter_symbols()]
        self.vector_table: int = vectors["sh_addr"]
        behind = next(address for name, address, _ in symbols if name == "fvm_directory")
        self._vectors = (behind - self.vector_table) // 4
        self._text = (text["sh_addr"], text["sh_addr"] + text["sh_size"])
        start, end = self._text
        marks = {a: n for n, a, _ in symbols if n[:2] in ("$t", "$d") and start <= a < end}
        self._marks = sorted([*marks.items(), (end, "$d")])
        self.functions = {
            name: address & ~1
            for name, address, kind in symbols
            if kind == "STT_FUNC" and start <= address < end
        }

        decoder = Cs(CS_ARCH_ARM, CS_MODE_THUMB | CS_MODE_MCLASS)
        decoder.detail = True
        self._decoder = decoder
        self._flows: dict[int, Flow] = {}
        self._names: dict[int, tuple[str, str]] = {}
        self._returning: dict[int, bool] = {}
        self._values: dict[int, dict[int, dict[str, Value]]] = {}

    def patched(self, address: int, content: bytes) -> Code:
        """The same code with another instruction of the same size, which leads on like the old."""
        other = copy.copy(self)
        new = next(self._decoder.disasm(content, address))
        assert new.size == len(content) == self.instructions[address].size
        other.instructions = {**self.instructions, address: new}
        other._flows, other._names = dict(self._flows), dict(self._names)
        del other._flows[address], other._names[address]
        assert other.flow(address) == self.flow(address)
        other._values = {e: v for e, v in self._values.items() if address not in v}
        return other

    def word(self, address: int, size: int = 4) -> int | None:
        """Number stored in read-only memory."""
        for base, data in self._segments:
            if base <= address <= base + len(data) - size:
                return int.from_bytes(data[address - base : address - base + size], "little")
        return None

    @cached_property
    def instructions(self) -> dict[int, Any]:
        """Every instruction by address."""
        found = {}
        for (start, mark), (end, _) in zip(self._marks, self._marks[1:], strict=False):
            if mark.startswith("$t"):
                base, data = next(s for s in self._segments if s[0] <= start < s[0] + len(s[1]))
                at = start
                for instruction in self._decoder.disasm(data[start - base : end - base], start):
                    found[instruction.address] = instruction
                    at = instruction.address + instruction.size
                assert at == end, f"undecodable code at 0x{at:08x}"
        return found

    @cached_property
    def handlers(self) -> dict[int, int]:
        """Entry of each exception number; number 1 is reset."""
        words = {n: self.word(self.vector_table + 4 * n) for n in range(1, self._vectors)}
        return {n: word & ~1 for n, word in words.items() if word and n not in _RESERVED}

    def place(self, address: int) -> str:
        """Function and offset."""
        name, start = max(
            ((n, a) for n, a in self.functions.items() if a <= address), key=lambda f: f[1]
        )
        return f"{name}+0x{address - start:x}"

    def text(self, address: int) -> str:
        """An instruction as Capstone writes it."""
        return self._named(address)[1]

    def name(self, address: int) -> str:
        """Its mnemonic without the width."""
        return self._named(address)[0]

    def _named(self, address: int) -> tuple[str, str]:
        if address not in self._names:
            instruction = self.instructions[address]
            mnemonic = instruction.mnemonic
            text = f"{mnemonic} {instruction.op_str}"
            self._names[address] = mnemonic.partition(".")[0], text
        return self._names[address]

    def flow(self, address: int) -> Flow:
        """Where the instruction at an address leads."""
        if address not in self._flows:
            self._flows[address] = self._flow(address)
        return self._flows[address]

    def _flow(self, address: int) -> Flow:
        instruction = self.instructions[address]
        name, operands = self.name(address), instruction.operands
        following = address + instruction.size
        conditional = instruction.cc not in (ARM_CC_AL, ARM_CC_INVALID)
        also = (following,) if conditional else ()
        if name in ("cbz", "cbnz"):
            return Flow((following, operands[1].imm))
        if name in ("tbb", "tbh"):
            width = 1 if name == "tbb" else 2
            return Flow(tuple({following + 2 * n for n in self._table(following, width) if n}))
        if name == "ldr" and operands[0].reg == ARM_REG_PC and operands[1].mem.index:
            return Flow(tuple({n & ~1 for n in self._table(following + 3 & ~3, 4)}))
        if name == "bl":
            callee = operands[0].imm
            return Flow((following,) if self.returns(callee) else (), call=callee)
        if name[0] == "b" and operands and operands[0].type == CS_OP_IMM and len(operands) == 1:
            return Flow((operands[0].imm, *also)) if name != "bkpt" else Flow(())
        if name in _ENDS:
            return Flow(())
        if name.startswith("bx") and operands[0].reg == ARM_REG_LR:
            return Flow(also, returns=True)
        _, written = instruction.regs_access()
        if ARM_REG_PC in written or name.startswith(("bx", "blx")):
            popped = instruction.reg_name(operands[0].reg) == "sp" or name in ("pop", "ldr")
            assert popped and name.startswith(("pop", "ldm", "ldr")), (
                f"{self.place(address)}: {name} {instruction.op_str} leads nobody knows where"
            )
            return Flow(also, returns=True)
        return Flow((following,))

    def returns(self, entry: int) -> bool:
        """Whether a procedure can return."""
        if entry not in self._returning:
            self._returning[entry] = True  # what a recursion would have to assume
            self._returning[entry] = self._can_return(entry)
        return self._returning[entry]

    def _can_return(self, entry: int) -> bool:
        seen, work = {entry}, [entry]
        while work:
            flow = self.flow(work.pop())
            if flow.returns:
                return True
            work += [a for a in flow.following if a not in seen]
            seen.update(flow.following)
        return False

    def _table(self, start: int, width: int) -> list[int]:
        """A switch's table, which lies behind its branch; it may be padded with a zero."""
        end = next(a for a, mark in self._marks if a > start and mark.startswith("$t"))
        return [self.word(a, width) or 0 for a in range(start, end, width)]

    def values(self, entry: int) -> dict[int, dict[str, Value]]:
        """What registers hold before each instruction of the procedure that starts at `entry`."""
        if entry not in self._values:
            self._values[entry] = self._followed(entry)
        return self._values[entry]

    def _followed(self, entry: int) -> dict[int, dict[str, Value]]:
        before: dict[int, dict[str, Value]] = {entry: {}}
        work = [entry]
        while work:
            address = work.pop()
            after = self._step(address, before[address])
            for following in self.flow(address).following:
                known = before.get(following)
                joined = after if known is None else _join(known, after)
                if joined != known:
                    before[following] = dict(joined)
                    work.append(following)
        return before

    def _step(self, address: int, before: dict[str, Value]) -> dict[str, Value]:
        instruction = self.instructions[address]
        after = dict(before)
        if self.flow(address).call is not None:
            written = list(_CLOBBERED)
            made = None
        else:
            written = [instruction.reg_name(r) for r in instruction.regs_access()[1]]
            made = _moved(instruction, before) or self._made(instruction, before)
        for register in written:
            after.pop(register, None)
        if made is not None and made[0] in written:
            after[made[0]] = made[1]
        if instruction.cc in (ARM_CC_AL, ARM_CC_INVALID):
            return after
        joined = _join(before, after)
        other = self._otherwise(instruction, before)
        if made is not None and other is not None and other[0] == made[0]:
            joined.update(_join(dict([made]), dict([other])))
        return joined

    def _otherwise(self, instruction: Any, before: Registers) -> tuple[str, Value] | None:
        """What the instruction just before makes under the opposite condition."""
        for size in (2, 4):
            previous = self.instructions.get(instruction.address - size)
            if previous is not None and previous.size == size:
                opposite = (instruction.cc - 1) ^ 1 == previous.cc - 1
                return self._made(previous, before) if opposite else None
        return None

    def _made(self, instruction: Any, before: Registers) -> tuple[str, Value] | None:
        name, operands = instruction.mnemonic.partition(".")[0], instruction.operands
        if len(operands) < 2 or operands[0].type != CS_OP_REG or instruction.writeback:
            return None
        for suffix in _condition(instruction), "s":
            if suffix and len(name) > 3 and name != "movs"[:3]:
                name = name.removesuffix(suffix)
        target, last = instruction.reg_name(operands[0].reg), operands[-1]
        if name == "ldr" and last.type == CS_OP_MEM and last.mem.base == ARM_REG_PC:
            word = self.word(((instruction.address + 4) & ~3) + last.mem.disp)
            return None if word is None else (target, Value(frozenset({word})))
        left, right = operands[-2] if len(operands) == 3 else operands[0], last
        one, two = _operand(instruction, left, before), _operand(instruction, right, before)
        if name in ("mov", "movw"):
            return None if two is None else (target, two)
        if name == "mvn" and two is not None and two.exact:
            return target, Value(frozenset(~n & _MASK for n in two.numbers))
        if name == "movt" and one is not None and one.exact:
            high = last.imm << 16
            return target, Value(frozenset(n & 0xFFFF | high for n in one.numbers))
        result = _computed(name, one, two)
        return None if result is None else (target, result)

    def stores(self, address: int, before: Registers) -> list[Store]:
        """Stores whose base is at least partly known."""
        name = self.name(address)
        if not name.startswith("st"):
            return []
        instruction = self.instructions[address]
        operands = instruction.operands
        if name.startswith("stm"):
            base = before.get(instruction.reg_name(operands[0].reg))
            return [
                Store(n + 4 * i, base.exact, before.get(instruction.reg_name(o.reg)))
                for n in (base.numbers if base else ())
                for i, o in enumerate(operands[1:])
            ]
        found = []
        where = next(i for i, o in enumerate(operands) if o.type == CS_OP_MEM)
        memory = operands[where].mem
        base = before.get(instruction.reg_name(memory.base))
        index = before.get(instruction.reg_name(memory.index)) if memory.index else None
        for i, operand in enumerate(operands[:where]):
            stored = before.get(instruction.reg_name(operand.reg))
            if base is None and index is None:
                continue
            scale = operands[where].shift.value if operands[where].shift.type else 0
            exact = base is not None and base.exact
            if memory.index:
                exact = exact and index is not None and index.exact
            for one in base.numbers if base else (0,):
                for two in index.numbers if index else (0,):
                    offset = 0 if instruction.post_index else memory.disp
                    found.append(
                        Store((one + offset + (two << scale) + 4 * i) & _MASK, exact, stored)
                    )
        return found


def _condition(instruction: Any) -> str:
    names = ("", "eq", "ne", "hs", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le")
    return names[instruction.cc] if instruction.cc < len(names) else ""


def _operand(instruction: Any, operand: Any, before: Registers) -> Value | None:
    if operand.type == CS_OP_IMM:
        return Value(frozenset({operand.imm & _MASK}))
    if operand.type != CS_OP_REG:
        return None
    value = before.get(instruction.reg_name(operand.reg))
    if value is None or not operand.shift.type:
        return value
    if operand.shift.type != ARM_SFT_LSL:
        return None
    return _shifted(value, operand.shift.value)


def _shifted(value: Value, by: int) -> Value:
    return Value(frozenset(n << by & _MASK for n in value.numbers), value.exact)


def _computed(name: str, one: Value | None, two: Value | None) -> Value | None:
    if name in ("add", "addw"):
        if one is None and two is None:
            return None
        exact = one is not None and two is not None and one.exact and two.exact
        first, second = (v.numbers if v else frozenset({0}) for v in (one, two))
        return _few(Value(frozenset((a + b) & _MASK for a in first for b in second), exact))
    if one is None or two is None or not two.exact:
        return None
    if name in ("sub", "subw"):
        numbers = frozenset((a - b) & _MASK for a in one.numbers for b in two.numbers)
        return _few(Value(numbers, one.exact))
    if name == "lsl" and len(two.numbers) == 1:
        return _shifted(one, min(two.numbers) & 31)
    if name == "orr" and one.exact:
        return _few(Value(frozenset(a | b for a in one.numbers for b in two.numbers)))
    if name == "and" and one.exact:
        return _few(Value(frozenset(a & b for a in one.numbers for b in two.numbers)))
    return None


def _moved(instruction: Any, before: Registers) -> tuple[str, Value] | None:
    """The base of a load or store of one register that moves it by a constant."""
    memory = next((o.mem for o in instruction.operands if o.type == CS_OP_MEM), None)
    if not instruction.writeback or memory is None:
        return None
    base = instruction.reg_name(memory.base)
    change, last = memory.disp, instruction.operands[-1]
    if instruction.post_index:
        if last.type != CS_OP_IMM:
            return None
        change = -last.imm if last.subtracted else last.imm
    value = before.get(base)
    result = _computed("add", value, Value(frozenset({change & _MASK}))) if value else None
    return None if result is None else (base, result)


def _few(value: Value) -> Value | None:
    return value if len(value.numbers) <= _MOST else None


def _join(one: Registers, two: Registers) -> dict[str, Value]:
    joined = {}
    for register in one.keys() & two.keys():
        known, new = one[register], two[register]
        numbers = known.numbers | new.numbers
        if known == new:
            joined[register] = known
        elif known.exact and new.exact and len(numbers) <= _MOST:
            joined[register] = Value(numbers)
        elif min(known.numbers) <= min(new.numbers):  # a pointer that a loop moves up
            joined[register] = Value(frozenset({min(known.numbers)}), exact=False)
    return joined
