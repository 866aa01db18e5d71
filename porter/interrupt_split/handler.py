"""The steps from one handler to its sections."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.interrupt_split.bits import Values
from porter.interrupt_split.build_statement import StatementBuilder
from porter.interrupt_split.capture import Field
from porter.interrupt_split.device import Device
from porter.interrupt_split.device_facts import DeviceFacts
from porter.interrupt_split.effects import Captured
from porter.interrupt_split.expression import Expr, peeled
from porter.interrupt_split.functions import Function
from porter.interrupt_split.merge import Merge
from porter.interrupt_split.native_section import MidSection
from porter.interrupt_split.order import Order
from porter.interrupt_split.record import MOST_FIELDS, VmNames
from porter.interrupt_split.refusal import At, Refusal
from porter.interrupt_split.relevance import Relevance
from porter.interrupt_split.result import HandlerSplit
from porter.interrupt_split.sections import sections
from porter.interrupt_split.slicer import Slicer
from porter.interrupt_split.sources import Sources
from porter.interrupt_split.statement import Statement, accesses, walk_all
from porter.interrupt_split.touches import Touches
from porter.interrupt_split.unused import unused_helpers
from porter.interrupt_split.uses import private_uses
from porter.interrupt_split.vm_section import Bottom
from porter.interrupt_split.worker import Worker, Workers
from porter.interrupt_split.writers import compare
from porter.project.domain import Frame
from porter.source.c_tree import text_of

_SERIAL = re.compile("(LP)?US?ART")
_BYTES = ("(char)", "(uint8_t)", "(unsigned char)")
TAKE = b"fvm_split_take"
_CONDITIONS = frozenset({b"if", b"ifdef", b"ifndef", b"elif", b"else"})


class HandlerWork:
    """The steps for one handler."""

    def __init__(self, sources: Sources, result: HandlerSplit) -> None:
        self.sources = sources
        self.result = result
        self.functions = sources.functions
        self.graph = sources.graph
        self.touches = Touches(self.functions, result.split, sources.domain.chip, self.graph)
        self.facts = DeviceFacts(self.touches, self.graph, result)

    def run(self) -> None:
        """Raises Refusal."""
        result = self.result
        function = self.sources.find(result, self.functions)
        result.function = function
        if TAKE in text_of(function.node):
            result.is_split_already = True
            return
        self.functions = self.functions.following(self.touches.touching)
        workers = Workers(
            self.functions,
            lambda it: self.touches.device(it.evaluator),
            self._users,
            lambda name: self.graph.edges.get(name, ()),
            result.handler,
        )
        worker = workers.of(function)
        function = result.function = worker.function
        if TAKE in text_of(function.node):
            result.is_split_already = True
            return
        if b"#" in _directives(function):
            raise At(function.text.file.line(function.tree.start(function.node)),
                     "#if in the head of the function")  # fmt: skip
        if function.parameter_names and worker.caller is None:
            raise At(worker.line(), f"{function.name} takes arguments: the vector gives it none")
        device = self.touches.device(function.evaluator)
        builder = StatementBuilder.of(
            function, worker.names, device, self.functions, self.sources.is_compiled
        )
        statements = builder.body(function)
        result.lines = sections(statements, None, {}, result.split.device)
        self._slice(worker, device, statements)

    def _slice(self, worker: Worker, device: Device, statements: list[Statement]) -> None:
        result, function = self.result, worker.function
        self._check_structure(function, statements)
        values = Values(statements)
        captured = Captured(statements, values, self.facts.moved_by_software(statements))
        if not captured.consuming:
            raise self.facts.nothing(function)
        relevance = Relevance(statements, captured, values)
        slicer = Slicer(
            relevance,
            values,
            self.facts.named(device),
            self.facts.residual(statements),
            lambda name: name.encode("latin-1") in function.evaluator.macros,
        )
        steps = slicer.slice(statements)
        sensitive: dict[str, int] = {}
        for found in slicer.fields:
            for read in found.reads:
                for _, used in values.used(read):
                    name = found.register.name
                    sensitive[name] = sensitive.get(name, 0) | used
        Order(captured, sensitive, self.facts.writes).check(statements)
        result.fields = slicer.fields
        result.lines = sections(statements, relevance, slicer.captured, result.split.device)
        if len(slicer.fields) > MOST_FIELDS:
            raise At(
                captured.consuming[0].line,
                f"{len(slicer.fields)} reads to capture, a record holds {MOST_FIELDS}: read into "
                "locals once",
            )
        self._check_names(slicer.fields)
        merge = Merge(statements, relevance, values, captured)
        bits = {found.name: merge.bits_of_record(found) for found in slicer.fields}
        name = function.text.file.name
        moved = {
            (name, item.line, item.register.name)
            for _, item in accesses(statements)
            if item.register is not None and captured(item)
        }
        names = VmNames.free(
            function.name, result.vector.name, self.sources.mentions(function.evaluator)
        )
        bottom = Bottom(
            worker, result.vector.name, result.split.device, statements, slicer.fields,
            slicer.captured, bits, slicer.acknowledgements, slicer.once, names,
        )  # fmt: skip
        gone: set[str] = set()
        try:
            edits = bottom.edits()
            gone, deletions = unused_helpers(function, self.functions, self.touches.touching, edits)
            result.edits = sorted([*edits, *deletions])
        finally:
            result.writers = compare(
                self.touches.all, slicer.fields, slicer.acknowledgements, moved,
                self.sources.reaches, {(name, helper) for helper in gone}, worker.callers,
            )  # fmt: skip
            result.escalated += [*result.writers.conflicts, *self.sources.opaque(result.split)]
        result.mid = MidSection(
            result.vector.name, result.split, result.handler, name, slicer.fields,
            slicer.captured, steps,
        )  # fmt: skip

    def _check_structure(self, function: Function, statements: list[Statement]) -> None:
        """Raises At for what can't be told or moved."""
        file = function.text.file
        start, end = function.tree.start(function.node), function.tree.end(function.node)
        for directive in function.text.lexed.directives:
            inside = start <= directive.start < end and directive.name in _CONDITIONS
            if inside and not self.sources.was_asked(file):
                raise At(
                    file.line(directive.start),
                    f"#{directive.name.decode()} in the handler, and how the project is compiled "
                    "isn't known: give a compile_commands.json or a makefile",
                )
        for statement in walk_all(statements):
            if statement.kind == "other" and statement.what != "type definition":
                raise At(
                    statement.line, f"{statement.what} in the handler: write it with if and else"
                )

    def _users(self, function: Function) -> set[str]:
        """Who uses a function; a static one only its file can."""
        uses = private_uses(function, self.functions)
        if uses is not None:
            return {user for user, _ in uses}
        users = set(self.graph.callers.get(function.name, ()))
        return users | ({"a table"} if function.name in self.graph.outside else set())

    def _check_names(self, fields: Sequence[Field]) -> None:
        """The description's registers are fields of the record."""
        split = self.result.split
        known = {found.name for found in fields}
        wanted = [("count", count.register) for count in split.counts]
        if split.frame is not None:
            wanted.append(("frame", split.frame.register))
        for what, name in wanted:
            if name not in known:
                raise Refusal(
                    f'<{what} register="{name}"> of {self.result.vector.name}: the record has '
                    f"{', '.join(sorted(known))}; name one of them in the description",
                    str(self.sources.domain.path),
                )
        for found in fields:
            if split.frame is not None and found.register.name == split.frame.register:
                self._check_ends(split.frame, found)

    def _check_ends(self, frame: Frame, field: Field) -> None:
        """Ends of frames are values that the register can have, as the handler sees them."""
        most = (1 << 8 * field.register.width) - 1
        if _SERIAL.match(self.result.split.device) and field.register.width > 1:
            most = 0x1FF
        if field.reads and all(_is_byte(read) for read in field.reads):
            most = 0xFF
        never = [end for end in frame.ends if end > most]
        if never:
            raise Refusal(
                f'ends="{never[0]}" of {self.result.vector.name}: {field.register.name} is at '
                f"most {most} as the handler reads it, so no record ends a frame by it; give "
                "characters that come",
                str(self.sources.domain.path),
            )


def _is_byte(read: Expr) -> bool:
    """Whether only the low eight bits of a read are looked at."""
    expr = read
    while expr.parent is not None:
        expr = expr.parent
        if expr.operator == "cast" and expr.pieces[0] in _BYTES:
            return True
        masked = expr.operator == "&" and any(
            peeled(part).kind == "const" and 0 <= peeled(part).number <= 0xFF for part in expr.parts
        )
        if masked:
            return True
        if expr.kind != "expansion" and expr.operator not in ("()", "cast"):
            return False
    return False


def _directives(function: Function) -> bytes:
    """The head of a function as it stands in the file."""
    body = function.body
    start = function.tree.start(function.node)
    end = function.tree.start(body) if body is not None else start
    return function.text.file.data[start:end]
