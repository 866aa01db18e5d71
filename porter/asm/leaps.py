"""Where a straight line of Arm's instructions leaves the program: by EXC_RETURN, into another
program with its stack, to a number.

A switch of tasks takes sp and pc from memory too. It saves where it was, or restores the registers
that a function keeps; the start of another program does neither.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from porter.source.asm_text import EQUATES, Instruction

WHY_RETURN = (
    "jumps by EXC_RETURN, which ends an exception on the old chip; in a machine that is an address "
    "that nobody has, and a fault: a handler ends where its C returns, and in VCT the frame that a "
    "task goes on with is at USR_REG->Reg.SP"
)
WHY_PROGRAM = (
    "starts another program, whose stack and entry it takes from memory: the old chip's flash "
    "isn't the machine's, and a machine is one program; hyp_reboot() restarts it, another program "
    "is a machine of its own"
)
WHY_NUMBER = (
    "goes to a number, a place in the old chip's memory: the machine's is elsewhere; name the "
    "function, or take it out"
)
WHY_STACK = (
    "sets the stack to a number, a place in the old chip's memory: the machine's is elsewhere, "
    "and its stack is set up before main; take it out, or name an array"
)
_EXC_RETURN = 0xFFFF_FF00  # where nothing else is that one could jump to
_SPSEL = 0xC  # bits of EXC_RETURN that an address of code in lr gets from nobody
_ALIASES = {"r13": "sp", "r14": "lr", "r15": "pc"}
_KEPT = frozenset(f"r{number}" for number in range(4, 12))
_JUMPS = frozenset({"bx", "blx"})
_NUMBER = re.compile(r"(:not:|~|-)?\(*(0x[0-9a-f]+|[0-9]+)\)*u?l*", re.IGNORECASE)
_DEFINE = re.compile(r"#[ \t]*define[ \t]+(\w+)[ \t]+(\S+)[ \t]*$", re.MULTILINE)
_MEMORY = re.compile(r"\[\s*(%\[\w+\]|[\w%]+)\s*[,\]]")
_STORES = re.compile(r"(?:str|stm|push)")
_NOTHING: Mapping[str, int] = {}


class _From(Enum):
    MEMORY = "memory"
    RETURN = "EXC_RETURN"  # lr, with bits of one


_Value = int | _From | None


@dataclass
class _Line:
    """What registers hold within one straight line."""

    known: Callable[[str], int | None]
    values: dict[str, _Value] = field(default_factory=dict)
    is_switch: bool = False
    """Whether it saves something, or restores what a function keeps."""
    own_stack: bool = False
    """Whether sp came from memory."""

    def step(self, it: Instruction) -> str:
        """Why an instruction is one that leaves the program; "" where it isn't."""
        name, operands = it.base, [_register(o) for o in it.operands]
        if _STORES.match(name):
            self.is_switch = True
        elif name in _JUMPS and len(operands) == 1:
            return self._jump(self.values.get(operands[0], self.known(operands[0])))
        elif name in ("mov", "mvn", "movw", "ldr", "adr") and len(operands) == 2:
            return self._set(operands[0], self._value(name, operands[1]))
        elif name == "movt" and len(operands) == 2:
            self.values[operands[0]] = self._upper(operands[0], self.known(operands[1]))
        elif name in ("orr", "bic", "eor") and operands and operands[0] == "lr":
            bits = self.known(operands[-1])
            is_return = bits is not None and bits & _SPSEL and operands[-2] == "lr"
            self.values["lr"] = _From.RETURN if is_return else None
        elif name.startswith(("ldm", "pop")):
            self.is_switch = self.is_switch or not name.startswith("pop")
            self.values = {key: value for key, value in self.values.items() if key == "sp"}
        elif name == "msr" and len(operands) == 2 and operands[0].lower() == "msp":
            self._stack(self.values.get(operands[1]))
        elif operands and not name.startswith(("cmp", "tst")):
            self.values[operands[0]] = None
        return ""

    def _value(self, name: str, text: str) -> _Value:
        if (number := self.known(text)) is not None:
            return ~number & 0xFFFF_FFFF if name == "mvn" else number
        memory = _MEMORY.match(text)
        if memory is not None and name == "ldr":
            return None if _register(memory[1]) in ("sp", "pc") else _From.MEMORY
        return self.values.get(text) if name == "mov" else None

    def _upper(self, register: str, upper: int | None) -> _Value:
        lower = self.values.get(register)
        return upper << 16 | lower if isinstance(lower, int) and upper is not None else None

    def _set(self, register: str, value: _Value) -> str:
        if register == "pc":
            return self._jump(value)
        if register == "sp":
            self._stack(value)
            return WHY_STACK if isinstance(value, int) else ""
        self.is_switch = self.is_switch or (register in _KEPT and value is _From.MEMORY)
        self.values[register] = value
        return ""

    def _stack(self, value: _Value) -> None:
        self.own_stack = value is _From.MEMORY

    def _jump(self, to: _Value) -> str:
        if to is _From.RETURN or (isinstance(to, int) and to >= _EXC_RETURN):
            return WHY_RETURN
        if isinstance(to, int):
            return WHY_NUMBER
        leaves = to is _From.MEMORY and self.own_stack and not self.is_switch
        return WHY_PROGRAM if leaves else ""


class Leaps:
    """Instructions that leave the program, in texts that come one right after the other."""

    def __init__(self) -> None:
        self._line = _Line(lambda operand: None)

    def of(
        self, text: Sequence[Instruction], named: Mapping[str, int] = _NOTHING
    ) -> Iterator[tuple[Instruction, str]]:
        """Those of the next text, and why that can't be. `named`: what operands are, by their
        text."""
        numbers = {**dict(_equates(text)), **named}
        values = self._line.values.items()
        self._line.values = {name: value for name, value in values if not name.startswith("%")}
        self._line.known = known = lambda operand: _number(operand, numbers)
        for it in text:
            if it.label is not None:
                self._line = _Line(known)
            elif not it.mnemonic.startswith(".") and (why := self._line.step(it)):
                yield it, why


def leaps(
    text: Sequence[Instruction], named: Mapping[str, int] = _NOTHING
) -> Iterator[tuple[Instruction, str]]:
    """The same of one text."""
    return Leaps().of(text, named)


def defined(text: str) -> dict[str, int]:
    """Numbers that #define lines of an assembler file name."""
    found = ((name, _number(value, _NOTHING)) for name, value in _DEFINE.findall(text))
    return {name: number for name, number in found if number is not None}


def _equates(text: Sequence[Instruction]) -> Iterator[tuple[str, int]]:
    before = None
    for it in text:
        name = it.operands[0] if it.mnemonic in EQUATES and len(it.operands) == 2 else None
        name = before if it.mnemonic == "equ" and it.operands else name
        number = _number(it.operands[-1], _NOTHING) if name is not None else None
        if name is not None and number is not None:
            yield name, number
        before = it.label


def _number(operand: str, named: Mapping[str, int]) -> int | None:
    text = operand.lstrip("=#$ ").replace(" ", "")
    if text in named:
        return named[text] & 0xFFFF_FFFF
    if (found := _NUMBER.fullmatch(text)) is None:
        return None
    value = int(found[2], 16 if found[2].lower().startswith("0x") else 10)
    sign = (found[1] or "").lower()
    return (-value if sign == "-" else ~value if sign else value) & 0xFFFF_FFFF


def _register(operand: str) -> str:
    name = operand.strip()
    return _ALIASES.get(name.lower(), name.lower() if not name.startswith(("%", "=")) else name)
