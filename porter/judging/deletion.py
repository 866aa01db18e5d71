"""Statements and declarations taken out of a file, and the edits that do it neatly.

A comment that heads nothing but deleted lines goes with them, and so does the empty line that
would be left double.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

from porter.flow.statements import is_pure
from porter.sites.context import Context
from porter.source.c_tree import Node, SyntaxTree, walk
from porter.source.edit import Edit
from porter.source.evaluate import Evaluator
from porter.source.source_file import SourceFile

_BLOCKS = frozenset({"compound_statement", "translation_unit", "case_statement"})
_SPACE = re.compile(rb"[ \t\f\v]*")
_REST = re.compile(rb"[ \t\f\v]*(?:(?:/\*[^\n]*?\*/|//[^\r\n]*)[ \t\f\v]*)*(\\?)\r?(?:\n|\Z)")
_EMPTY_LINE = re.compile(rb"[ \t\f\v]*\r?\n")
_OPENS_BLOCK = re.compile(rb"\{[ \t]*\r?\n\Z")


def span_of(context: Context, node: Node, evaluator: Evaluator) -> Edit:
    """What deleting a statement does: an empty block stays where the grammar needs a statement."""
    parent = node.parent
    if parent is not None and parent.type == "case_statement" and _is_alone(parent, node):
        return Edit(context.start(node), context.end(node), b";")  # a label needs a statement
    if parent is None or parent.type in _BLOCKS:
        return Edit(context.start(node), context.end(node), b"")
    if parent.type == "if_statement" and parent.child_by_field_name("alternative") is None:
        condition = parent.child_by_field_name("condition")
        if condition is not None and is_pure(condition, evaluator):
            return span_of(context, parent, evaluator)
    return Edit(context.start(node), context.end(node), b"{ }")


def _is_alone(case: Node, node: Node) -> bool:
    """Whether a statement is all that a case has."""
    label = case.child_by_field_name("value")
    others = [it for it in case.named_children if it not in (label, node) and it.type != "comment"]
    return not others


def with_statements_of_labels(tree: SyntaxTree, deletions: Set[Edit]) -> set[Edit]:
    """The same deletions, but where all that a `case` has goes, one leaves a `;`: in one arm of #if
    or another it may be the last of its `switch`, where C before C23 wants a statement."""
    found = set(deletions)
    for case in walk(tree.root):
        if case.type != "case_statement":
            continue
        label = case.child_by_field_name("value")
        parts = [it for it in case.named_children if it != label and it.type != "comment"]
        spans = [(tree.start(it), tree.end(it)) for it in parts]
        over = [_covering(found, start, end) for start, end in spans]
        last = over[-1] if over else None
        if last is None or not all(it is not None and not it.replacement for it in over):
            continue
        if last.start > tree.start(case):  # else the label goes, too
            found.remove(last)
            found.add(replace(last, replacement=b";"))
    return found


def _covering(edits: Set[Edit], start: int, end: int) -> Edit | None:
    return next((it for it in edits if it.start <= start and end <= it.end), None)


def tidy(
    file: SourceFile, deletions: Iterable[Edit], comments: Sequence[tuple[int, int]]
) -> list[Edit]:
    """Edits for the outermost deletions, widened to whole lines where nothing else is on them."""
    outer = _outermost(deletions)
    plain = [edit for edit in outer if edit.replacement]
    lines = _join([_whole_lines(file, edit) for edit in outer if not edit.replacement])
    lines = _join(_with_comments(file, lines, comments))
    return plain + _join(_without_double_space(file, edit) for edit in lines)


def _outermost(edits: Iterable[Edit]) -> list[Edit]:
    kept: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if not kept or edit.start >= kept[-1].end:
            kept.append(edit)
    return kept


def _whole_lines(file: SourceFile, edit: Edit) -> Edit:
    data = file.data
    start = file.line_start(edit.start)
    rest = _REST.match(data, edit.end)
    if rest is None or not _SPACE.fullmatch(data, start, edit.start):
        return _with_space_before(file, edit)
    continued = data[start - 2 : start] == b"\\\n" or data[start - 3 : start] == b"\\\r\n"
    if continued and not rest.group(1):
        return edit  # the last line of a macro: the line before goes on here
    return Edit(start, rest.end(), b"")


def _with_space_before(file: SourceFile, edit: Edit) -> Edit:
    """A deletion within a line takes one of the spaces around it."""
    around = file.data[edit.start - 1 : edit.start], file.data[edit.end : edit.end + 1]
    return Edit(edit.start - 1, edit.end, b"") if around == (b" ", b" ") else edit


def _join(edits: Iterable[Edit]) -> list[Edit]:
    joined: list[Edit] = []
    for edit in sorted(edits):
        if joined and edit.start <= joined[-1].end:
            joined[-1] = Edit(joined[-1].start, max(edit.end, joined[-1].end), b"")
        else:
            joined.append(edit)
    return joined


def _with_comments(
    file: SourceFile, edits: list[Edit], comments: Sequence[tuple[int, int]]
) -> list[Edit]:
    """Add the comments directly above deleted lines that head nothing else."""
    ends = [file.line_end(end) for _, end in comments]
    result: list[Edit] = []
    for edit in edits:
        start = edit.start
        if start == file.line_start(start) and _heads_nothing_else(file, edit):
            closes = file.data[edit.end : file.line_end(edit.end)].strip()[:1] == b"}"
            while (above := _comment_above(file, start, ends, comments, closes)) is not None:
                start = above
        result.append(Edit(start, edit.end, b""))
    return result


def _comment_above(
    file: SourceFile,
    start: int,
    ends: Sequence[int],
    comments: Sequence[tuple[int, int]],
    past_empty_lines: bool,
) -> int | None:
    """Where the comment starts that fills the lines above `start`; None if there is none."""
    if past_empty_lines:
        while start and _EMPTY_LINE.fullmatch(file.data, file.line_start(start - 1), start):
            start = file.line_start(start - 1)
    index = bisect_left(ends, start)
    if index == len(ends) or ends[index] != start:
        return None
    above = comments[index][0]
    line = file.line_start(above)
    return line if _SPACE.fullmatch(file.data, line, above) else None


def _heads_nothing_else(file: SourceFile, edit: Edit) -> bool:
    """Whether the paragraph that begins with the deleted lines ends with them."""
    if edit.end != file.line_start(edit.end) and edit.end != len(file.data):
        return False
    following = file.data[edit.end : file.line_end(edit.end)].strip()
    return following[:1] in (b"", b"}", b"/", b"#")


def _without_double_space(file: SourceFile, edit: Edit) -> Edit:
    """Take an empty line too, where one stands before and after (or a block opens before)."""
    data = file.data
    if edit.start != file.line_start(edit.start) or edit.end != file.line_start(edit.end):
        return edit
    before = data[file.line_start(edit.start - 1) : edit.start] if edit.start else b"\n"
    opens = _OPENS_BLOCK.search(before) is not None
    empty_before = _EMPTY_LINE.fullmatch(before) is not None
    end = edit.end
    while (empty_before or opens) and (empty := _EMPTY_LINE.match(data, end)) is not None:
        end = empty.end()
    start = edit.start
    if empty_before and data[end : file.line_end(end)].strip() == b"}":
        start = file.line_start(edit.start - 1)
    return Edit(start, end, b"")
