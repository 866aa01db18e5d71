"""One handler of a project against its split plan: three sections, or why it stays whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from porter.interrupt_split.bits import Values
from porter.interrupt_split.build_statement import IsCompiled, StatementBuilder
from porter.interrupt_split.capture import Field
from porter.interrupt_split.device import Device, DeviceRegister
from porter.interrupt_split.effects import Captured, is_acknowledgement
from porter.interrupt_split.functions import Function, Functions
from porter.interrupt_split.merge import Merge
from porter.interrupt_split.native_section import MidSection
from porter.interrupt_split.order import Order
from porter.interrupt_split.record import MOST_FIELDS
from porter.interrupt_split.refusal import At, Refusal
from porter.interrupt_split.relevance import Relevance
from porter.interrupt_split.sections import Section, sections
from porter.interrupt_split.slicer import Slicer
from porter.interrupt_split.statement import Statement, accesses, walk_all
from porter.interrupt_split.touches import Touches
from porter.interrupt_split.vm_section import Bottom
from porter.interrupt_split.writers import Reaches, Writers, compare
from porter.project.definitions import Definition
from porter.project.domain import Domain, Split, Vector
from porter.project.knowledge import Knowledge
from porter.project.reachability import CallGraph
from porter.source.c_tree import Node, text_of
from porter.source.edit import Edit
from porter.source.source_file import SourceFile
from porter.source.values import Place, Pointer

TAKE = b"fvm_split_take"
_HARMLESS = ("mem", "str", "__", "NVIC_", "virt_", "hyp_")  # of libraries without sources
_CONDITIONS = frozenset({b"if", b"ifdef", b"ifndef", b"elif", b"else"})


@dataclass
class HandlerSplit:
    """What became of one handler. `function` None: it wasn't found. Without `mid` it stays whole
    for the reasons in `escalated`, or is split already."""

    vector: Vector
    split: Split
    function: Function | None = None
    definition: Definition | None = None
    fields: Sequence[Field] = ()
    lines: Sequence[Section] = ()
    writers: Writers | None = None
    mid: MidSection | None = None
    edits: Sequence[Edit] = ()
    escalated: list[str] = field(default_factory=list)
    is_split_already: bool = False

    @property
    def handler(self) -> str:
        """The name that the description gives."""
        return self.vector.handler or ""


Definitions = Callable[[set[str]], Mapping[str, Definition]]


class Splitter:
    """Splits the handlers of one machine."""

    def __init__(
        self,
        domain: Domain,
        live: Iterable[SourceFile],
        knowledge: Knowledge,
        definitions: Definitions,
        reaches: Reaches,
    ) -> None:
        self._domain = domain
        self._files = list(live)
        self._knowledge = knowledge
        self._definitions = definitions
        self._reaches = reaches

    def all(self) -> list[HandlerSplit]:
        """One result a line with a plan."""
        return [
            self._one(vector, vector.split)
            for vector in self._domain.vectors
            if vector.split is not None
        ]

    def _one(self, vector: Vector, split: Split) -> HandlerSplit:
        result = HandlerSplit(vector, split)
        try:
            _Work(self, result).run()
        except At as refusal:
            name = result.function.text.file.name if result.function is not None else ""
            result.escalated.insert(0, f"{name}:{refusal.line}: {refusal.reason}")
        except Refusal as refusal:
            place = f"{refusal.place}: " if refusal.place else ""
            result.escalated.insert(0, f"{place}{refusal.reason}")
        if result.escalated:
            result.mid, result.edits = None, ()
        return result

    # --- what one handler asks -------------------------------------------------------------

    def find(self, result: HandlerSplit, functions: Functions) -> Function:
        """The handler's definition. Raises Refusal."""
        name = result.handler
        found = self._definitions({name}).get(name)
        if found is None:
            raise Refusal(f"no source that is built defines {name}", str(self._domain.path))
        result.definition = found
        if found.file.is_asm:
            raise Refusal("the handler is written in assembler: write it in C", found.file.name)
        for function in functions.all_of(found.file):
            start, end = function.tree.start(function.node), function.tree.end(function.node)
            if start <= found.start < end and function.body is not None:
                if function.node.has_error:
                    break
                return function
        line = found.file.line(found.start)
        raise Refusal(
            f"{name} can't be read: a macro makes it, or the parser doesn't understand it; write "
            "it as a plain function",
            f"{found.file.name}:{line}",
        )

    @property
    def domain(self) -> Domain:
        """The machine."""
        return self._domain

    @cached_property
    def functions(self) -> Functions:
        """Of the machine's sources."""
        return Functions(self._files, self._knowledge)

    @cached_property
    def graph(self) -> CallGraph:
        """Who calls whom."""
        graph = CallGraph()
        for file in self._files:
            if not file.is_asm and not file.is_cplusplus:
                graph.add_c(self._knowledge.text(file))
        return graph

    def was_asked(self, file: SourceFile) -> bool:
        """Whether the project's compiler said which lines of a file it sees."""
        return self._knowledge.was_asked(file.path)

    @property
    def is_compiled(self) -> IsCompiled:
        """Asks the project's compiler."""
        return lambda function, first, last: self._knowledge.is_compiled(
            function.text.file.path, first, last
        )

    def opaque(self, split: Split) -> Iterator[str]:
        """Assembler and C++ files that name the device."""
        name = re.compile(rb"\b%s(_BASE)?\b|\b0[xX]0*%X\b" % (split.device.encode(), split.base))
        for file in self._files:
            if (file.is_asm or file.is_cplusplus) and (match := name.search(file.data)) is not None:
                yield (
                    f"{file.name}:{file.line(match.start())}: {match.group().decode()} in "
                    "assembler or C++, which isn't followed: access the device in C only"
                )

    @property
    def reaches(self) -> Reaches:
        """Whether the machine gets to a function."""
        return self._reaches


class _Work:
    """The steps for one handler."""

    def __init__(self, splitter: Splitter, result: HandlerSplit) -> None:
        self.splitter = splitter
        self.result = result
        self.functions = splitter.functions
        self.graph = splitter.graph
        self.touches = Touches(self.functions, result.split, splitter.domain.chip, self.graph)

    def run(self) -> None:
        """Raises Refusal."""
        result = self.result
        function = self.splitter.find(result, self.functions)
        result.function = function
        if TAKE in text_of(function.node):
            result.is_split_already = True
            return
        self.functions = self.functions.following(self.touches.touching)
        worker = self._through_wrapper(function)
        if worker is None:
            result.is_split_already = True
            return
        function = result.function = worker
        if b"#" in _directives(function):
            raise At(function.text.file.line(function.tree.start(function.node)),
                     "#if in the head of the function")  # fmt: skip
        if function.parameter_names:
            raise At(function.text.file.line(function.tree.start(function.node)),
                     f"{function.name} takes arguments, so it serves more than this line: give "
                     "the line a handler of its own")  # fmt: skip
        device = self.touches.device(function.evaluator)
        builder = StatementBuilder.of(function, device, self.functions, self.splitter.is_compiled)
        statements = builder.body(function)
        result.lines = sections(statements, None, {}, result.split.device)
        self._slice(function, device, statements)

    def _slice(self, function: Function, device: Device, statements: list[Statement]) -> None:
        result = self.result
        self._check_structure(function, statements)
        values = Values(statements)
        captured = Captured(statements, values, self._moved_by_software(statements))
        if not captured.consuming:
            raise self._nothing(function)
        relevance = Relevance(statements, captured)
        slicer = Slicer(
            relevance,
            values,
            self._named(device),
            self._residual(statements),
            lambda name: name.encode("latin-1") in function.evaluator.macros,
        )
        steps = slicer.slice(statements)
        sensitive: dict[str, int] = {}
        for found in slicer.fields:
            for read in found.reads:
                for _, used in values.used(read):
                    name = found.register.name
                    sensitive[name] = sensitive.get(name, 0) | used
        Order(captured, sensitive, self._writes).check(statements)
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
        result.writers = compare(
            self.touches.all, slicer.fields, slicer.acknowledgements, moved, self.splitter.reaches
        )
        result.escalated += [*result.writers.conflicts, *self.splitter.opaque(result.split)]
        bottom = Bottom(
            function, result.vector.name, result.split.device, statements, slicer.fields,
            slicer.captured, bits, slicer.acknowledgements, slicer.once,
        )  # fmt: skip
        result.edits = bottom.edits()
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
            if inside and not self.splitter.was_asked(file):
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

    # --- wrappers --------------------------------------------------------------------------

    def _through_wrapper(self, function: Function) -> Function | None:
        """The function that does the work, where the handler only calls it; None if it takes
        its records already."""
        seen = {function.name}
        while True:
            called = _only_call(function)
            inner = self.functions.get(called, function.text.file) if called else None
            if inner is None or inner.name in seen or inner.parameter_names:
                return function
            users = {name for name, uses in self.graph.edges.items() if inner.name in uses}
            if users != {function.name} or inner.name in self.graph.roots:
                others = sorted(users - {function.name}) or ["a table"]
                raise At(
                    function.text.file.line(function.tree.start(function.node)),
                    f"{inner.name}, which serves the interrupt, is also used by "
                    f"{', '.join(others)}: give the handler a function of its own",
                )
            if TAKE in text_of(inner.node):
                return None
            seen.add(inner.name)
            function = inner

    # --- questions -------------------------------------------------------------------------

    def _moved_by_software(self, statements: list[Statement]) -> frozenset[str]:
        """Registers that only software moves here: a compare value, say."""
        written = {
            touch.register.name
            for touch in self.touches.all
            if touch.use == "write" and touch.register is not None
        }
        inside = {
            item.register.name
            for _, item in accesses(statements)
            if item.kind == "write" and item.register is not None
        }
        return frozenset(inside | {name for name in written if name.startswith("CCR")})

    def _residual(self, statements: list[Statement]) -> bool:
        """Whether the handler does more with the device than the mid-section takes over."""
        for _, item in accesses(statements):
            if item.kind == "write" and not is_acknowledgement(item):
                return True
            if item.kind == "call" and (item.indirect or self._writes(item.name) != frozenset()):
                return True
        return False

    def _writes(self, name: str) -> frozenset[str] | None:
        """Registers that a function may write; None: any, or there is no source of it."""
        if name in self.touches.touching:
            return self.touches.written_by(name)
        known = name in self.graph.defined or name in self.graph.edges
        if known or name.startswith(_HARMLESS):
            return frozenset()
        return None

    def _named(self, device: Device) -> Callable[[str], DeviceRegister | None]:
        evaluator = device.evaluator

        def named(name: str) -> DeviceRegister | None:
            pointer = evaluator.name(self.result.split.device.encode())
            if isinstance(pointer, Pointer) and pointer.address is not None:
                member = evaluator.types.members(pointer.type).get(name.encode())
                if member is not None:
                    return device.register(
                        Place(pointer.address + member.offset, member.type,
                              pointer.type.name, name.encode())
                    )  # fmt: skip
            return device.by_offset(name)

        return named

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
                    str(self.splitter.domain.path),
                )

    def _nothing(self, function: Function) -> Refusal:
        """Why there is nothing to capture."""
        line = function.text.file.line(function.tree.start(function.node))
        pointers = [t for t in self.touches.all if t.register is None]
        if pointers:
            return At(
                line,
                f"{function.name} doesn't name {self.result.split.device}: {pointers[0].place} "
                f"reaches registers by {pointers[0].text.strip()}, a pointer in the VM's memory; "
                "write a handler that names the device",
            )
        return At(
            line,
            f"{function.name} neither reads data of {self.result.split.device} nor acknowledges: "
            "there is nothing that a mid-section could do for it",
        )


def _only_call(function: Function) -> str:
    """The function that a body calls and does nothing else; "" if it does more."""
    statements = [
        child
        for child in (function.body.named_children if function.body is not None else [])
        if child.type != "comment"
    ]
    if len(statements) != 1 or statements[0].type != "expression_statement":
        return ""
    call = next(iter(statements[0].named_children), None)
    return _called(call) if call is not None and call.type == "call_expression" else ""


def _called(call: Node) -> str:
    function = call.child_by_field_name("function")
    if function is None or function.type != "identifier":
        return ""
    return text_of(function).decode("latin-1")


def _directives(function: Function) -> bytes:
    """The head of a function as it stands in the file."""
    body = function.body
    start = function.tree.start(function.node)
    end = function.tree.start(body) if body is not None else start
    return function.text.file.data[start:end]
