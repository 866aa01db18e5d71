"""All paths through an RV32 function: what its instructions do (RISC-V ISA, chapters 2, 7, 9)."""

from __future__ import annotations

from typing import Any

import z3

from porter.context_switch.proof.effort import Effort
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.machine import Path
from porter.context_switch.proof.model import SVC, TRAP_SET, TRIGGER, Model
from porter.context_switch.proof.paths import Explorer
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.riscv.decode import Code, Instruction
from porter.context_switch.proof.riscv.layout import (
    CSRS,
    CYCLE_REGISTERS,
    MIE_REGISTER,
    MTVEC_REGISTER,
)
from porter.context_switch.proof.riscv.machine import WORD, RiscvPath, entry
from porter.context_switch.proof.terms import Term, Truth, as_word, binary, bits, equal, truth

_OPERATORS = {
    "add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "mul": "*",
    "sll": "<<", "srl": ">>", "sra": ">>>",
}  # fmt: skip
_LOADS = {"lw": (4, False), "lb": (1, True), "lbu": (1, False), "lh": (2, True), "lhu": (2, False)}
_STORES = {"sw": 4, "sb": 1, "sh": 2}


class RiscvExplorer(Explorer):
    """Finds the paths of one image."""

    decoder = Code

    def __init__(self, image: Image, model: Model, native: bool, effort: Effort) -> None:
        super().__init__(image, model, native, effort)
        self.ways: dict[int, set[bool]] = {}  # by address; of a condition both, if both can be

    def starts(self, image: Image, model: Model, native: bool) -> list[Path]:
        """The state to begin with."""
        return [entry(image, model, native)]

    def _step(self, path: Path) -> None:
        assert isinstance(path, RiscvPath)
        path.steps += 1
        self._effort.step()
        it: Instruction = self._code.at(path.pc)
        ways = self.ways.setdefault(it.address, set())
        if it.is_condition:
            wanted = _holds(it.name, path.word(it.rs1), path.word(it.second))
            others = len(self._waiting)
            taken = self._decide(path, wanted, it, ())
            ways |= {taken, not taken} if len(self._waiting) > others else {taken}
            path.pc = it.next
            if taken:
                self._go(path, it.target, it.address)
        elif it.name in ("jal", "jalr"):
            self._jump(path, it)
        else:
            path.pc = it.next
            if it.name != "ebreak" or not self._code.stops(it):
                _execute(path, it)

    def _jump(self, path: RiscvPath, it: Instruction) -> None:
        target: Term = it.target
        if it.name == "jalr":
            target = binary("+", path.word(it.rs1), it.offset & WORD)
        path.pc = it.next
        if it.rd == 0 and it.name == "jal":
            self._go(path, it.address if self._code.spins(it) else target, it.address)
        elif isinstance(target, int) and target in self._image.functions:
            path.put(it.rd, it.next)
            back = path.word(1)
            self._call(path, target)
            if it.rd:
                path.put(1, path.fresh("ra behind a call"))
            else:
                path.exit = back
        elif it.rd == 0:
            path.exit = target
        else:
            raise NotProved(f"calls an unknown function: {it.text}")

    def _tail_call(self, path: Path, target: int) -> None:
        back = path.read("x1")
        self._call(path, target)
        path.exit = back


def _holds(name: str, left: Term, right: Term) -> Truth:
    """Whether a branch is taken."""
    if name in ("beq", "bne"):
        same = equal(left, right)
        return same if name == "beq" else _not(same)
    less = _less(left, right, signed=name in ("blt", "bge"))
    return less if name in ("blt", "bltu") else _not(less)


def _not(condition: Truth) -> Truth:
    return not condition if isinstance(condition, bool) else truth(z3.Not(condition))


def _less(left: Term, right: Term, signed: bool) -> Truth:
    one, other = bits(left), bits(right)
    return truth(one < other if signed else z3.ULT(one, other))


def _execute(path: RiscvPath, it: Instruction) -> None:
    """An instruction that doesn't branch."""
    second: Any = it.second if it.constant else path.word(it.second)
    if it.name == "li":
        path.put(it.rd, it.second)
    elif it.name in _OPERATORS:
        amount = binary("&", second, 31) if it.name in ("sll", "srl", "sra") else second
        path.put(it.rd, binary(_OPERATORS[it.name], path.word(it.rs1), amount))
    elif it.name in ("slt", "sltu"):
        path.put(it.rd, as_word(_less(path.word(it.rs1), second, it.name == "slt")))
    elif it.name in _LOADS or it.name == "flw":
        value = path.load(_address(path, it), *_LOADS.get(it.name, (4, False)))
        if it.name == "flw":
            path.write(f"f{it.rd}", value)
        else:
            path.put(it.rd, value)
    elif it.name in _STORES:
        path.store(_address(path, it), second, _STORES[it.name])
    elif it.name == "fsw":
        path.store(_address(path, it), path.read(f"f{it.second}"))
    elif it.name.startswith("csrr") and path.native:
        _access(path, it, second)
    elif it.name == "ecall" and path.native:
        path.event(TRIGGER, (SVC,))
    elif it.name == "mret" and path.native:
        path.exit = "mret"
    elif it.name != "fence":
        raise NotProved(f"the proof doesn't know the instruction '{it.text}'")


def _address(path: RiscvPath, it: Instruction) -> Term:
    return binary("+", path.word(it.rs1), it.offset & WORD)


def _access(path: RiscvPath, it: Instruction, operand: Term) -> None:
    """A CSR of the original; mscratch is a variable in the port."""
    name = CSRS.get(it.csr)
    if it.csr == MTVEC_REGISTER and it.name == "csrrw" and not it.rd:
        path.event(TRAP_SET, (operand,))
        return
    if it.csr in CYCLE_REGISTERS and it.name != "csrrw" and not it.second:
        path.put(it.rd, path.next_cycles())
        return
    if name is None and it.reads_csr:
        path.put(it.rd, path.fresh(f"CSR {it.csr:#x}"))  # equal to nothing
        return
    if name is None:
        if it.csr != MIE_REGISTER or it.rd:
            raise NotProved(f"uses the CSR {it.csr:#x}")
        return
    scratch = path.image.scratch
    old = path.load(scratch) if name == "mscratch" else path.read(name)
    inverse = binary("^", operand, WORD)
    values = {"csrrw": operand, "csrrs": binary("|", old, operand)}
    new = values[it.name] if it.name in values else binary("&", old, inverse)
    if name == "mscratch":
        path.store(scratch, new)
    else:
        path.write(name, new)
    path.put(it.rd, old)
