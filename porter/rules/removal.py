"""Takes statements out of a file without leaving traces or changing what control flow does."""

from __future__ import annotations

import re

from porter.rules.unit import Unit
from porter.sites.context import Context
from porter.source.c_tree import Node
from porter.source.edit import Edit

_ONLY_SPACE = re.compile(rb"[ \t\f\v]*")
_REST_OF_LINE = re.compile(rb"[ \t\f\v]*(?:/\*[^\n]*?\*/|//[^\r\n]*)?[ \t\f\v]*(\\?)\r?(?:\n|\Z)")


def delete_span(unit: Unit, start: int, end: int) -> Edit:
    """Delete [start, end), with its lines where nothing but white space and comments is left."""
    data = unit.file.data
    line_start = unit.file.line_start(start)
    rest = _REST_OF_LINE.match(data, end)
    alone = _ONLY_SPACE.fullmatch(data, line_start, start) is not None
    if not alone or rest is None:
        return Edit(start, end, b"")
    if data[line_start - 2 : line_start] in (b"\\\n", b"\\\r") and not rest.group(1):
        return Edit(start, end, b"")  # the last line of a macro: the line before continues here
    return Edit(line_start, rest.end(), b"")


def delete_statement(unit: Unit, context: Context, statement: Node) -> Edit:
    """Delete a statement; `;` stays where the grammar needs one."""
    start, end = context.start(statement), context.end(statement)
    parent = statement.parent
    if parent is not None and parent.type in ("compound_statement", "translation_unit"):
        return delete_span(unit, start, end)
    return Edit(start, end, b";")
