"""What becomes of figures: ratios, targets, the JSON file, the tables in a document."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.build import Configuration
from benchmarks.counting import Image
from benchmarks.document import BEGIN, END, write_tables
from benchmarks.machines import MACHINES
from benchmarks.operations import BY_NAME
from benchmarks.results import Results, Side, write_json
from benchmarks.samples import SAMPLE, WARM_UP, Span
from benchmarks.symbols import Symbols
from benchmarks.text import report
from scanner.report.errors import FvmError

CTX, MASK, TICK = BY_NAME["ctx"], BY_NAME["mask"], BY_NAME["tick"]
NOWHERE = Image(Path("none"), Symbols([]), {}, range(0))


def span(*instructions: int) -> Span:
    rows = [(1, 0, 0, 0, 0)] * WARM_UP + [(count, 1, 2, 3, 0) for count in instructions]
    return Span(np.array(rows, SAMPLE), (), ())


def results(core: str, yields: int) -> Results:
    bare = Side(NOWHERE, {"ctx": span(50, 70), "tick": span(100)})
    virtual = Side(NOWHERE, {"ctx": span(yields), "tick": span(300), "mask": span(7, 9)})
    return Results(Configuration(MACHINES[core], "2"), (CTX, TICK, MASK), bare, virtual)


@pytest.mark.parametrize(("yields", "met"), [(54, True), (55, False)])
def test_a_target_is_a_share_of_the_bare_metal_mean(yields: int, met: bool) -> None:
    found = results("cm4f", yields)
    assert found.ratio(CTX) == yields / 60
    assert found.met(CTX) is met
    assert any(("MISSED" if not met else ": met") in line for line in report(found))


def test_a_target_without_bare_metal_is_a_number_and_only_of_cm4f() -> None:
    assert results("cm4f", 1).met(MASK) is True
    tight = replace(MASK, target=replace(MASK.target, limit=7)) if MASK.target else MASK
    assert results("cm4f", 1).met(tight) is False
    assert results("cm3", 1).met(MASK) is None
    assert results("cm4f", 1).met(TICK) is None


def test_the_json_has_both_sides(tmp_path: Path) -> None:
    path = tmp_path / "runtime.json"
    write_json(path, [results("cm3", 90), results("cm4f", 54)])
    content = json.loads(path.read_text())
    assert list(content) == ["cm3", "cm4f"]
    row = content["cm4f"]["ctx"]
    assert (row["bare"], row["virtual"], row["ratio"], row["max"]) == (60, 54, 0.9, 54)
    assert (row["exceptions"], row["bare_max"], row["samples"]) == (1, 70, 1)
    assert content["cm3"]["mask"]["bare"] is content["cm3"]["mask"]["ratio"] is None


def test_tables_replace_what_is_between_the_markers_and_nothing_else(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_tables(document, [results("cm4f", 55)])
    text = document.read_text()
    assert text.startswith(f"before\n{BEGIN}\n")
    assert text.endswith(f"{END}\nafter\n")
    assert "old" not in text
    assert "1 of 2 targets are met." in text
    (row,) = (line for line in text.splitlines() if line.startswith("| `ctx` "))
    assert "| 60.0 | 55.0 | 55 | 0.92x |" in row
    assert "0.90x **missed**" in row
    write_tables(document, [results("cm4f", 55)])
    assert document.read_text() == text


def test_a_document_without_its_markers_is_left_alone(tmp_path: Path) -> None:
    document = tmp_path / "page.md"
    document.write_text(f"{BEGIN}\n")
    with pytest.raises(FvmError, match="needs the lines"):
        write_tables(document, [results("cm4f", 55)])
    assert document.read_text() == f"{BEGIN}\n"
