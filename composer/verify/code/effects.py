"""What a step of the analysis meets: loads and stores, special registers, calls, ways on."""

from __future__ import annotations

from dataclasses import dataclass

from composer.verify.code.state import State
from composer.verify.code.values import Value


@dataclass(frozen=True)
class Access:
    """A store or load: where, how many bytes, and what a store puts there."""

    at: int
    is_store: bool
    place: Value
    size: int
    value: Value = None


@dataclass(frozen=True)
class Special:
    """A read or write of a special register: control, psp, ipsr and so on."""

    at: int
    name: str
    written: bool
    value: Value = None


@dataclass(frozen=True)
class Call:
    """A call of a function with what is known of its arguments."""

    at: int
    target: int
    arguments: tuple[Value, ...]


@dataclass(frozen=True)
class Floating:
    """An instruction that works on the floating-point registers."""

    at: int


Effect = Access | Special | Call | Floating


@dataclass(frozen=True)
class Next:
    """Where a step leads. kind: go, call, leave, trap, halt (a branch to itself),
    system-call, lost."""

    kind: str
    state: State
    target: Value = None
    text: str = ""
