"""The value of a constant expression of C, where nothing but numbers stands in it and every step of
it is the same for a signed and an unsigned word."""

from __future__ import annotations

from collections.abc import Callable
from operator import add, and_, floordiv, lshift, mod, mul, or_, rshift, sub, xor

from porter.context_switch.expression import C, Node, read
from porter.source.arithmetic import literal

_OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": add, "-": sub, "*": mul, "/": floordiv, "%": mod,
    "<<": lshift, ">>": rshift, "&": and_, "|": or_, "^": xor,
}  # fmt: skip
_LARGEST, _WORD = (1 << 31) - 1, (1 << 32) - 1


def value_of(text: str) -> int | None:
    """None where it isn't known."""
    tree = read(text, C)
    found = None if tree is None else _value(tree)
    return found if found is not None and 0 <= found <= _WORD else None


def _value(tree: Node) -> int | None:
    if not tree.parts:
        number = literal(tree.word.encode())
        return None if number is None else number.value
    parts = [_value(part) for part in tree.parts]
    operator = _OPERATORS.get(tree.word)
    if operator is None or len(parts) != 2:
        return None
    left, right = parts
    if left is None or right is None or not (0 <= left <= _LARGEST and 0 <= right <= _LARGEST):
        return None
    if (tree.word in ("/", "%") and right == 0) or (tree.word in ("<<", ">>") and right > 31):
        return None
    return operator(left, right)
