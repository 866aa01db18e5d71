"""What a function makes of a word that it fetched, and which words lead a condition on that either
way: a counter is added to, masked and only then compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from porter.context_switch.proof.states import EXC_RETURNS

WORD = 0xFFFF_FFFF
USUAL = frozenset({0, 1, *EXC_RETURNS})  # what states have anyway
_MOST = 8  # steps: more are a checksum, not a counter
_OPERATIONS: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "sll": lambda a, b: a << (b & 31),
    "srl": lambda a, b: a >> (b & 31),
}
_BESIDE = {"hs": -1, "lo": -1, "ge": -1, "lt": -1, "hi": 1, "ls": 1, "gt": 1, "le": 1}


@dataclass(frozen=True)
class Step:
    """One operation with a constant; `first`: the constant is on its left."""

    name: str
    constant: int
    first: bool


@dataclass(frozen=True)
class Derived:
    """A word of the state, behind these steps."""

    steps: tuple[Step, ...] = ()


Value = int | Derived
UNKNOWN = Derived()


def result(name: str, left: Value, right: Value) -> Value:
    """What an operation makes of two words."""
    if name not in _OPERATIONS:
        return UNKNOWN
    if isinstance(left, int) and isinstance(right, int):
        return int(_OPERATIONS[name](left, right)) & WORD
    if isinstance(left, Derived) and isinstance(right, int):
        step, before = Step(name, right, False), left.steps
    elif isinstance(left, int) and isinstance(right, Derived):
        step, before = Step(name, left, True), right.steps
    else:
        return UNKNOWN
    if (step.constant == 0 and name in ("add", "or", "xor")) or step == Step("sub", 0, False):
        return Derived(before)
    return Derived((*before, step)) if len(before) < _MOST else UNKNOWN


def compared(left: Value, right: Value, code: str = "") -> Iterator[int]:
    """What the word of the state has to be for a comparison to hold, or to fail; `code` is the
    condition that asks: an order may need a neighbour."""
    if isinstance(left, Derived) and isinstance(right, int):
        word, constant, step = left, right, _BESIDE.get(code, 0)
    elif isinstance(left, int) and isinstance(right, Derived):
        word, constant, step = right, left, -_BESIDE.get(code, 0)
    else:
        return
    yield from _sources(word.steps, constant)
    if word.steps:
        yield from _sources(word.steps, constant + step & WORD)
        yield from tested(word) if constant == 0 else ()


def tested(word: Value) -> Iterator[int]:
    """What the word of the state has to be for this one to be 0, or not to be, to be negative or
    to have shifted out a bit. Not what any usual word does as well."""
    if isinstance(word, int) or not word.steps:
        return
    *before, last = word.steps
    for source in _deciding(last):
        if before or last.name not in ("and", "sll", "srl") or not _has_usual(source):
            yield from _sources(tuple(before), source)


def _has_usual(bits: int) -> bool:
    return any(bits & word for word in USUAL)


def _deciding(step: Step) -> Iterator[int]:
    """Words from which a step leads to different flags."""
    amount = step.constant & 31
    if step.name == "and":
        yield from (0, step.constant)
    elif step.first or amount == 0 or step.name not in ("sll", "srl"):
        yield from _sources((step,), 0)
    elif step.name == "sll":
        yield from (0, 1, 1 << 31 - amount, 1 << 32 - amount)
    else:
        yield from (0, 1 << amount, 1 << amount - 1)


def _sources(steps: tuple[Step, ...], wanted: int) -> Iterator[int]:
    """A word that becomes the wanted one."""
    for step in reversed(steps):
        found = _before(step, wanted)
        if found is None:
            return
        wanted = found & WORD
    yield wanted


def _before(step: Step, wanted: int) -> int | None:
    constant, amount = step.constant, step.constant & 31
    candidate = {
        "add": wanted - constant,
        "sub": constant - wanted if step.first else wanted + constant,
        "xor": wanted ^ constant,
        "and": wanted,
        "sll": wanted >> amount,
        "srl": wanted << amount,
    }.get(step.name)
    if candidate is None:
        return None
    pair = (constant, candidate) if step.first else (candidate, constant)
    return candidate if result(step.name, *(it & WORD for it in pair)) == wanted else None
