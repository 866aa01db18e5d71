"""The text around the VM's handler: the record before it, the loop over records after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.interrupt_split.capture import Field
from porter.interrupt_split.functions import Function
from porter.interrupt_split.record import VmNames, struct_text
from porter.source.edit import Edit


@dataclass(frozen=True)
class Frame:
    """Makes a static function of the handler, and a handler that calls it for each record."""

    function: Function
    line: str  # the interrupt's name
    device: str
    fields: Sequence[Field]
    names: VmNames

    def edits(self, uses_record: bool, helpers: Sequence[Edit]) -> Iterator[Edit]:
        """`helpers`: edits of functions that need the record declared before them."""
        function = self.function
        file, tree, body = function.text.file, function.tree, function.body
        if body is None:
            return
        start, opening, end = first_byte(function), tree.start(body), tree.end(function.node)
        eol = file.eol(start).decode()
        header = file.data[start:opening].rstrip()
        space = file.data[start + len(header) : opening].decode("latin-1")
        record, given = f"struct {self.names.record}", self.names.parameter
        text = struct_text(self.names.record, self.device, self.fields, eol) + eol
        bottom = f"static void {self.names.bottom}(const {record} *{given}){space}"
        place = min([start, *(first_byte_at(function, edit.start) for edit in helpers)])
        place = _above_comment(function, place)
        if place == start:
            yield Edit(start, opening, (text + bottom).encode("latin-1"))
        else:
            yield Edit(place, place, text.encode("latin-1"))
            yield Edit(start, opening, bottom.encode("latin-1"))
        if not uses_record:
            yield Edit(opening + 1, opening + 1, f"{eol}    (void){given};".encode())
        yield Edit(
            end, end, self._loop_text(header.decode("latin-1"), space, eol).encode("latin-1")
        )

    def _loop_text(self, header: str, space: str, eol: str) -> str:
        record, given = f"struct {self.names.record}", self.names.parameter
        rows = [
            "",
            "",
            f"{header}{space}{{",
            f"    {record} {given};",
            "",
            f"    while (fvm_split_take(&fvm_split_{self.line}, (uint32_t *)&{given},",
            f"                          sizeof {given} / sizeof(uint32_t)) != 0) {{",
            f"        {self.names.bottom}(&{given});",
            "    }",
            "}",
        ]
        return eol.join(rows)


def first_byte(function: Function) -> int:
    """Where a definition begins in the file, attributes that the tree doesn't see included."""
    return first_byte_at(function, function.tree.start(function.node))


def first_byte_at(function: Function, offset: int) -> int:
    """Where the declaration at the top level of the file begins that an offset is in."""
    directives = function.text.lexed.directives
    boundary = max((d.end for d in directives if d.end <= offset), default=0)
    depth = 0
    for token in function.text.lexed.tokens:
        if token.start >= offset:
            break
        depth += (token.text == b"{") - (token.text == b"}")
        if depth == 0 and token.text in (b";", b"}"):
            boundary = max(boundary, token.end)
    return next((t.start for t in function.text.lexed.tokens if t.start >= boundary), offset)


def _above_comment(function: Function, offset: int) -> int:
    """Above the comment that heads what stands at `offset`."""
    file = function.text.file
    for start, end in reversed(function.text.lexed.comments):
        if end <= offset and not file.data[end:offset].strip():
            gap = file.data[end:offset].count(b"\n")
            heads = not file.data[file.line_start(start) : start].strip()
            return start if gap == 1 and heads else offset
        if end <= offset:
            break
    return offset
