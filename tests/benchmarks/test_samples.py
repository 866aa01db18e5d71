"""Decoding of what the plugin wrote, and the figures made of it."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from benchmarks.samples import WARM_UP, Span, decode
from scanner.report.errors import InternalError

Row = tuple[int, int, int, int, int]  # instructions, exceptions, loads, stores, ticks


def written(path: Path, rows: list[Row], typical: list[int], slowest: list[int]) -> Path:
    content = struct.pack("<II", 1, len(rows)) + b"".join(struct.pack("<5I", *r) for r in rows)
    for pcs in (typical, slowest):
        content += struct.pack(f"<I{len(pcs)}I", len(pcs), *pcs)
    path.write_bytes(content)
    return path


def only(path: Path) -> Span:
    (span,) = decode(path)
    return span


def test_the_first_samples_and_the_ticked_ones_are_left_out(tmp_path: Path) -> None:
    rows: list[Row] = [(999, 9, 9, 9, 0)] * WARM_UP
    rows += [(10, 1, 2, 3, 0), (5000, 4, 0, 0, 1), (20, 2, 4, 1, 0)]
    span = only(written(tmp_path / "samples", rows, [0x100, 0x102], [0x200]))
    found = span.figures
    assert found is not None
    assert (found.count, found.mean, found.least, found.most) == (2, 15, 10, 20)
    assert (found.disturbed, found.most_disturbed) == (1, 5000)
    assert (found.exceptions, found.words) == (1.5, 5)
    assert found.est_cycles == 15 + 5 + 1.5 * 22
    assert (span.typical, span.slowest) == ((0x100, 0x102), (0x200,))


def test_nothing_but_warm_up_has_no_figures(tmp_path: Path) -> None:
    assert only(written(tmp_path / "samples", [(1, 0, 0, 0, 0)] * WARM_UP, [], [])).figures is None


@pytest.mark.parametrize(("change", "text"), [(-1, "shorter"), (1, "longer")])
def test_a_file_of_another_length_is_refused(tmp_path: Path, change: int, text: str) -> None:
    path = written(tmp_path / "samples", [(1, 2, 3, 4, 0)], [7], [8])
    content = path.read_bytes()
    path.write_bytes(content[:change] if change < 0 else content + b"\0" * change)
    with pytest.raises(InternalError, match=text):
        decode(path)
