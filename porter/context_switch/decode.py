"""Thumb instructions as the lifter wants them; Capstone does the decoding."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import capstone
from capstone import arm_const

from porter.context_switch.arm_relocations import R_ARM_THM_CALL
from porter.context_switch.object_file import Function, ObjectFile, Relocation
from porter.context_switch.result import NotTranscribable
from porter.source.mnemonics import split

_OTHER_NAMES = {"sb": "r9", "sl": "r10", "fp": "r11", "ip": "r12"}
_CONDITIONS = {
    arm_const.ARM_CC_EQ: "eq",
    arm_const.ARM_CC_NE: "ne",
    arm_const.ARM_CC_HS: "hs",
    arm_const.ARM_CC_LO: "lo",
    arm_const.ARM_CC_MI: "mi",
    arm_const.ARM_CC_PL: "pl",
    arm_const.ARM_CC_VS: "vs",
    arm_const.ARM_CC_VC: "vc",
    arm_const.ARM_CC_HI: "hi",
    arm_const.ARM_CC_LS: "ls",
    arm_const.ARM_CC_GE: "ge",
    arm_const.ARM_CC_LT: "lt",
    arm_const.ARM_CC_GT: "gt",
    arm_const.ARM_CC_LE: "le",
}
_SHIFTS = {
    arm_const.ARM_SFT_INVALID: "",
    arm_const.ARM_SFT_LSL: "<<",
    arm_const.ARM_SFT_LSR: ">>",
    arm_const.ARM_SFT_ASR: ">>>",
}


@dataclass(frozen=True)
class Register:
    """A register, shifted where the instruction shifts it."""

    name: str
    shift: str = ""  # a C operator, or "" for none
    amount: int = 0


@dataclass(frozen=True)
class Immediate:
    """A constant as an unsigned word."""

    value: int


@dataclass(frozen=True)
class Memory:
    """An address: base plus index plus displacement in bytes."""

    base: str
    index: Register | None
    displacement: int


Operand = Register | Immediate | Memory


@dataclass(frozen=True)
class Instruction:
    """`name` is the instruction without condition, width or flag suffix; `text` what its author
    wrote, blanks folded. `detail` is the printed operand text, for special registers."""

    address: int
    size: int
    name: str
    condition: str  # "" for always
    sets_flags: bool
    operands: tuple[Operand, ...]
    writeback: bool
    post_index: bool
    detail: str
    text: str

    @property
    def next(self) -> int:
        """Address of the instruction behind it."""
        return self.address + self.size

    def ends_flow(self) -> bool:
        """Whether what follows is only reached by a branch (or, behind an svc, never)."""
        if self.condition:
            return False
        returns = self.name in ("pop", "ldm") and "pc" in self.detail
        return returns or self.name in ("b", "bx", "svc") or self.detail.startswith("pc,")

    def registers(self) -> tuple[str, ...]:
        """Names of the register operands, in order."""
        return tuple(op.name for op in self.operands if isinstance(op, Register))


def canonical(name: str) -> str:
    """A register by its number, for the names that an older call standard gives some."""
    return _OTHER_NAMES.get(name, name)


def _operand(raw: Any, operand: Any, text: str) -> Operand | None:
    def register(number: int) -> str:
        return canonical(str(raw.reg_name(number)))

    if operand.type == arm_const.ARM_OP_REG:
        if operand.shift.type not in _SHIFTS:
            raise NotTranscribable(f"'{text}' uses a shift that the transcriber doesn't know")
        return Register(register(operand.reg), _SHIFTS[operand.shift.type], operand.shift.value)
    if operand.type == arm_const.ARM_OP_IMM:
        return Immediate(operand.imm & 0xFFFF_FFFF)
    if operand.type == arm_const.ARM_OP_MEM:
        index = None
        if operand.mem.index:
            if operand.subtracted or operand.shift.type not in _SHIFTS:
                raise NotTranscribable(f"'{text}' has an address form the transcriber doesn't know")
            shift = _SHIFTS[operand.shift.type]
            index = Register(register(operand.mem.index), shift, operand.shift.value)
        return Memory(register(operand.mem.base), index, operand.mem.disp)
    return None


def _instruction(raw: Any, text: str) -> Instruction:
    if raw.cc not in (arm_const.ARM_CC_AL, *_CONDITIONS):
        raise NotTranscribable(f"'{text}' has an unknown condition")
    operands = tuple(
        operand for item in raw.operands if (operand := _operand(raw, item, text)) is not None
    )
    name = str(raw.insn_name())
    if name in ("cps", "hint"):
        name = split(str(raw.mnemonic)).base
    elif name == "mov" and str(raw.mnemonic).startswith("movt"):
        name = "movt"
    return Instruction(
        address=raw.address,
        size=raw.size,
        name=name,
        condition=_CONDITIONS.get(raw.cc, ""),
        # Capstone says of every adc and sbc that it does.
        sets_flags=raw.update_flags and (name not in ("adc", "sbc") or raw.mnemonic[3:4] == "s"),
        operands=operands,
        writeback=raw.writeback,
        post_index=raw.post_index,
        detail=str(raw.op_str).strip().lower(),
        text=text,
    )


def decode(unit: ObjectFile, function: Function, lines: tuple[str, ...]) -> list[Instruction]:
    """The instructions of a function in address order; literal pools in it are skipped.

    What the assembler marks as data is still code where the function begins with it or the
    instruction in front of it runs on into it: authors write `.hword 0xED20` for an instruction
    their assembler doesn't know.
    Raises NotTranscribable for bytes that are no instruction: a real one never is skipped.
    """
    found: list[Instruction] = []
    address = function.start
    while address < function.end:
        stop = _stretch(unit, function, address)
        if address == function.start or not unit.is_data(function.section, address):
            run = _disassemble(unit, function, lines, address, stop)
            while stop < function.end and _runs_on(run):
                stop = _stretch(unit, function, stop)
                # All of it again in one run: Capstone tracks the IT block.
                run = _disassemble(unit, function, lines, address, stop)
            found += run
        address = stop
    return found


def decode_all(
    unit: ObjectFile, function: Function, lines: tuple[str, ...]
) -> dict[int, Instruction]:
    """The instructions that a function reaches, by address: its own, and those of functions of its
    file that it branches to or runs on into, other than by a supervisor call that ends it."""
    known: dict[int, Instruction] = {}
    reached: set[int] = set()
    targets: set[int] = set()
    behind: set[int] = set()
    waiting = [function.start]
    while waiting:
        address = waiting.pop()
        if address in reached:
            continue
        home = _home(unit, function.section, address)
        if address not in known and home is not None:
            run = decode(unit, home, lines)
            known.update({instruction.address: instruction for instruction in run})
        instruction = known.get(address)
        if instruction is None:
            if address in targets and address < len(unit.data[function.section]):
                place = f"at +{address:#x} of its section"
                raise NotTranscribable(f"jumps into data, or to what is no function's, {place}")
            continue
        reached.add(address)
        target = branch_target(unit, function, instruction)
        if target is not None:
            targets.add(target)
            waiting.append(target)
        nops = _last_nops(instruction, home, known)
        if nops is not None:
            behind |= nops
        elif instruction.name == "svc" or not instruction.ends_flow():
            waiting.append(instruction.next)
    return {address: known[address] for address in sorted(reached | behind)}


def _last_nops(
    svc: Instruction, home: Function | None, known: dict[int, Instruction]
) -> set[int] | None:
    """Nops that are all that stands behind a supervisor call up to the end of its function: then it
    doesn't come back. None for any other instruction."""
    if svc.name != "svc" or svc.condition or home is None:
        return None
    found, place = set(), svc.next
    while place in known and known[place].name == "nop":
        found.add(place)
        place = known[place].next
    return found if place >= home.end else None


def _home(unit: ObjectFile, section: int, address: int) -> Function | None:
    for function in unit.functions:
        if function.section == section and function.start <= address < function.end:
            return function
    return None


def branch_target(unit: ObjectFile, function: Function, branch: Instruction) -> int | None:
    """Where a branch goes in its section; None for another instruction, or one that leaves."""
    if branch.name not in ("b", "cbz", "cbnz") or not branch.operands:
        return None
    relocation = unit.relocation(function.section, branch.address)
    if relocation is not None:
        return unit.place_of(function.section, relocation.symbol)
    target = branch.operands[-1]
    return target.value if isinstance(target, Immediate) else None


def _runs_on(run: list[Instruction]) -> bool:
    """Whether the last instruction, padding aside, goes on with what follows."""
    real = [instruction for instruction in run if instruction.name != "nop"]
    return bool(real) and not real[-1].ends_flow()


def _stretch(unit: ObjectFile, function: Function, address: int) -> int:
    """End of the bytes of one kind, code or data, that begin at an address."""
    kind = unit.is_data(function.section, address)
    while address < function.end and unit.is_data(function.section, address) == kind:
        address += 2
    return min(address, function.end)


def _spelled(raw: Any, relocation: Relocation | None) -> str:
    """What no line of its own shows, as somebody would write it."""
    operands = str(raw.op_str)
    if relocation is not None and raw.mnemonic.startswith("b"):
        operands = relocation.symbol
    for number, name in ((9, "sb"), (10, "sl"), (11, "fp")):
        operands = re.sub(rf"\b{name}\b", f"r{number}", operands)
    return f"{raw.mnemonic} {operands}".strip()


def _is_blx(unit: ObjectFile, function: Function, address: int) -> bool:
    relocation = unit.relocation(function.section, address)
    return relocation is not None and relocation.kind == R_ARM_THM_CALL


def _disassemble(
    unit: ObjectFile, function: Function, lines: tuple[str, ...], start: int, stop: int
) -> list[Instruction]:
    machine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS)
    machine.detail = True
    code = unit.data[function.section]
    found: list[Instruction] = []
    address = start
    for raw in machine.disasm(code[start:stop], start):
        line = unit.line(function.section, raw.address)
        written = lines[line - 1] if line and line <= len(lines) else ""
        if not written or written.startswith(".") or ";" in written or ":" in written:
            written = _spelled(raw, unit.relocation(function.section, raw.address))
        found.append(_instruction(raw, written))
        address = raw.address + raw.size
    if address < stop and _is_blx(unit, function, address):
        # GAS takes `blx label` for a change to Arm state; the linker makes a BL of it.
        relocation = unit.relocation(function.section, address)
        text = f"blx {relocation.symbol}" if relocation else "blx"
        call = Instruction(address, 4, "bl", "", False, (), False, False, "", text)
        return [*found, call, *_disassemble(unit, function, lines, address + 4, stop)]
    if address < stop:
        raw_bytes = code[address : min(address + 4, stop)].hex(" ")
        raise NotTranscribable(
            f"the bytes {raw_bytes} at +{address - function.start:#x} "
            "are no instruction the disassembler knows"
        )
    return found
