"""What is certain about bits of values that a function puts together step by step."""

from __future__ import annotations

import pytest

from porter.meaning.bits import ones, zeros
from porter.source.c_tree import SyntaxTree, captured, query
from porter.source.c_types import TypeTable
from porter.source.evaluate import Evaluator, no_scope
from porter.source.macros import MacroTable

NOTHING = (0, 0)
ALL = 0xFFFF_FFFF


def certain(body: str) -> tuple[int, int]:
    """(ones, zeros) of what `use()` is given."""
    tree = SyntaxTree(f"void f(unsigned x, int n) {{ {body} }}".encode(), 0)
    calls = captured(tree.root, query("(call_expression arguments: (argument_list (_) @it))"), "it")
    evaluator = Evaluator(MacroTable(), TypeTable())
    node = calls[-1]
    return ones(node, evaluator, no_scope), zeros(node, evaluator, no_scope)


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("use(x | 3);", (3, 0)),
        ("use((x & 0xF0) << 4);", (0, ALL & ~0xF00)),
        ("use((x & 0xF0) >> 4);", (0, 0x0FFF_FFF0)),
        ("unsigned t = 5; use(t);", (5, ALL & ~5)),
        ("unsigned t = x & 0xFF; t |= 2; use(t);", (2, ALL & ~0xFF)),
        ("unsigned t; t = x; t &= ~1u; t |= 8; n = t; use(t);", (8, 1)),
        ("unsigned t; t = x; t <<= 4; use(t | 0x100);", (0x100, 0xF)),
        ("unsigned t = 1, u; u = t; u |= 6; use(u);", (7, ALL & ~7)),
        ("unsigned t = 1; if (n) t = 2; use(t);", NOTHING),
        ("unsigned t = 1; while (n) { use(t); t++; }", NOTHING),
        ("unsigned t = 1; again: use(t); t = x; goto again;", NOTHING),
        ("unsigned t = 1; change(&t); use(t);", NOTHING),
        ("unsigned t = 1; t++; use(t);", NOTHING),
        ("unsigned t = 1; t = t + x; use(t);", NOTHING),
        ("volatile unsigned t = 1; use(t);", NOTHING),
        ("static unsigned t = 1; use(t);", NOTHING),
        ("unsigned t = 1; { unsigned t = x; use(t); }", NOTHING),
        ("unsigned t = 1; for (; n; t = x) { use(t); }", NOTHING),
        ("switch (n) { case 1: { unsigned t = 3; use(t); } }", (3, ALL & ~3)),
        ("unsigned t = 1; t = x, use(t);", NOTHING),
        ("unsigned t; t = 3; switch (n) { case 0: t = x; case 1: use(t); }", NOTHING),
        ("x = 3; use(x);", NOTHING),
    ],
)
def test_what_is_certain(body: str, known: tuple[int, int]) -> None:
    assert certain(body) == known
