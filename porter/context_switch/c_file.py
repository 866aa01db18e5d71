"""All naked functions of one C file: transcribed, checked, and put in place as edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from porter.context_switch.accept import check
from porter.context_switch.armcc import with_conditions
from porter.context_switch.arms import Arms, Transcribed, with_pick_of_all
from porter.context_switch.assemble import (
    Assembly,
    CompileError,
    assemble,
    constant,
    preprocess,
)
from porter.context_switch.attribute_macros import NONE, attribute_macros
from porter.context_switch.c_function import GUEST_HEADER, Writer
from porter.context_switch.called_handlers import refuse_called
from porter.context_switch.caller_on_psp import IN_C
from porter.context_switch.callers_state import refuse_callers_state
from porter.context_switch.codes import code_of
from porter.context_switch.file_text import FileText, Part, write_parts
from porter.context_switch.handler import raises_svc, transcribe
from porter.context_switch.lift_state import NOTHING
from porter.context_switch.lost_numbers import NumberMatters
from porter.context_switch.macro_spans import MacroSpans, told_of_headers
from porter.context_switch.names import Names
from porter.context_switch.native_handlers import native_problem
from porter.context_switch.object_file import Function
from porter.context_switch.project_data import ProjectData
from porter.context_switch.project_texts import ProjectTexts
from porter.context_switch.proof import Proof
from porter.context_switch.proved import Claim, Prover
from porter.context_switch.reserved import refuse_reserved, refuse_thread_pointer
from porter.context_switch.result import (
    ESCALATED,
    ON_MAIN_STACK,
    REWRITTEN,
    ROLE_CALL,
    ROLE_OTHER,
    ROLE_QUERY,
    ROLE_STACK,
    ROLE_START,
    ROLE_SVC,
    ROLE_SWITCH,
    NotTranscribable,
    SwitchPort,
    with_proofs,
)
from porter.context_switch.resumers import is_handler, switches_main_stack
from porter.context_switch.settled import Attempt, settled
from porter.context_switch.source_text import Definition, SourceText
from porter.context_switch.spans import Spans
from porter.context_switch.supervisor import (
    NoCall,
    refuse_no_call,
    serves_calls,
    unknown_svc,
)
from porter.context_switch.unreached import refuse_unreached
from porter.context_switch.variants import Span
from porter.failures import step
from porter.project.compile_options import CompileOptions
from porter.project.vectors import Vectors


@dataclass(frozen=True)
class _Found(Transcribed):
    definition: Definition


class CFile:
    """Ports one file. `texts`: its headers may hold a prototype of what it defines, all may
    declare what it calls; `vectors` are known handlers of exceptions."""

    def __init__(
        self,
        source: Path,
        texts: ProjectTexts,
        options: CompileOptions,
        vectors: Vectors,
        project: ProjectData,
    ) -> None:
        self._vectors = vectors
        self._project = project
        self._source = source
        self._texts = texts
        # Arms of an #if are compiled from a copy elsewhere: "x.h" must still be found.
        self._options = replace(options, include_dirs=(source.parent, *options.include_dirs))
        self._text = SourceText(source.read_bytes())
        self._attributes = NONE
        self._data = with_conditions(self._text.data)
        self._spans = Spans(self._text.data, self._data)
        self._macros = MacroSpans(self._data)
        defines = partial(texts.headers_define, source=source)
        self._arms = Arms(source, self._data, self._options, defines)
        self._found: list[_Found] = []
        self._ports: list[SwitchPort] = []

    def port(self) -> list[SwitchPort]:
        """Edits and escalations. Raises CompileError where the file as it is doesn't compile."""
        assembly = assemble(self._source, self._options)
        if not assembly.naked:
            return []
        self._attributes = attribute_macros(self._source, self._options)
        self._text = SourceText(self._text.data, self._attributes)
        unit = preprocess(self._source, self._options)
        names = Names(unit, self._texts.declarations(self._source), self._probe, self._project)
        for function in assembly.object.functions:
            if function.name in assembly.naked:
                with step(
                    f"transcribing {function.name}",
                    line=partial(next, iter(assembly.naked[function.name]), None),
                    passes=(CompileError, NotTranscribable),
                ):
                    self._function(assembly, function, names)
        attempt = Attempt(
            partial(self._together, names=names),
            partial(self._alone, names=names),
            self._give_up,
            partial(self._orphans, names=names),
        )
        with step("proving what was transcribed", None, self._first_line, passes=(CompileError,)):
            self._ports += settled(self._found, attempt)
        return sorted(self._ports, key=lambda port: (str(port.file), port.start, port.end))

    def _first_line(self) -> int | None:
        starts = [it.definition.start for it in self._found]
        return self._text.data.count(b"\n", 0, min(starts)) + 1 if starts else None

    def _probe(self, expression: str) -> int | None:
        return constant(self._source, self._options, expression)

    def _function(self, assembly: Assembly, function: Function, names: Names) -> None:
        definition = self._definition(assembly.naked[function.name])
        role: str | None = ROLE_OTHER
        try:
            code = code_of(assembly, function)
            role = code.role(is_handler(function.names, self._vectors))
            if switches_main_stack(code, function.name, self._vectors):
                role = ROLE_SWITCH
                raise NotTranscribable(ON_MAIN_STACK)
            if reason := code.never_a_guests():
                raise NotTranscribable(reason)
            if not code.needs_port():
                reason = native_problem(assembly, function, self._vectors, self._project.resumers)
                if reason:
                    role = ROLE_SWITCH  # or nobody hears of it: there is no site in it
                    raise NotTranscribable(reason)
            if role is None:
                return
            if definition is None:
                raise NotTranscribable(
                    "no function definition found around its asm statement"
                    if assembly.naked[function.name]
                    else "stands in a header; only what a C file has is edited: move it to one"
                )
            if role == ROLE_STACK:
                raise NotTranscribable(IN_C)
            refuse_no_call(role, function.names, self._vectors)
            refuse_called(role, function.names, self._vectors, self._project.units)
            refuse_reserved(role, names, self._options)
            refuse_unreached(assembly, function, function.end)
            handler = transcribe(assembly, function, role, names)
            refuse_callers_state(handler, self._vectors, self._project)
            refuse_thread_pointer(handler, self._project, assembly.object.machine)
            arms = self._arms.of(handler, self._spans_of(definition), names)
            handler = with_pick_of_all(handler, arms, names)
            self._found.append(_Found(handler, arms, definition))
        except (NumberMatters, NoCall) as reason:
            self._escalate(function.name, ROLE_QUERY, definition, str(reason))
        except NotTranscribable as reason:
            # Of ROLE_OTHER that is what a person hears where the rules on masks don't know it too.
            self._escalate(function.name, role or ROLE_OTHER, definition, str(reason))

    def _spans_of(self, definition: Definition) -> tuple[Span, ...]:
        """What of the text says what a function does."""
        own = self._spans.same(definition.start, definition.end)
        return (own, *self._macros.used_by([own]))

    def _told(self, definition: Definition) -> str:
        data = self._text.data
        return told_of_headers(self._texts.headers, data, data[definition.start : definition.end])

    def _orphans(self, found: Sequence[_Found], names: Names) -> list[tuple[_Found, str]]:
        """What an SVC raises must be a transcribed handler: one that isn't may do anything with the
        registers of its caller."""
        is_served = any(
            serves_calls(it.handler.role, (it.definition.name, it.handler.symbol), self._vectors)
            for it in found
        )
        roles = (ROLE_SVC, ROLE_CALL, ROLE_OTHER)
        unknown = [port.name for port in self._ports if port.role in roles]
        # What takes or returns something is no exception handler.
        if is_served and all(names.function(name) not in (None, NOTHING) for name in unknown):
            return []
        reason = unknown_svc(self._ports, self._vectors)
        return [(it, reason) for it in found if raises_svc(it.handler)]

    def _definition(self, lines: tuple[int, ...]) -> Definition | None:
        for line in lines[:1]:
            start = self._text.offset(line)
            opens = self._text.code.find(b"{", start, self._text.data.find(b"\n", start))
            return self._text.definition_at(start) or self._text.definition_at(opens)
        return None

    def _escalate(self, name: str, role: str, definition: Definition | None, reason: str) -> None:
        start, end = (definition.start, definition.end) if definition else (0, 0)
        self._ports.append(
            SwitchPort(
                self._source,
                start,
                end,
                self._text.data[start:end],
                role,
                definition.name if definition else name,
                ESCALATED,
                reason,
            )
        )

    def _together(self, found: Sequence[_Found], names: Names) -> list[SwitchPort]:
        edits = self._edits(found, names)
        return with_proofs(edits, self._source, self._accept(found, edits))

    def _alone(self, found: _Found, names: Names) -> None:
        self._compile([found], self._edits([found], names))

    def _give_up(self, found: _Found, reason: str) -> None:
        role = ROLE_START if raises_svc(found.handler) else found.handler.role
        self._escalate(found.definition.name, role, found.definition, reason)

    def _edits(self, found: Sequence[_Found], names: Names) -> list[SwitchPort]:
        parts = [
            Part(
                it.handler,
                it.arms,
                it.definition.start,
                it.definition.name,
                tuple(self._signature(it.definition)),
            )
            for it in found
        ]
        writer = Writer(names, self._text.spaced())
        text = write_parts(parts, writer, names, self._vectors)
        edits = [self._edit(it, text) for it in found]
        return [*edits, *self._include(found), *self._prototypes(found)]

    def _signature(self, definition: Definition) -> list[str]:
        head = self._text.without_naked(definition.start, definition.body)
        return [line.decode("latin-1") for line in head.strip().splitlines()]

    def _edit(self, found: _Found, written: FileText) -> SwitchPort:
        indent = self._indent(found.definition.start)
        text = self._text.eol.join(
            ((indent if index and line else "") + line).encode("latin-1")
            for index, line in enumerate(written.blocks[found.definition.start])
        )
        return SwitchPort(
            self._source,
            found.definition.start,
            found.definition.end,
            text,
            found.handler.role,
            found.definition.name,
            REWRITTEN,
            written.reason(found.handler) + self._told(found.definition),
        )

    def _indent(self, offset: int) -> str:
        line = self._text.data.rfind(b"\n", 0, offset) + 1
        blank = self._text.data[line:offset]
        return blank.decode("latin-1") if not blank.strip() else ""

    def _include(self, found: Sequence[_Found]) -> list[SwitchPort]:
        if GUEST_HEADER.encode() in self._text.data:
            return []
        place = self._text.after_includes(min(it.definition.start for it in found))
        line = f"#include <{GUEST_HEADER}>".encode() + self._text.eol
        return [
            SwitchPort(
                self._source,
                place,
                place,
                line,
                ROLE_OTHER,
                GUEST_HEADER,
                REWRITTEN,
                "the guest API",
            )
        ]

    def _prototypes(self, found: Sequence[_Found]) -> list[SwitchPort]:
        """Prototypes that still say naked, here and in the headers."""
        edits = []
        for file in (self._source, *self._texts.headers):
            data, text = self._text.data, self._text
            if file != self._source:
                data = file.read_bytes()
                if not any(it.definition.name.encode() in data for it in found):
                    continue
                text = SourceText(data, self._attributes)
            for it in found:
                for start, end in text.naked_prototypes(it.definition.name):
                    edits.append(
                        SwitchPort(
                            file,
                            start,
                            end,
                            text.without_naked(start, end),
                            ROLE_OTHER,
                            it.definition.name,
                            REWRITTEN,
                            "no longer naked",
                        )
                    )
        return edits

    def _compile(self, found: Sequence[_Found], edits: list[SwitchPort]) -> dict[str, bytes]:
        """The edited files, by name."""
        edited: dict[str, bytes] = {}
        for file in {edit.file for edit in edits}:
            data = file.read_bytes()
            own = [edit for edit in edits if edit.file == file]
            # Last one first; what is inserted comes in front of what is replaced at its place.
            for edit in sorted(own, key=lambda e: (-e.start, -e.end)):
                data = data[: edit.start] + edit.replacement + data[edit.end :]
            edited[file.name] = data
        symbols = [it.handler.symbol for it in found]
        check(self._source, edited, symbols, self._options)
        return edited

    def _accept(self, found: Sequence[_Found], edits: list[SwitchPort]) -> dict[int, Proof]:
        """Proofs by the start of the function."""
        edited = self._compile(found, edits)
        texts = {edit.start: edit.replacement for edit in edits if edit.file == self._source}
        claims = [
            Claim(
                it.handler,
                it.arms,
                it.definition.start,
                self._spans_of(it.definition),
                texts[it.definition.start],
            )
            for it in found
        ]
        prover = Prover(
            self._source,
            self._data,
            self._source,
            edited,
            self._options,
            self._project.prototypes,
            self._arms.known,
        )
        proofs = prover.proofs(claims)
        return {claim.start: proofs[claim.handler.symbol] for claim in claims}
