"""Condition codes over what set the flags (ARMv7-M ARM A7.3)."""

from __future__ import annotations

from typing import Any

import z3

from porter.context_switch.proof.machine import Flags
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.terms import Truth, bits, truth

_OPPOSITE = {"ne": "eq", "lo": "hs", "pl": "mi", "vc": "vs", "ls": "hi", "lt": "ge", "le": "gt"}


def holds(flags: Flags, code: str) -> Truth:
    """Whether a condition code holds."""
    if code in _OPPOSITE:
        found = holds(flags, _OPPOSITE[code])
        return not found if isinstance(found, bool) else truth(z3.Not(found))
    return truth(_straight(flags, code))


def _straight(flags: Flags, code: str) -> Any:
    left, right = bits(flags.left), bits(flags.right)
    match flags.kind:
        case "-":
            return _subtraction(left, right, code)
        case "+":
            result = left + right
            overflow = _negative((left ^ result) & (right ^ result))
            return _from_flags(code, result, z3.ULT(result, left), overflow)
        case "=" if code in ("eq", "mi"):
            return left == 0 if code == "eq" else _negative(left)
        case "=" if code == "hs" and flags.carry is not None:
            return flags.carry
    raise NotProved(f"tests the condition '{code}' where the flags aren't known")


def _negative(word: Any) -> Any:
    """In the form that a test of the same bit with a mask has."""
    return z3.Not(z3.Extract(31, 31, word) == 0)


def _subtraction(left: Any, right: Any, code: str) -> Any:
    result = left - right
    return {
        "eq": left == right,
        "hs": z3.UGE(left, right),
        "hi": z3.UGT(left, right),
        "ge": left >= right,
        "gt": left > right,
        "mi": _negative(result),
        "vs": _negative((left ^ right) & (left ^ result)),
    }[code]


def _from_flags(code: str, result: Any, carry: Any, overflow: Any) -> Any:
    negative, zero = _negative(result), result == 0
    return {
        "eq": zero,
        "hs": carry,
        "mi": negative,
        "vs": overflow,
        "hi": z3.And(carry, z3.Not(zero)),
        "ge": negative == overflow,
        "gt": z3.And(z3.Not(zero), negative == overflow),
    }[code]
