"""Unified diffs of bytes, made from the edits themselves; `git apply` takes them as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from porter.source.edit import Edit, apply_edits
from porter.source.source_file import SourceFile

_CONTEXT = 3  # unchanged lines around a change
_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_PLAIN_NAME = re.compile(r"[ !#-\[\]-~]+")


@dataclass(frozen=True)
class _Change:
    """Lines [start, end) of the original, counted from 0, and what stands there afterwards."""

    start: int
    end: int
    lines: tuple[bytes, ...]


def unified_diff(file: SourceFile, edits: Iterable[Edit], is_new: bool = False) -> bytes:
    """The diff of one file; empty if the edits change nothing. `is_new`: it doesn't exist yet."""
    changes = _joined(_changes(file, edits))
    if not changes:
        return b""
    before, after = _name("a/", file.name), _name("b/", file.name)
    tab = b"\t" if b" " in before else b""
    parts = [
        b"diff --git %s %s\n" % (before, after),
        b"new file mode 100644\n" if is_new else b"",
        b"--- /dev/null\n" if is_new else b"--- %s%s\n" % (before, tab),
        b"+++ %s%s\n" % (after, tab),
    ]
    lines = _LINE.findall(file.data)
    shift = 0
    for hunk in _hunks(changes):
        text, moved = _hunk(lines, hunk, shift)
        parts.append(text)
        shift += moved
    return b"".join(parts)


def _changes(file: SourceFile, edits: Iterable[Edit]) -> Iterable[_Change]:
    """Edits widened to whole lines, those that share lines joined, equal ends cut off."""
    groups: list[tuple[int, int, list[Edit]]] = []
    for edit in sorted(edits):
        start, end = file.line_start(edit.start), _last_line_end(file, edit)
        if groups and start < groups[-1][1]:
            first, last, members = groups[-1]
            groups[-1] = (first, max(last, end), [*members, edit])
        else:
            groups.append((start, end, [edit]))
    for start, end, group in groups:
        moved = [Edit(e.start - start, e.end - start, e.replacement) for e in group]
        old = _LINE.findall(file.data[start:end])
        new = _LINE.findall(apply_edits(file.data[start:end], moved))
        top = 0
        while top < min(len(old), len(new)) and old[top] == new[top]:
            top += 1
        bottom = 0
        while bottom < min(len(old), len(new)) - top and old[-1 - bottom] == new[-1 - bottom]:
            bottom += 1
        first_line = file.line(start) - 1 + top
        old_count = len(old) - bottom - top
        if old_count or len(new) - bottom - top:
            changed = tuple(new[top : len(new) - bottom])
            yield _Change(first_line, first_line + old_count, changed)


def _last_line_end(file: SourceFile, edit: Edit) -> int:
    """Where the last line ends that an edit changes; a whole-line edit ends before the next."""
    if edit.end == file.line_start(edit.end):
        whole = edit.start == file.line_start(edit.start)
        if edit.replacement.endswith(b"\n") or (whole and not edit.replacement):
            return edit.end
    return file.line_end(edit.end)


def _joined(changes: Iterable[_Change]) -> list[_Change]:
    """Changes of neighbouring lines as one."""
    joined: list[_Change] = []
    for change in changes:
        if joined and joined[-1].end == change.start:
            last = joined.pop()
            change = _Change(last.start, change.end, last.lines + change.lines)
        joined.append(change)
    return joined


def _hunks(changes: list[_Change]) -> Iterable[list[_Change]]:
    hunk: list[_Change] = []
    for change in changes:
        if hunk and change.start - hunk[-1].end > 2 * _CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    yield hunk


def _hunk(lines: list[bytes], changes: list[_Change], shift: int) -> tuple[bytes, int]:
    start = max(changes[0].start - _CONTEXT, 0)
    end = min(changes[-1].end + _CONTEXT, len(lines))
    body: list[bytes] = []
    position = start
    for change in changes:
        body += [_line(b" ", line) for line in lines[position : change.start]]
        body += [_line(b"-", line) for line in lines[change.start : change.end]]
        body += [_line(b"+", line) for line in change.lines]
        position = change.end
    body += [_line(b" ", line) for line in lines[position:end]]
    moved = sum(len(change.lines) - (change.end - change.start) for change in changes)
    old_count, new_count = end - start, end - start + moved
    header = b"@@ -%d,%d +%d,%d @@\n" % (
        start + (old_count > 0), old_count, start + shift + (new_count > 0), new_count,
    )  # fmt: skip
    return header + b"".join(body), moved


def _line(sign: bytes, line: bytes) -> bytes:
    if line.endswith(b"\n"):
        return sign + line
    return sign + line + b"\n\\ No newline at end of file\n"


def _name(prefix: str, name: str) -> bytes:
    if _PLAIN_NAME.fullmatch(name):
        return (prefix + name).encode()
    quoted = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in (0x22, 0x5C) else f"\\{byte:03o}"
        for byte in name.encode("utf-8", "surrogateescape")
    )
    return f'"{prefix}{quoted}"'.encode()
