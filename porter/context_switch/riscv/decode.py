"""RV32IMAFC instructions as the lifter wants them: Capstone names them, short ones in full."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import capstone
from capstone import riscv_const

from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.result import NotTranscribable

BRANCHES = frozenset({"beq", "bne", "blt", "bge", "bltu", "bgeu"})
LOADS = {"lw": (4, False), "lb": (1, True), "lbu": (1, False), "lh": (2, True), "lhu": (2, False)}
STORES = {"sw": 4, "sb": 1, "sh": 2}
CSR_ACCESSES = frozenset({"csrrw", "csrrs", "csrrc", "csrrwi", "csrrsi", "csrrci"})
RA, SP = 1, 2
_NARROW = re.compile(r"^c\.|(?<=[ls]w)sp$|(?<=addi)(?:16sp|4spn)$")  # of a 16-bit form's name
_IMMEDIATE = frozenset({"jalr", *LOADS, "flw", "addi", "slti", "sltiu", "xori", "ori", "andi"})
_SHIFTS = frozenset({"slli", "srli", "srai"})
X_NAMES = (
    "zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7 "
    "s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6"
)
_F = (
    "ft0 ft1 ft2 ft3 ft4 ft5 ft6 ft7 fs0 fs1 fa0 fa1 fa2 fa3 fa4 fa5 fa6 fa7 "
    "fs2 fs3 fs4 fs5 fs6 fs7 fs8 fs9 fs10 fs11 ft8 ft9 ft10 ft11"
)
_REGISTERS = {name: index for group in (X_NAMES, _F) for index, name in enumerate(group.split())}


@dataclass(frozen=True)
class Instruction:
    """`name` is that of the 32-bit form. `immediate` is signed; of jumps and branches it is the
    distance, of CSR accesses by a small constant that constant. `text` is what its author wrote."""

    address: int
    size: int
    name: str
    rd: int
    rs1: int
    rs2: int
    immediate: int
    csr: int
    text: str

    @property
    def next(self) -> int:
        """Address of the instruction behind it."""
        return self.address + self.size

    @property
    def condition(self) -> bool:
        """Whether control flow can go on in two ways."""
        return self.name in BRANCHES

    def ends_flow(self) -> bool:
        """Whether what follows is only reached by a branch."""
        return self.name == "mret" or (self.name in ("jal", "jalr") and self.rd == 0)


def decode_all(
    unit: ObjectFile, function: Function, lines: tuple[str, ...]
) -> dict[int, Instruction]:
    """The instructions that a function reaches in its section, by address. NotTranscribable for
    bytes on its way that are no instruction."""
    known: dict[int, Instruction] = {}
    waiting = [function.start]
    while waiting:
        address = waiting.pop()
        if address in known:
            continue
        instruction = known[address] = _at(unit, function.section, address, lines)
        target = branch_target(unit, function.section, instruction)
        if target is not None:
            waiting.append(target)
        if not instruction.ends_flow():
            waiting.append(instruction.next)
    return {address: known[address] for address in sorted(known)}


def branch_target(unit: ObjectFile, section: int, instruction: Instruction) -> int | None:
    """Where a branch or jump goes in its section; None for another instruction, or one that leaves
    the section or calls."""
    if instruction.name not in BRANCHES and (instruction.name != "jal" or instruction.rd != 0):
        return None
    relocation = unit.relocation(section, instruction.address)
    if relocation is None:
        return instruction.address + instruction.immediate
    if relocation.place is None or relocation.place[0] != section:
        return None
    return relocation.place[1] + relocation.offset


def _at(unit: ObjectFile, section: int, address: int, lines: tuple[str, ...]) -> Instruction:
    code = unit.data[section][address : address + 4]
    machine = capstone.Cs(
        capstone.CS_ARCH_RISCV, capstone.CS_MODE_RISCV32 | capstone.CS_MODE_RISCVC
    )
    machine.detail = True
    raw = next(machine.disasm(code, address), None)
    if raw is None:
        raise NotTranscribable(
            f"runs into the bytes {code.hex(' ') or '(none)'} at +{address:#x}, "
            "which are no instruction the disassembler knows"
        )
    line = unit.line(section, address)
    written = lines[line - 1].partition("#")[0].strip() if line and line <= len(lines) else ""
    # What no line of its own follows is a macro of several, or auipc and what completes it.
    several = unit.line(section, address + raw.size) is None and raw.insn_name() != "auipc"
    if several or not _is_instruction(written):
        written = f"{_NARROW.sub('', raw.mnemonic)} {raw.op_str}".strip()
    word = int.from_bytes(code, "little")
    return _short(raw, written) if raw.size == 2 else _long(raw, word, written)


def _is_instruction(written: str) -> bool:
    """Whether a line of the source is one instruction, not a directive or a macro of several."""
    return bool(written) and written[0] not in ".#" and ";" not in written and ":" not in written


def _long(raw: Any, word: int, text: str) -> Instruction:
    name = str(raw.insn_name())
    rd, rs1, rs2 = word >> 7 & 31, word >> 15 & 31, word >> 20 & 31
    immediate = csr = 0
    if name in _IMMEDIATE:
        immediate = _signed(word >> 20, 12)
    elif name in _SHIFTS:
        immediate = rs2
    elif name in STORES or name == "fsw":
        immediate = _signed(word >> 25 << 5 | rd, 12)
    elif name in ("lui", "auipc"):
        immediate = word & 0xFFFF_F000
    elif name in BRANCHES:
        parts = word >> 31 << 12 | (word >> 7 & 1) << 11
        immediate = _signed(parts | (word >> 25 & 63) << 5 | (word >> 8 & 15) << 1, 13)
    elif name == "jal":
        parts = word >> 31 << 20 | (word >> 12 & 255) << 12
        immediate = _signed(parts | (word >> 20 & 1) << 11 | (word >> 21 & 1023) << 1, 21)
    elif name in CSR_ACCESSES:
        csr = word >> 20
        if name.endswith("i"):
            immediate, rs1 = rs1, 0
    return Instruction(raw.address, raw.size, name, rd, rs1, rs2, immediate, csr, text)


def _short(raw: Any, text: str) -> Instruction:
    """A 16-bit instruction as the one it stands for (RISC-V Unprivileged ISA, chapter 18)."""
    name = str(raw.insn_name()).removeprefix("c.")
    registers = [
        _REGISTERS[raw.reg_name(operand.reg)]
        for operand in raw.operands
        if operand.type == riscv_const.RISCV_OP_REG
    ]
    values = [op.imm for op in raw.operands if op.type == riscv_const.RISCV_OP_IMM]
    value = values[0] if values else 0
    first = registers[0] if registers else 0
    last = registers[-1] if registers else 0
    rd = rs1 = rs2 = 0
    if name in ("lw", "flw", "lwsp", "flwsp"):
        name, rd, rs1 = name.removesuffix("sp"), first, last
    elif name in ("sw", "fsw", "swsp", "fswsp"):
        name, rs2, rs1 = name.removesuffix("sp"), first, last
    elif name in ("addi", "slli", "srli", "srai", "andi"):
        rd, rs1 = first, first
    elif name == "addi16sp":
        name, rd, rs1 = "addi", SP, SP
    elif name == "addi4spn":
        name, rd, rs1 = "addi", first, SP
    elif name == "li":
        name, rd = "addi", first
    elif name == "lui":
        rd, value = first, value << 12 & 0xFFFF_FFFF
    elif name == "mv":
        name, rd, rs2 = "add", first, last
    elif name in ("add", "sub", "xor", "or", "and"):
        rd, rs1, rs2 = first, first, last
    elif name in ("beqz", "bnez"):
        name, rs1 = name.removesuffix("z"), first
    elif name in ("j", "jal"):
        name, rd = "jal", RA if name == "jal" else 0
    elif name in ("jr", "jalr"):
        name, rd, rs1 = "jalr", RA if name == "jalr" else 0, first
    elif name == "nop":
        name, value = "addi", 0
    return Instruction(raw.address, raw.size, name, rd, rs1, rs2, value, 0, text)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value
