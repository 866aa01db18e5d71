"""BASEPRI thresholds, priorities and what the description says of each vector."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.porter.helpers import DOMAIN, escalations, port_files

LOCK = b"#define LIMIT (5 << 4)\nvoid lock(void) { __set_BASEPRI(LIMIT); }\n"


def init(priority: int) -> bytes:
    return b"void init(void) { NVIC_SetPriority(37, %d); }\n" % priority


def test_a_less_urgent_interrupt_is_maskable(tmp_path: Path) -> None:
    assert escalations(port_files(tmp_path, {"a.c": LOCK, "b.c": init(5)})) == []


def test_a_more_urgent_interrupt_must_be_described_as_transparent(tmp_path: Path) -> None:
    files = {"a.c": LOCK, "b.c": init(4)}
    (reason,) = escalations(port_files(tmp_path, files))
    assert 'the description must say mask="transparent" for USART1' in reason
    vectors = tuple(replace(v, maskable=v.irq != 37) for v in DOMAIN.vectors)
    assert escalations(port_files(tmp_path, files, replace(DOMAIN, vectors=vectors))) == []


def test_without_a_threshold_priorities_say_nothing(tmp_path: Path) -> None:
    assert escalations(port_files(tmp_path, {"b.c": init(0)})) == []
