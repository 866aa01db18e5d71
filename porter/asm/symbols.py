"""What an assembler sequence works on and does: values, and effects."""

from __future__ import annotations

from dataclasses import dataclass

from porter.registers.register import Register


class NotUnderstood(Exception):
    """str() names the instruction."""


@dataclass(frozen=True)
class Constant:
    """A known number."""

    value: int


@dataclass(frozen=True)
class Expression:
    """The value of a C expression."""

    text: str


@dataclass(frozen=True)
class Saved:
    """What a mask register, or IPSR, held when it was read."""

    name: str


@dataclass(frozen=True)
class Loaded:
    """The content of a system register, with certain bits changed by a constant."""

    address: int
    ones: int = 0


@dataclass(frozen=True)
class Unknown:
    """A value nobody knows."""


Symbol = Constant | Expression | Saved | Loaded | Unknown


@dataclass(frozen=True)
class Effect:
    """`kind`: mask (register := value), read (register was read), store (to a system register),
    wait, event, supervisor (svc `value`) or return. On RISC-V status (mstatus; `register` is the
    operation w, s or c), entry (mtvec := value), scratch (mscratch := value), call (ecall) and
    code (fence.i)."""

    kind: str
    register: str = ""
    value: Symbol = Unknown()
    target: Register | None = None
