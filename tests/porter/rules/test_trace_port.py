"""Writes to the trace port: into the log, for who may."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.porter.helpers import DOMAIN, escalations, port_files

MUTE = replace(DOMAIN, writes_log=False)


def test_without_the_right_a_person_is_told_what_to_describe(tmp_path: Path) -> None:
    result = port_files(tmp_path, {"main.c": b"void f(int c) { ITM_SendChar(c); }"}, MUTE)
    (reason,) = escalations(result)
    assert "sample may not write into the log" in reason and 'log="write"' in reason


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"(void)ITM_SendChar(*p++);", b"(void)hyp_putc(*p++);"),
        (b"while (*p) ITM_SendChar(*p++);", b"while (*p) hyp_putc(*p++);"),
        (b"if (ITM_SendChar('a')) g();", b"if ((hyp_putc('a'), 'a')) g();"),
    ],
)
def test_the_character_is_evaluated_once(tmp_path: Path, before: bytes, after: bytes) -> None:
    result = port_files(tmp_path, {"main.c": b"void f(char *p) { %s }" % before})
    assert escalations(result) == []
    assert after in result.files[0].ported
