"""What an instruction's operands are."""

from __future__ import annotations

from capstone import arm_const

from porter.context_switch.proof.machine import Path
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.terms import WORD, Term, binary
from porter.context_switch.proof.thumb import Instruction

SHIFTS = {arm_const.ARM_SFT_LSL: "<<", arm_const.ARM_SFT_LSR: ">>", arm_const.ARM_SFT_ASR: ">>>"}


def word_of(path: Path, instruction: Instruction, index: int) -> Term:
    """An operand's word."""
    operand = instruction.raw.operands[index]
    if operand.type == arm_const.ARM_OP_IMM:
        return operand.imm & WORD
    if operand.type != arm_const.ARM_OP_REG:
        raise NotProved(f"the proof doesn't know the operands of '{instruction.text}'")
    word = path.read(instruction.register(operand.reg))
    if operand.shift.type == arm_const.ARM_SFT_INVALID:
        return word
    if operand.shift.type not in SHIFTS:
        raise NotProved(f"the proof doesn't know the shift of '{instruction.text}'")
    return binary(SHIFTS[operand.shift.type], word, operand.shift.value)


def target(instruction: Instruction) -> str:
    """The register that an instruction writes."""
    return instruction.register(instruction.raw.operands[0].reg)


def assign(path: Path, register: str, value: Term) -> None:
    """Write a register; the PC ends the path."""
    if register == "pc":
        path.exit = value
    else:
        path.write(register, value)
