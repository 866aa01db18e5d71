"""Runs a straight line of instructions on symbolic values and notes what it does.

Understands what mask, barrier and register-poking code is made of. Anything else (branches,
conditional execution, stack pointers, memory that isn't a system register) is NotUnderstood.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from porter.asm import csr
from porter.asm.privileged import UNREAD
from porter.asm.symbols import (
    Constant,
    Effect,
    Loaded,
    NotUnderstood,
    Saved,
    Symbol,
    Unknown,
)
from porter.registers.system_space import identify
from porter.source.asm_text import Instruction

_MASK = 0xFFFF_FFFF
_HARMLESS = frozenset({"dsb", "isb", "dmb", "nop", "", "clrex", "fence"})
_CONDITIONS = (".if", ".else", ".endif", ".rep", ".irp", ".endr", ".macro", ".endm", ".exitm",
               ".purgem", ".altmacro", ".set", ".equ", ".eqv", ".include", ".incbin")  # fmt: skip
_BLOCK = re.compile(r"it[te]{0,3}")
_MASK_REGISTERS = frozenset({"primask", "basepri", "basepri_max"})
_NUMBER = re.compile(r"[#$]?\s*\(?\s*(0[xX][0-9a-fA-F]+|\d+)\s*(?:<<\s*(\d+))?\s*\)?")
_MEMORY = re.compile(r"\[\s*([\w%\[\]]+)\s*(?:,\s*#?\s*(0[xX][0-9a-fA-F]+|\d+)\s*)?\]")
_ALIASES = {"r13": "sp", "r14": "lr", "r15": "pc", "r12": "ip"}
WHY_CONTROL = (
    "reads CONTROL, which says how the guest runs, not what this code set; whether a handler runs, "
    "which SPSEL is asked for, IPSR says too, or virt_in_vct(); who asks for privilege (nPRIV) may "
    "go on as if there were: what needed it is a call"
)
ONLY_FPCA = "only CONTROL.FPCA is asked and written, which is the kernel's"
WHY_PSP = (
    "stack pointers belong to the context switch: in VCT, where handlers run, that of the code "
    "which they interrupted, with its frame, is USR_REG->Reg.SP"
)
_COUNTER = re.compile(r"rd((?:cycle|time|instret)h?)")
_MOVES = frozenset({"ldr", "ldrb", "ldrh", "str", "strb", "strh"})
_ARGUMENTS = ("r0", "r1", "r2", "r3")
_REGISTERS = frozenset({*(f"r{number}" for number in range(16)), "sp", "lr", "pc", "ip"})
_ALU: Mapping[str, Callable[[int, int], int]] = {
    "orr": operator.or_,
    "and": operator.and_,
    "eor": operator.xor,
    "add": operator.add,
    "sub": operator.sub,
    "bic": lambda a, b: a & ~b,
    "lsl": lambda a, b: a << (b & 31),
    "lsr": lambda a, b: (a & _MASK) >> (b & 31),
}


@dataclass
class Machine:
    """Registers and operands by name (`r0`, `%0`, `%[name]`, in an ARMCC block a variable's), and
    the effects so far."""

    values: dict[str, Symbol] = field(default_factory=dict)
    effects: list[Effect] = field(default_factory=list)
    masks: dict[str, Symbol] = field(default_factory=dict)
    """What the sequence itself wrote to a mask register: what a later read of it finds."""

    def run(self, instructions: Sequence[Instruction]) -> None:
        """Execute in order. Raises NotUnderstood."""
        for instruction in instructions:
            if self.effects and self.effects[-1].kind == "return":
                if not instruction.mnemonic.startswith("."):
                    raise NotUnderstood(f"{instruction} after the return")
                continue
            self._step(instruction)

    def _sleeps(self, name: str) -> None:
        """`sev; wfe` takes an event away that may be left over: it waits for nothing."""
        if name == "wfe" and self.effects and self.effects[-1].kind == "event":
            self.effects.pop()
        else:
            self.effects.append(Effect("event" if name == "sev" else "wait"))

    def _step(self, instruction: Instruction) -> None:
        name, operands = instruction.mnemonic, instruction.operands
        if instruction.label is not None:
            raise NotUnderstood(f"label {instruction.label}")
        if name.startswith(_CONDITIONS):
            raise NotUnderstood(f"{instruction}: a condition of the assembler in an asm statement")
        if instruction.condition or _BLOCK.fullmatch(name):
            raise NotUnderstood(f"{instruction}: instructions under a condition: write an if in C")
        if name in UNREAD:
            raise NotUnderstood(
                f"{instruction}: an instruction by a number that isn't known for a guest's: write "
                "its name, or what it is for in C"
            )
        if name in _HARMLESS or name.startswith("."):
            return
        if name == "fence.i":
            self.effects.append(Effect("code"))
        elif name in ("wfi", "wfe", "sev"):
            self._sleeps(name)
        elif name in ("cpsid", "cpsie") and operands:
            self._cps(name == "cpsid", operands[0].lower())
        elif name in ("mrs", "msr") and len(operands) == 2:
            self._special(name, operands)
        elif name.startswith("csr"):
            self._csr(name, operands)
        elif (counter := _COUNTER.fullmatch(name)) is not None and len(operands) == 1:
            self._csr("csrr", (operands[0], counter[1]))
        elif name == "ecall":
            self.effects.append(Effect("call"))
        elif name in ("svc", "swi") and len(operands) == 1:
            self._supervisor_call(operands[0])
        elif name == "bx" and _register(operands[0]) == "lr":
            self.effects.append(Effect("return", value=self.values.get("r0", Unknown())))
        elif name in _MOVES and len(operands) == 2 and operands[1].startswith("%"):
            self._variable(name, *operands)
        elif name in ("ldr", "str") and len(operands) == 2:
            self._memory(instruction)
        elif name.removesuffix("s") == "mov" and len(operands) == 2:
            self.values[_register(operands[0])] = self._operand(operands[1])
        elif name.removesuffix("s") in _ALU and 2 <= len(operands) <= 3:
            self._alu(_ALU[name.removesuffix("s")], name.removesuffix("s"), operands)
        else:
            raise NotUnderstood(str(instruction))

    def _supervisor_call(self, number: str) -> None:
        """Its handler finds r0-r3 on the stack, and may leave a result there."""
        if any(register in self.values for register in _ARGUMENTS):
            raise NotUnderstood("svc with registers: its handler may read them")
        self.effects.append(Effect("supervisor", value=self._operand(number)))
        self.values |= dict.fromkeys(_ARGUMENTS, Unknown())

    def _cps(self, disable: bool, flags: str) -> None:
        if "i" in flags:
            self._mask("primask", Constant(int(disable)))
        if "f" in flags and disable:
            self.effects.append(Effect("mask", "faultmask", Constant(1)))

    def _mask(self, register: str, value: Symbol) -> None:
        self.effects.append(Effect("mask", register, value))
        # BASEPRI_MAX only raises: what BASEPRI holds afterwards depends on what it held.
        self.masks[register.removesuffix("_max")] = (
            Unknown() if register == "basepri_max" else value
        )

    def _read_mask(self, target: str, register: str) -> None:
        written = self.masks.get(register)
        if written is None:
            self.values[target] = Saved(register)
            self.effects.append(Effect("read", register))
        elif isinstance(written, Unknown):
            raise NotUnderstood(f"mrs {register} after a write to it")
        else:
            self.values[target] = written

    def _special(self, name: str, operands: Sequence[str]) -> None:
        if name == "mrs":
            target, special = _register(operands[0]), operands[1].lower()
            if special in _MASK_REGISTERS | {"ipsr"}:
                self._read_mask(target, special.removesuffix("_max"))
                return
            if special == "control":
                raise NotUnderstood(f"mrs {', '.join(operands)} {WHY_CONTROL}")
        else:
            special = operands[0].lower()
            if special in _MASK_REGISTERS:
                self._mask(special, self._operand(operands[1]))
                return
        why = f": {WHY_PSP}" if special == "psp" else ""
        raise NotUnderstood(f"{name} {', '.join(operands)}{why}")

    def _csr(self, name: str, operands: Sequence[str]) -> None:
        values = [self._operand(operand) for operand in operands]
        effects, result = csr.access(name, operands, values)
        if isinstance(result, Saved) and any(it.kind == "status" for it in self.effects):
            raise NotUnderstood("mstatus is read after it was written")
        csr.refuse_late_reads(effects, self.values.values())
        self.effects += effects
        if result is not None:
            self.values[_register(operands[0])] = result

    def _variable(self, name: str, register: str, place: str) -> None:
        """A load or a store of an operand in memory, of a part of a word if that is all it has."""
        if name.startswith("ldr"):
            self.values[_register(register)] = self.values.get(place, Unknown())
            return
        value = self.values.get(_register(register), Unknown())
        if name != "str" and value != Saved("primask"):
            raise NotUnderstood(f"{name} {register}, {place}")
        self.values[place] = value

    def _memory(self, instruction: Instruction) -> None:
        register, place = instruction.operands
        if instruction.mnemonic == "ldr" and place.startswith("="):
            self.values[_register(register)] = _constant(place[1:]) or Unknown()
            return
        memory = _MEMORY.fullmatch(place)
        base = self.values.get(_register(memory.group(1))) if memory else None
        if memory is None or not isinstance(base, Constant):
            raise NotUnderstood(str(instruction))
        address = base.value + int(memory.group(2) or "0", 0)
        target = identify(address)
        if target is None:
            raise NotUnderstood(str(instruction))
        if instruction.mnemonic == "ldr":
            self.values[_register(register)] = Loaded(address)
        else:
            value = self.values.get(_register(register), Unknown())
            self.effects.append(Effect("store", value=value, target=target))

    def _alu(self, function: Callable[[int, int], int], name: str, operands: Sequence[str]) -> None:
        left, right = self._operand(operands[-2]), self._operand(operands[-1])
        result: Symbol = Unknown()
        if isinstance(left, Constant) and isinstance(right, Constant):
            result = Constant(function(left.value, right.value) & _MASK)
        elif isinstance(left, Loaded) and isinstance(right, Constant):
            ones = function(left.ones, right.value) if name in ("orr", "bic", "and") else 0
            result = Loaded(left.address, ones & _MASK)
        self.values[_register(operands[0])] = result

    def _operand(self, text: str) -> Symbol:
        constant = _constant(text)
        if constant is not None:
            return constant
        return self.values.get(_register(text), Unknown())


def _constant(text: str) -> Constant | None:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        return None
    return Constant((int(match.group(1), 0) << int(match.group(2) or "0")) & _MASK)


def is_register(text: str) -> bool:
    """Whether an operand is a core register."""
    return text.strip().lower() in _REGISTERS


def _register(text: str) -> str:
    name = text.strip().lower() if is_register(text) else text.strip()
    return _ALIASES.get(name, name)
