"""The text around the VM's handler: the record before it, the loop over records after it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.interrupt_split.capture import Field
from porter.interrupt_split.functions import Function
from porter.interrupt_split.record import VmNames, struct_text
from porter.interrupt_split.refusal import At
from porter.interrupt_split.worker import Worker
from porter.source.c_tree import text_of
from porter.source.edit import Edit, apply_edits


@dataclass(frozen=True)
class Frame:
    """Makes a static function of the handler, and a handler that calls it for each record."""

    worker: Worker
    line: str  # the interrupt's name
    device: str
    fields: Sequence[Field]
    names: VmNames

    @property
    def function(self) -> Function:
        """Whose text it is."""
        return self.worker.function

    def edits(self, unused: Sequence[str], helpers: Sequence[Edit]) -> Iterator[Edit]:
        """`unused`: parameters that nothing names any more; `helpers`: edits of functions that need
        the record declared before them."""
        function = self.function
        file, tree, body = function.text.file, function.tree, function.body
        if body is None:
            return
        start, opening, end = first_byte(function), tree.start(body), tree.end(function.node)
        eol = file.eol(start).decode()
        header, space = self._head(start, opening)
        text = struct_text(self.names.record, self.device, self.fields, eol) + eol
        bottom = self._bottom_head(space)
        place = min([start, *(first_byte_at(function, edit.start) for edit in helpers)])
        place = _above_comment(function, place)
        if place == start:
            yield Edit(start, opening, (text + bottom).encode("latin-1"))
        else:
            yield Edit(place, place, text.encode("latin-1"))
            yield Edit(start, opening, bottom.encode("latin-1"))
        if unused:
            yield Edit(opening + 1, opening + 1, _unused_text(unused, eol).encode("latin-1"))
        yield Edit(end, end, self._loop_text(header, space, eol).encode("latin-1"))

    def copy(self, unused: Sequence[str], inner: Sequence[Edit]) -> Iterator[Edit]:
        """The function for this line beside the one for the others, and the call of it."""
        function, call, caller = self.function, self.worker.call, self.worker.caller
        file, tree, body = function.text.file, function.tree, function.body
        if body is None or call is None or caller is None:
            return
        if caller.text.file.path != file.path:
            raise At(
                self.worker.line(),
                f"{function.name} in {file.name} serves other lines too: give the handler a "
                "function of its own",
            )
        start, opening, end = first_byte(function), tree.start(body), tree.end(function.node)
        eol = file.eol(start).decode()
        header, space = self._head(start, opening)
        header = re.sub(rf"\b{re.escape(function.name)}\b", self.names.copy, header, count=1)
        moved = [Edit(e.start - opening, e.end - opening, e.replacement) for e in inner]
        text = apply_edits(file.data[opening:end], sorted(moved)).decode("latin-1")
        text = text[0] + _unused_text(unused, eol) + text[1:]
        record = struct_text(self.names.record, self.device, self.fields, eol)
        whole = f"{eol}{eol}{record}{eol}{self._bottom_head(space)}{text}"
        whole += self._loop_text(header, space, eol)
        yield Edit(end, end, whole.encode("latin-1"))
        at = caller.tree.start(call)
        if at < start:
            place = _above_comment(caller, first_byte(caller))
            yield Edit(place, place, f"{header};{eol}".encode("latin-1"))
        yield Edit(at, at + len(function.name), self.names.copy.encode("latin-1"))

    def _head(self, start: int, opening: int) -> tuple[str, str]:
        """What stands before the body, and the space between."""
        data = self.function.text.file.data
        header = data[start:opening].rstrip()
        space = data[start + len(header) : opening]
        return header.decode("latin-1"), space.decode("latin-1")

    def _bottom_head(self, space: str) -> str:
        given = f"const struct {self.names.record} *{self.names.parameter}"
        parameters = _parameters_text(self.function)
        listed = f"{given}, {parameters}" if parameters else given
        return f"static void {self.names.bottom}({listed}){space}"

    def _loop_text(self, header: str, space: str, eol: str) -> str:
        record, given = f"struct {self.names.record}", self.names.parameter
        passed = [name.decode("latin-1") for name in self.function.parameter_names]
        rows = [
            "",
            "",
            f"{header}{space}{{",
            f"    {record} {given};",
            "",
            f"    while (fvm_split_take(&fvm_split_{self.line}, (uint32_t *)&{given},",
            f"                          sizeof {given} / sizeof(uint32_t)) != 0) {{",
            *self._checks(),
            f"        {self.names.bottom}({', '.join([f'&{given}', *passed])});",
            "    }",
            "}",
        ]
        return eol.join(rows)

    def _checks(self) -> Iterator[str]:
        """The record is of one device: a handle that leads to another must not be served by it."""
        for pointer in self.worker.checks:
            yield f"        if ({pointer} != {self.device}) {{"
            yield "            __builtin_trap();"
            yield "        }"


def _unused_text(names: Sequence[str], eol: str) -> str:
    return "".join(f"{eol}    (void){name};" for name in names)


def _parameters_text(function: Function) -> str:
    """The parameters of a function as it declares them; "" if it has none."""
    if not function.parameter_names:
        return ""
    declarator = function.node.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    return text_of(listed)[1:-1].decode("latin-1").strip() if listed is not None else ""


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
