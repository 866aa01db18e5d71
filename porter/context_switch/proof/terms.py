"""Words that are known or symbolic: Python integers where known, z3 bit vectors else.

z3 is imported here, and this module only when a proof runs.
"""

from __future__ import annotations

from typing import Any

import z3

WORD = 0xFFFF_FFFF
Term = Any  # int or z3.BitVecRef of 32 bits
Truth = Any  # bool or z3.BoolRef


def symbol(name: str) -> Term:
    """An unknown word."""
    return z3.BitVec(name, 32)


def bits(term: Term) -> Any:
    """The term as z3 sees it."""
    return z3.BitVecVal(term, 32) if isinstance(term, int) else term


def plain(term: Any) -> Term:
    """Simplified, and an integer if it is one."""
    term = z3.simplify(term)
    return term.as_long() if z3.is_bv_value(term) else term


def truth(condition: Any) -> Truth:
    """Simplified, and a bool if it is one."""
    if isinstance(condition, bool):
        return condition
    condition = z3.simplify(condition)
    if z3.is_true(condition) or z3.is_false(condition):
        return bool(z3.is_true(condition))
    return condition


def same(one: Any, other: Any) -> bool:
    """Equal by their form."""
    if isinstance(one, (int, bool)) or isinstance(other, (int, bool)):
        return type(one) is type(other) and bool(one == other)
    return bool(one.eq(other))


def split(term: Term) -> tuple[Any, int]:
    """A word as something unknown (None for nothing) and a constant offset from it."""
    if isinstance(term, int):
        return None, term
    if z3.is_app_of(term, z3.Z3_OP_BADD) and z3.is_bv_value(term.arg(0)):
        rest = term.arg(1) if term.num_args() == 2 else plain(term - term.arg(0))
        return rest, term.arg(0).as_long()
    return term, 0


def _shifted(left: Any, right: Any, operator: Any) -> Any:
    """Only the lowest byte of a shift's amount counts."""
    return operator(left, right & 0xFF)


_SYMBOLIC = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: _shifted(a, b, lambda x, y: x << y),
    ">>": lambda a, b: _shifted(a, b, z3.LShR),
    ">>>": lambda a, b: _shifted(a, b, lambda x, y: x >> y),
}


def binary(operator: str, left: Term, right: Term) -> Term:
    """Arithmetic on words; `>>>` keeps the sign."""
    if isinstance(left, int) and isinstance(right, int) and operator in ("+", "-", "&", "|", "^"):
        value = {
            "+": left + right,
            "-": left - right,
            "&": left & right,
            "|": left | right,
            "^": left ^ right,
        }[operator]
        return value & WORD
    return plain(_SYMBOLIC[operator](bits(left), bits(right)))


def add(left: Term, right: Term) -> Term:
    """Sum of two words."""
    return binary("+", left, right)


def overflows(*terms: Term) -> Truth:
    """Whether a sum of three words, or of fewer, needs more than a word."""
    wide = [z3.ZeroExt(2, bits(term)) for term in terms]
    return truth(z3.Extract(33, 32, sum(wide[1:], wide[0])) != 0)


def field(term: Term, low: int, width: int, signed: bool = False) -> Term:
    """`width` bits from bit `low`, extended to a word."""
    if width == 32:
        return term
    part = z3.Extract(low + width - 1, low, bits(term))
    return plain(z3.SignExt(32 - width, part) if signed else z3.ZeroExt(32 - width, part))


def insert(word: Term, value: Term, low: int, width: int) -> Term:
    """`word` with `width` bits from bit `low` on replaced."""
    mask = ((1 << width) - 1) << low
    kept = binary("&", word, ~mask & WORD)
    return binary("|", kept, binary("&", plain(bits(value) << low), mask))


def choose(condition: Truth, one: Term, other: Term) -> Term:
    """One word where a condition holds, another where it doesn't."""
    if isinstance(condition, bool):
        return one if condition else other
    return plain(z3.If(condition, bits(one), bits(other)))


def as_word(condition: Truth) -> Term:
    """1 where a condition holds, 0 where it doesn't."""
    return choose(condition, 1, 0)


def equal(one: Term, other: Term) -> Truth:
    """Whether two words are the same."""
    if same(one, other):
        return True
    return truth(bits(one) == bits(other))


Known = tuple[Any, Any]  # something unknown, and the constant it is equal to


def learned(condition: Any) -> Known | None:
    """What a condition that holds says about a word or a bit."""
    negated = z3.is_not(condition)
    equation = condition.arg(0) if negated else condition
    if not z3.is_eq(equation) or not z3.is_bv(equation.arg(0)):
        return None
    left, right = equation.arg(0), equation.arg(1)
    if z3.is_bv_value(left):
        left, right = right, left
    if z3.is_bv_value(left) or not z3.is_bv_value(right):
        return None
    if not negated:
        return left, right
    return (left, z3.BitVecVal(1 - right.as_long(), 1)) if left.size() == 1 else None


def apply(known: list[Known], term: Any) -> Any:
    """The term with what is known put in."""
    if not known or isinstance(term, (int, bool)):
        return term
    changed = z3.substitute(term, *known)
    if changed.eq(term):
        return term
    return truth(changed) if z3.is_bool(changed) else plain(changed)
