"""The kernel's machine code as a graph: instructions, and where each leads.

Only bytes of the ELF count: the vector table gives the entries, mapping symbols tell code from
literals and jump tables, and everything else is followed from there.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from capstone import CS_ARCH_ARM, CS_MODE_MCLASS, CS_MODE_THUMB, CS_OP_IMM, Cs
from capstone.arm import ARM_CC_AL, ARM_CC_INVALID, ARM_REG_PC
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tests.runtime.register_values import Registers, Store, Value, accesses, followed

_ENDS = ("udf", "bkpt")
_RESERVED = (7, 8, 9, 10, 13)  # exception numbers


@dataclass(frozen=True)
class Flow:
    """Where an instruction leads. `returns`: it may leave the procedure."""

    following: tuple[int, ...]
    calls: tuple[int, ...] = ()  # one of these is called
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
            assert vectors is not None
            assert text is not None
            assert isinstance(table, SymbolTableSection)
            symbols = [(s.name, s["st_value"], s["st_info"]["type"]) for s in table.iter_symbols()]
            self.objects = {
                s.name: range(s["st_value"], s["st_value"] + s["st_size"])
                for s in table.iter_symbols()
                if s["st_info"]["type"] == "STT_OBJECT"
            }
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
        other._flows.pop(address, None)
        other._names.pop(address, None)
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
            entries = self._table(following, width)[: self._compared(address)]
            return Flow(tuple({following + 2 * n for n in entries if n}))
        if name == "ldr" and operands[0].reg == ARM_REG_PC and operands[1].mem.index:
            entries = self._table(following + 3 & ~3, 4)[: self._compared(address)]
            return Flow(tuple({n & ~1 for n in entries}))
        if name == "bl":
            callee = operands[0].imm
            return Flow((following,) if self.returns(callee) else (), calls=(callee,))
        if name == "blx":
            return Flow((following,), calls=self._called(address))
        if name[0] == "b" and operands and operands[0].type == CS_OP_IMM and len(operands) == 1:
            return Flow((operands[0].imm, *also)) if name != "bkpt" else Flow(())
        if name in _ENDS:
            return Flow(())
        if name.startswith("bx"):  # of another register than LR: an exception return
            return Flow(also, returns=True)
        _, written = instruction.regs_access()
        if ARM_REG_PC in written:
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

    def before(self, address: int) -> int | None:
        """The instruction in front of another one."""
        for size in (2, 4):
            found = self.instructions.get(address - size)
            if found is not None and found.size == size:
                return address - size
        return None

    def procedures(self, entry: int) -> set[int]:
        """What a procedure may run, directly or by calls, itself included."""
        found, work = {entry}, [entry]
        while work:
            calls = {call for a in self.values(work.pop()) for call in self.flow(a).calls} - found
            found |= calls
            work += calls
        return found

    def _can_return(self, entry: int) -> bool:
        seen, work = {entry}, [entry]
        while work:
            flow = self.flow(work.pop())
            if flow.returns:
                return True
            work += [a for a in flow.following if a not in seen]
            seen.update(flow.following)
        return False

    def _called(self, address: int) -> tuple[int, ...]:
        """The functions of the table that a call's register was loaded from, an index before."""
        entry = self.before(address)
        while entry is not None and "lsl #2" not in self.text(entry):
            entry = self.before(entry)
        literal = None if entry is None else self.before(entry)
        assert entry is not None, f"{self.place(address)}: a call nobody knows of what"
        assert literal is not None
        assert self.name(literal) == "ldr"
        table = self.word((literal + 4 & ~3) + self.instructions[literal].operands[1].mem.disp)
        (places,) = (o for o in self.objects.values() if o.start == table)
        return tuple(sorted({(self.word(a) or 0) & ~1 for a in places[::4]}))

    def _compared(self, address: int) -> int | None:
        """Length of a switch's table, by the comparison in front of its branch: literals may lie
        behind it. None: there is no comparison."""
        index = self.instructions[address].operands[-1].mem.index
        at = self.before(address)
        for _ in range(4):
            if at is None:
                return None
            operands = self.instructions[at].operands
            if self.name(at) == "cmp" and operands[0].reg == index:
                return int(operands[1].imm) + 1
            at = self.before(at)
        return None

    def _table(self, start: int, width: int) -> list[int]:
        """A switch's table, which lies behind its branch; it may be padded with a zero."""
        end = next(a for a, mark in self._marks if a > start and mark.startswith("$t"))
        return [self.word(a, width) or 0 for a in range(start, end, width)]

    def values(self, entry: int) -> dict[int, dict[str, Value]]:
        """What registers hold before each instruction of the procedure that starts at `entry`."""
        if entry not in self._values:
            self._values[entry] = followed(self, entry)
        return self._values[entry]

    def stores(self, address: int, before: Registers) -> list[Store]:
        """Stores of an instruction whose base is at least partly known."""
        return accesses(self, address, before, "st")

    def loads(self, address: int, before: Registers) -> list[Store]:
        """Its loads, likewise; what is `stored` means nothing."""
        return accesses(self, address, before, "ld")
