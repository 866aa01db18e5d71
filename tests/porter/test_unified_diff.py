"""Diffs are taken by git as they are, and lead there and back byte for byte."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from porter.output.unified_diff import unified_diff
from porter.source.edit import Edit, apply_edits, folded
from porter.source.source_file import SourceFile
from scanner.report.errors import InternalError


def git_apply(folder: Path, diff: bytes, *options: str) -> None:
    subprocess.run(
        ["git", "apply", "--whitespace=nowarn", *options, "-"], cwd=folder, input=diff, check=True
    )


def there_and_back(folder: Path, name: str, before: bytes, edits: list[Edit]) -> bytes:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(before)
    diff = unified_diff(SourceFile(path, name, before), edits)
    after = apply_edits(before, edits)
    if not diff:
        assert after == before
        return diff
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    git_apply(folder, diff)
    assert path.read_bytes() == after
    git_apply(folder, diff, "-R")
    assert path.read_bytes() == before
    return diff


@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
@pytest.mark.parametrize("final", [True, False])
@pytest.mark.parametrize("name", ["a.c", "with space/b c.c", "gr\u00fc\u00df\t.c", 'q"uote.c'])
def test_line_ends_and_names(tmp_path: Path, eol: bytes, final: bool, name: str) -> None:
    lines = [b"line %d \xff\xe9" % number for number in range(30)]
    before = eol.join(lines) + (eol if final else b"")
    place = before.index(b"line 5 ")
    last = before.index(b"line 29")
    edits = [
        Edit(0, 0, b"\xef\xbb\xbf"),
        Edit(place, place + 4, b"LINE"),
        Edit(last, len(before), b"gone" if final else b"gone" + eol),
    ]
    there_and_back(tmp_path, name, before, edits)


def test_deleted_lines_are_only_minus_lines(tmp_path: Path) -> None:
    before = b"a\nb\nc\nd\n"
    diff = there_and_back(tmp_path, "x.c", before, [Edit(2, 6, b"")])
    changed = [line for line in diff.splitlines()[4:] if line[:1] in (b"+", b"-")]
    assert changed == [b"-b", b"-c"]


def test_changes_far_apart_are_hunks_of_their_own(tmp_path: Path) -> None:
    before = b"".join(b"%d\n" % number for number in range(100))
    first, second = before.index(b"10\n"), before.index(b"90\n")
    edits = [Edit(first, first + 2, b"x"), Edit(second, second + 2, b"y")]
    assert there_and_back(tmp_path, "x.c", before, edits).count(b"@@ -") == 2


def test_overlapping_edits_are_an_internal_error() -> None:
    with pytest.raises(InternalError):
        apply_edits(b"abcdef", [Edit(0, 3, b""), Edit(2, 4, b"")])
    with pytest.raises(InternalError, match="overlapping"):
        apply_edits(b"abcdef", folded(b"abcdef", [Edit(0, 3, b"x"), Edit(0, 3, b"y")]))


@st.composite
def edited_texts(draw: st.DrawFn) -> tuple[bytes, list[Edit]]:
    piece = st.sampled_from([b"x", b"yy", b"\n", b"\r\n", b"\xff", b" ", b"\t"])
    before = b"".join(draw(st.lists(piece, min_size=1, max_size=60)))
    cuts = sorted(draw(st.lists(st.integers(0, len(before)), max_size=8)))
    edits = [
        Edit(start, end, b"".join(draw(st.lists(piece, max_size=4))))
        for start, end in zip(cuts[::2], cuts[1::2], strict=False)
        if start < end
    ]
    return before, edits


@settings(max_examples=40, deadline=None)
@given(case=edited_texts())
def test_any_edits_go_there_and_back(
    case: tuple[bytes, list[Edit]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    before, edits = case
    there_and_back(tmp_path_factory.mktemp("diff"), "x.c", before, edits)
