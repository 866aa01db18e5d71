"""Definitions of macros in a text that isn't finished."""

from __future__ import annotations

import pytest

from porter.context_switch.macro_spans import MacroSpans


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_definition_may_go_on_behind_the_end(end: bytes) -> None:
    text = b"#define BOTH(a) a; \\" + end
    assert MacroSpans(text).used_by([], [b"BOTH(1)"]) == [(0, len(text))]
