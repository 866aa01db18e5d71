"""The handler in the VM: records in place of registers, once for each record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.flow.statements import is_pure
from porter.interrupt_split.capture import Field
from porter.interrupt_split.expression import ALL_BITS, Expr, peeled
from porter.interrupt_split.functions import Function
from porter.interrupt_split.handler_frame import Frame
from porter.interrupt_split.helper import thread_record
from porter.interrupt_split.pretty import tidied
from porter.interrupt_split.record import VmNames
from porter.interrupt_split.refusal import At
from porter.interrupt_split.statement import Statement, walk_all
from porter.interrupt_split.worker import Worker
from porter.judging.deletion import span_of, tidy
from porter.source.c_tree import Node, text_of, walk
from porter.source.declarations import is_declarator, outer_declaration, outer_declarator
from porter.source.edit import Edit, apply_edits

_WORD = re.compile(rb"[A-Za-z_]\w*")


@dataclass(frozen=True)
class Bottom:
    """What the handler's file gets. `bits`: what of a field comes from the record."""

    worker: Worker
    line: str  # the interrupt's name
    device: str
    statements: Sequence[Statement]
    fields: Sequence[Field]
    captured: dict[int, Field]
    bits: dict[str, int]
    acknowledgements: Sequence[Expr]
    once: Sequence[Statement]
    names: VmNames

    @property
    def function(self) -> Function:
        """Whose text is edited."""
        return self.worker.function

    def edits(self) -> list[Edit]:
        """Raises At where the text can't be edited."""
        replaced, helpers = self._accesses()
        deleted = self._deleted()
        deleted += self._unused([*replaced, *deleted])
        loops = list(self._loops())
        inner = [*replaced, *loops]
        file = self.function.text.file
        deletions = tidy(file, deleted, self.function.text.lexed.comments)
        inner = [
            edit
            for edit in inner
            if not any(gone.start <= edit.start and edit.end <= gone.end for gone in deletions)
        ]
        frame = Frame(self.worker, self.line, self.device, self.fields, self.names)
        unused = self._unused_parameters([*inner, *deletions])
        if not (inner or helpers):
            unused.insert(0, self.names.parameter)
        if not self.worker.is_shared:
            return sorted([*inner, *deletions, *helpers, *frame.edits(unused, helpers)])
        if helpers:
            raise At(
                self.worker.line(),
                f"{self.function.name} serves other lines too, and its helpers read or "
                "acknowledge: write their text into it",
            )
        return sorted(frame.copy(unused, [*inner, *deletions]))

    def _unused_parameters(self, edits: Sequence[Edit]) -> list[str]:
        """Those that only the text named which is gone."""
        tree, body = self.function.tree, self.function.body
        if body is None or not self.function.parameter_names:
            return []
        start, end = tree.start(body), tree.end(body)
        inside = [
            Edit(e.start - start, e.end - start, e.replacement)
            for e in edits
            if start <= e.start and e.end <= end
        ]
        text = apply_edits(self.function.text.file.data[start:end], sorted(inside))
        words = set(_WORD.findall(text))
        return [n.decode("latin-1") for n in self.function.parameter_names if n not in words]

    # --- accesses --------------------------------------------------------------------------

    def _accesses(self) -> tuple[list[Edit], list[Edit]]:
        """Replacements of captured reads, and what helpers need to be given the record."""
        replaced: dict[tuple[int, int], Edit] = {}
        helpers: list[Edit] = []
        for statement in walk_all(self.statements):
            callee = statement.callee
            if callee is not None and callee.threaded and self._uses_record(statement):
                helpers += thread_record(self.function, callee, self.names)
        hidden = set(self._inside_calls())
        for statement in walk_all(self.statements):
            for expression in statement.expressions:
                for item in expression.walk():
                    if id(item) in self.captured and id(item) not in hidden:
                        edit = self._replacement(item)
                        replaced[(edit.start, edit.end)] = edit
        return list(replaced.values()), helpers

    def _uses_record(self, statement: Statement) -> bool:
        return any(
            id(item) in self.captured
            for inner in statement.walk()
            for expression in inner.expressions
            for item in expression.walk()
        )

    def _is_taken_over(self, statement: Statement) -> bool:
        """A call that reads or acknowledges, which isn't given the record: it goes as a whole."""
        callee = statement.callee
        if callee is None or callee.threaded:
            return False
        wanted = {id(access) for access in self.acknowledgements} | set(self.captured)
        return any(
            id(item) in wanted
            for inner in walk_all(statement.body)
            for expression in inner.expressions
            for item in expression.walk()
        )

    def _inside_calls(self) -> Iterator[int]:
        """Accesses in the bodies of calls that are taken out as a whole."""
        for statement in walk_all(self.statements):
            if self._is_taken_over(statement):
                for inner in walk_all(statement.body):
                    for expression in inner.expressions:
                        yield from (id(item) for item in expression.walk())

    def _replacement(self, read: Expr) -> Edit:
        place = read
        while place.span is None:
            if place.parent is None:
                raise At(read.line, f"{read.text} stands in a macro that can't be rewritten: write "
                         "its text into the handler")  # fmt: skip
            place = place.parent
        text = self._text(place)
        if place is not read:
            text = tidied(text)
            if place.kind == "expansion" and not self._stands_alone(*place.span):
                text = f"({text})"
        return Edit(*place.span, text.encode("latin-1"))

    def _stands_alone(self, start: int, end: int) -> bool:
        """Whether an expression is all of an argument, an initialiser or a condition."""
        before = self.function.text.file.data[:start].rstrip()[-2:]
        after = self.function.text.file.data[end:].lstrip()[:1]
        assigned = before[-1:] == b"=" and before[:1] not in b"=!<>"
        return (assigned or before[-1:] in b"(,") and after in (b")", b",", b";")

    def _text(self, expr: Expr) -> str:
        found = self.captured.get(id(expr))
        if found is not None:
            return self._field_text(found, expr.text)
        return "".join(p if isinstance(p, str) else self._text(p) for p in expr.pieces)

    def _field_text(self, field: Field, register: str) -> str:
        bits = self.bits[field.name]
        captured = f"{self.names.parameter}->{field.name}"
        if bits == ALL_BITS:
            return captured
        return f"(({captured} & 0x{bits:X}U) | ({register} & ~0x{bits:X}U))"

    # --- what goes -------------------------------------------------------------------------

    def _deleted(self) -> list[Edit]:
        wanted = {id(access) for access in self.acknowledgements}
        gone: list[Edit] = []
        hidden = set(self._inside_calls())
        for statement in walk_all(self.statements):
            if self._is_taken_over(statement):
                self._check_removable(statement)
                gone.append(self._deletion(statement))
                wanted -= {i for i in wanted if i in hidden}
            elif statement.kind == "expression" and statement.expr is not None:
                access = peeled(statement.expr)
                if id(access) in wanted and id(access) not in hidden:
                    wanted.discard(id(access))
                    gone.append(self._deletion(statement))
        for access in self.acknowledgements:
            if id(access) in wanted:
                raise At(access.line, f"{access.text} is part of an expression: make it a "
                         "statement")  # fmt: skip
        return gone

    def _deletion(self, statement: Statement) -> Edit:
        node = statement.node
        if node is None:
            raise At(statement.line, "an acknowledgement in a macro that does more: write its text "
                     "into the handler")  # fmt: skip
        body = self.function.body
        context = self.function.contexts.at(self.function.tree, body or self.function.node)
        return span_of(context, node, self.function.evaluator)

    def _check_removable(self, statement: Statement) -> None:
        """A call goes as a whole if the mid-section does all that it does."""
        name = statement.callee.name if statement.callee is not None else "it"
        captured = {id(access) for access in self.acknowledgements}
        own = {local.variable for inner in walk_all(statement.body) for local in inner.locals}
        macro = statement.callee is not None and statement.callee.is_macro
        if macro and any(inner.kind == "return" for inner in walk_all(statement.body)):
            raise At(statement.line, f"{name} returns: write its body into the handler")
        given = [argument for argument in statement.expressions if _does_something(argument)]
        if given:
            raise At(statement.line, f"{name} is given {given[0].text}: read it before")
        for inner in walk_all(statement.body):
            for expression in inner.expressions:
                for item in expression.walk():
                    outside = item.kind == "set" and item.variable not in own
                    memory = item.kind in ("memory", "hardware") and item.value is not None
                    write = item.kind == "write" and id(item) not in captured
                    if outside or memory or write or item.kind in ("call", "asm"):
                        raise At(
                            statement.line,
                            f"{name} reads or acknowledges and does more ({item.text.strip()}): "
                            "write its body into the handler",
                        )

    def _unused(self, edits: Sequence[Edit]) -> Iterator[Edit]:
        """Declarations of locals that only the text used which is gone."""
        function = self.function
        body = function.body
        names: dict[bytes, list[Node]] = {}
        for node in walk(body) if body is not None else ():
            if node.type == "identifier":
                names.setdefault(text_of(node), []).append(node)
        for nodes in names.values():
            declared = [node for node in nodes if is_declarator(node)]
            uses = [function.tree.start(node) for node in nodes if not is_declarator(node)]
            if len(declared) != 1 or not uses:
                continue
            declaration = outer_declaration(declared[0])
            if declaration.type != "declaration" or (
                len(declaration.children_by_field_name("declarator")) != 1
            ):
                continue
            value = outer_declarator(declared[0]).child_by_field_name("value")
            pure = value is None or is_pure(value, function.evaluator)
            name = text_of(declared[0])
            gone = all(
                any(e.start <= use < e.end and name not in e.replacement for e in edits)
                for use in uses
            )
            if pure and gone:
                context = function.contexts.at(function.tree, declaration)
                yield span_of(context, declaration, function.evaluator)

    # --- loops -----------------------------------------------------------------------------

    def _loops(self) -> Iterator[Edit]:
        """A loop that emptied the device serves one record."""
        tree = self.function.tree
        for loop in self.once:
            node = loop.node
            if node is None:
                raise At(loop.line, "a loop in a macro: write its text into the handler")
            condition = node.child_by_field_name("condition")
            if condition is None:
                continue
            start, end = tree.start(condition), tree.end(condition)
            if loop.kind == "do":
                yield Edit(start, end, b"(0)")
            elif _jumps(loop):
                # break and continue keep their meaning in a loop of one round.
                name = self.names.once.encode()
                yield Edit(tree.start(node), start + 1, b"for (int %s = 1; %s && (" % (name, name))
                yield Edit(end - 1, end, b"); %s = 0)" % name)
            else:
                yield Edit(tree.start(node), start, b"if ")


def _does_something(argument: Expr) -> bool:
    return any(item.kind in ("read", "write", "set", "call", "asm") for item in argument.walk())


def _jumps(loop: Statement) -> bool:
    return any(inner.kind in ("break", "continue") for inner in loop.walk())
