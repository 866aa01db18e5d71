"""Instructions that load and store (ARMv7-M Architecture Reference Manual, A7.7)."""

from __future__ import annotations

from capstone import arm_const

from porter.context_switch.proof.machine import Path
from porter.context_switch.proof.operands import SHIFTS, assign, target, word_of
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.terms import WORD, Term, add, binary
from porter.context_switch.proof.thumb import Instruction

_ACCESS = {
    "ldr": (4, False), "ldrb": (1, False), "ldrh": (2, False), "ldrsb": (1, True),
    "ldrsh": (2, True), "str": (4, False), "strb": (1, False), "strh": (2, False),
}  # fmt: skip

LOADS = tuple(name for name in _ACCESS if name.startswith("ld"))
STORES = tuple(name for name in _ACCESS if name.startswith("st"))


def _address(path: Path, instruction: Instruction) -> Term:
    """Of a single transfer; writes the base back where the instruction does."""
    operands = instruction.raw.operands
    index = next(i for i, op in enumerate(operands) if op.type == arm_const.ARM_OP_MEM)
    memory = operands[index].mem
    base = instruction.register(memory.base)
    start = path.read(base)
    if base == "pc":
        start = start & ~3
    offset: Term = memory.disp & WORD
    if memory.index:
        if operands[index].subtracted:
            raise NotProved(f"the proof doesn't know the address of '{instruction.text}'")
        offset = path.read(instruction.register(memory.index))
        shift = operands[index].shift
        if shift.type != arm_const.ARM_SFT_INVALID:
            offset = binary(SHIFTS[shift.type], offset, shift.value)
        elif memory.lshift:
            offset = binary("<<", offset, memory.lshift)
    if not instruction.raw.writeback:
        return add(start, offset)
    if instruction.raw.post_index:
        if index + 1 < len(operands):  # the step is an operand of its own
            step = word_of(path, instruction, index + 1)
            offset = binary("-", 0, step) if operands[index + 1].subtracted else step
        path.write(base, add(start, offset))
        return start
    path.write(base, add(start, offset))
    return add(start, offset)


def load(path: Path, instruction: Instruction, predicated: bool) -> None:
    """ldr and its kin."""
    size, signed = _ACCESS[instruction.name]
    assign(path, target(instruction), path.load(_address(path, instruction), size, signed))


def store(path: Path, instruction: Instruction, predicated: bool) -> None:
    """str and its kin."""
    word = path.read(target(instruction))
    path.store(_address(path, instruction), word, _ACCESS[instruction.name][0])


def double(path: Path, instruction: Instruction, predicated: bool) -> None:
    """ldrd and strd."""
    registers = [instruction.register(op.reg) for op in instruction.raw.operands[:2]]
    values = [path.read(register) for register in registers]
    address = _address(path, instruction)
    for index, register in enumerate(registers):
        place = add(address, 4 * index)
        if instruction.name == "ldrd":
            path.write(register, path.load(place))
        else:
            path.store(place, values[index])


def floats(path: Path, instruction: Instruction, predicated: bool) -> None:
    """vldr and vstr."""
    registers = _words([target(instruction)])
    address = _address(path, instruction)
    _transfer(path, registers, address, instruction.name == "vldr")


def multiple(path: Path, instruction: Instruction, predicated: bool) -> None:
    """Load and store multiple, of both register files."""
    operands = instruction.raw.operands
    base = instruction.register(operands[0].reg)
    registers = _words([instruction.register(operand.reg) for operand in operands[1:]])
    size = 4 * len(registers)
    start = path.read(base)
    before = instruction.name.endswith("db")
    address = add(start, -size & WORD) if before else start
    loads = "ld" in instruction.name
    if instruction.raw.writeback and not (loads and base in registers):
        after = address if before else add(start, size)
    else:
        after = start
    if not loads:
        _transfer(path, registers, address, loads)
    path.write(base, after)
    if loads:
        _transfer(path, registers, address, loads)


def push(path: Path, instruction: Instruction, predicated: bool) -> None:
    """push and vpush."""
    registers = _registers(instruction)
    address = add(path.read("sp"), -4 * len(registers) & WORD)
    _transfer(path, registers, address, False)
    path.write("sp", address)


def pop(path: Path, instruction: Instruction, predicated: bool) -> None:
    """pop and vpop."""
    registers = _registers(instruction)
    start = path.read("sp")
    path.write("sp", add(start, 4 * len(registers)))
    _transfer(path, registers, start, True)


def _registers(instruction: Instruction) -> list[str]:
    return _words([instruction.register(operand.reg) for operand in instruction.raw.operands])


def _words(registers: list[str]) -> list[str]:
    """Double registers as the two words they are made of."""
    found = []
    for register in registers:
        if register.startswith("d") and register[1:].isdigit():
            number = int(register[1:])
            found += [f"s{2 * number}", f"s{2 * number + 1}"]
        else:
            found.append(register)
    return found


def _transfer(path: Path, registers: list[str], address: Term, loads: bool) -> None:
    for index, register in enumerate(registers):
        place = add(address, 4 * index)
        if loads:
            assign(path, register, path.load(place))
        else:
            path.store(place, path.read(register))
