"""Functions of one assembler file that a guest can't run: taken out, and written in C beside it.

C can't stand in an assembler file, so `switch.S` gets a companion, `switch_fvm.c`, that the build
of the machine compiles with it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path

from porter.context_switch.accept import check
from porter.context_switch.arms import Arms, with_pick_of_all
from porter.context_switch.asm_companion import (
    Companion,
    CompanionWriter,
    Moved,
    moved,
    refuse_losses,
)
from porter.context_switch.asm_source import AsmSource
from porter.context_switch.assemble import (
    Assembly,
    CompileError,
    assemble,
    expanded_lines,
    flags,
    machine_of,
    macros,
    preprocess,
    run,
)
from porter.context_switch.called_handlers import refuse_called
from porter.context_switch.caller_on_psp import REASON as ON_ONE_STACK
from porter.context_switch.caller_on_psp import on_one_stack, refuse_another, refuse_handlers
from porter.context_switch.callers_state import refuse_callers_state
from porter.context_switch.code import Code
from porter.context_switch.codes import code_of
from porter.context_switch.companion_head import asks_the_same, companion_head
from porter.context_switch.default_handlers import NOBODYS
from porter.context_switch.handler import Handler, raises_svc, transcribe
from porter.context_switch.macro_spans import MacroSpans, told_of_headers
from porter.context_switch.names import Names, names_of_void, with_plain_void
from porter.context_switch.native_handlers import native_problem
from porter.context_switch.numbered_labels import NumberedLabels
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.own_conditions import in_c
from porter.context_switch.parts import Part
from porter.context_switch.project_data import ProjectData
from porter.context_switch.project_texts import ProjectTexts
from porter.context_switch.proof import Proof
from porter.context_switch.proved import Claim, Prover
from porter.context_switch.reserved import refuse_reserved, refuse_thread_pointer
from porter.context_switch.result import (
    ESCALATED,
    ON_MAIN_STACK,
    REWRITTEN,
    ROLE_OTHER,
    ROLE_PART,
    ROLE_STACK,
    ROLE_SWITCH,
    NotTranscribable,
    SwitchPort,
    companion_of,
    with_proofs,
)
from porter.context_switch.resumers import is_handler, switches_main_stack
from porter.context_switch.settled import Attempt, settled
from porter.context_switch.spans import Spans
from porter.context_switch.structure import symbols
from porter.context_switch.supervisor import (
    refuse_no_call,
    serves_calls,
    unknown_svc,
)
from porter.context_switch.unreached import refuse_unreached
from porter.context_switch.variants import Span
from porter.failures import step
from porter.project.compile_options import CompileOptions
from porter.project.vectors import FAULT_HANDLERS, Vectors


class AsmFile:
    """Ports one file. `texts` are the project's C files and headers: prototypes stand there;
    `vectors` are known handlers of exceptions."""

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
        # Arms of an #if are assembled from a copy elsewhere: "x.h" must still be found.
        # `_options` are for C beside the file, which all of the project's go with.
        self._options = options.each(lambda it: it.beside(source.parent))
        self._own = self._options.of(source)
        self._text = AsmSource(source.read_bytes(), expanded_lines(source, self._own))
        self._data = in_c(self._text.data)  # the same lines
        self._spans = Spans(self._text.data, self._data)
        self._macros = MacroSpans(self._data)
        self._arms = Arms(source, self._data, self._own, lambda name: texts.defines(name, source))
        self._numbered = NumberedLabels(self._text.data, self._text.dialect, self._for_gnu)
        self._writer = CompanionWriter(source, self._text, self._options, vectors, project)
        self._found: list[Moved] = []
        self._ports: list[SwitchPort] = []
        self._faults: list[tuple[Function, tuple[int, int]]] = []
        self._taken_out: set[str] = set()
        self._parts: list[Part] = []

    def port(self) -> list[SwitchPort]:
        """Edits, the companion and escalations. CompileError where the file can't be assembled."""
        assembly = assemble(self._source, self._own)
        declared = self._declarations(assembly)
        names = Names("", declared, lambda expression: None, self._project)
        ranges = self._ranges(assembly)
        self._parts = self._project.parts.of(assembly, self._vectors)
        for function in assembly.object.functions:
            place = ranges.get(function.name)
            with step(
                f"transcribing {function.name}",
                line=partial(self._line, place),
                passes=(CompileError, NotTranscribable),
            ):
                self._function(assembly, function, names, place)
        self._take_out_faults()
        attempt = Attempt(
            partial(self._together, assembly=assembly, names=names),
            partial(self._alone, assembly=assembly, names=names),
            self._give_up,
            self._orphans,
        )
        with step("proving what was transcribed", None, self._first_line, passes=(CompileError,)):
            self._ports += settled(self._found, attempt)
        return sorted(self._ports, key=lambda port: (str(port.file), port.start, port.end))

    def _line(self, place: tuple[int, int] | None) -> int | None:
        """Where a function begins."""
        return self._text.data.count(b"\n", 0, place[0]) + 1 if place is not None else None

    def _first_line(self) -> int | None:
        return min((self._line((it.start, it.end)) or 0 for it in self._found), default=None)

    def _declarations(self, assembly: Assembly) -> str:
        """C text that may declare what the file defines or calls; headers as the build sees them,
        so that an #if chooses between prototypes."""
        wanted = [name.encode() for name in assembly.object.globals]
        seen = []
        nearest = self._texts.nearest(self._source)
        for file in sorted(nearest, key=lambda file: file.suffix != ".h"):
            data = file.read_bytes()
            if any(name in data for name in wanted):
                with suppress(CompileError):
                    seen.append(preprocess(file, self._options))
        unit = "\n".join(seen)
        voids = self._texts.voids | names_of_void(unit)  # each header was seen alone
        voids |= names_of_void(self._text.data.decode("latin-1"))
        return with_plain_void(unit, voids) + "\n" + self._texts.declarations(self._source)

    @cached_property
    def _in_c(self) -> bool:
        """Whether C can ask what the file asks: it can include what the file includes, which
        headers with assembler macros can't be, and conditions ask for the same there."""
        with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
            probe, own = Path(folder, "probe.c"), Path(folder, "probe.S")
            ways = {probe: self._options, own: self._own}
            for file in ways:
                file.write_text("\n".join(companion_head(self._text.data)) + "\n")
            try:
                command = [self._options.compiler, *flags(probe, self._options)]
                run([*command, "-fsyntax-only", str(probe)])
                tables = [macros(file, options) for file, options in ways.items()]
            except CompileError:
                return False
        return asks_the_same(self._text.data, *tables)

    def _ranges(self, assembly: Assembly) -> dict[str, tuple[int, int]]:
        first = {}
        for function in assembly.object.functions:
            if line := assembly.object.line(function.section, function.start):
                first[function.name] = line
        return self._text.ranges(first)

    def _function(
        self,
        assembly: Assembly,
        function: Function,
        names: Names,
        place: tuple[int, int] | None,
    ) -> None:
        role = ROLE_OTHER
        try:
            code = code_of(assembly, function)
            if switches_main_stack(code, function.name, self._vectors):
                role = ROLE_SWITCH
                raise NotTranscribable(ON_MAIN_STACK)
            is_part = any(function.names == part.names for part in self._parts)
            if not is_part and not code.needs_port():
                reason = native_problem(assembly, function, self._vectors, self._project.resumers)
                if reason:
                    raise NotTranscribable(reason)
                return
            if place is None:
                raise NotTranscribable("no label of it found in this file")
            is_fault = function.name in FAULT_HANDLERS
            if is_fault or self._project.is_default_handler(function.names):
                refuse_unreached(assembly, function, function.end)
                self._faults.append((function, place))
                return
            role = code.role(is_handler(function.names, self._vectors)) or ROLE_OTHER
            role = ROLE_PART if is_part else role
            if role == ROLE_STACK:
                self._put_on_one_stack(assembly, function, place)
                return
            if reason := code.never_a_guests():
                raise NotTranscribable(reason)
            refuse_no_call(role, function.names, self._vectors)
            refuse_called(role, function.names, self._vectors, self._project.units)
            refuse_reserved(role, names, self._own)
            handler = transcribe(assembly, function, role, names)
            refuse_callers_state(handler, self._vectors, self._project)
            refuse_thread_pointer(handler, self._project, assembly.object.machine)
            spans = self._spans_of(assembly, function, code, place)
            arms = self._arms.of(handler, spans, names) if self._in_c else ()
            handler = with_pick_of_all(handler, arms, names)
            start, end = place
            tail = self._tail(assembly, function, code, handler)
            end, last = (end, function.end) if tail is None else tail
            refuse_unreached(assembly, function, last)
            section = assembly.object.sections[function.section]
            told = told_of_headers(
                self._texts.nearest(self._source), self._text.data, self._data[slice(*spans[0])]
            )
            weak = frozenset(filter(assembly.object.is_weak, function.names))
            found = Moved(handler, arms, function, start, end, spans, section, weak, told)
            self._refuse_shared(found.private())
            self._refuse_missing(found.may_miss())
            self._found.append(found)
        except NotTranscribable as error:
            self._escalate(function.name, role, place, str(error))

    def _spans_of(
        self,
        assembly: Assembly,
        function: Function,
        code: Code,
        place: tuple[int, int],
    ) -> tuple[Span, ...]:
        """What of the text says what the function does."""
        found = [self._spans.same(*place)]
        for other in assembly.object.functions:
            if other.section == function.section and other.start != function.start:
                addresses = code.reached(other.start, other.end)
                lines = (assembly.object.line(other.section, address) for address in addresses)
                if numbers := [line for line in lines if line is not None]:
                    found.append(self._spans.around(numbers))
        return (*found, *self._macros.used_by(found))

    def _tail(
        self,
        assembly: Assembly,
        function: Function,
        code: Code,
        handler: Handler,
    ) -> tuple[int, int] | None:
        """Where the text begins that stays, and its code, at a label of the function whose address
        it keeps, to go on there. NotTranscribable where that isn't plain code behind all that is
        transcribed."""
        nodes = handler.everything
        found = None
        for name in sorted(symbols(nodes)):
            address = assembly.object.label(function.section, name)
            if address is None or not function.start < address < function.end:
                continue
            line = assembly.object.line(function.section, address)
            behind = replace(function, name=name, start=address)
            plain = (
                not code.reached(address, function.end)
                and not code_of(assembly, behind).needs_port()
            )
            if found is not None or line is None or not plain or self._text.dialect != "gnu":
                raise NotTranscribable(f"keeps the address of {name}, a place inside it")
            found = self._text.start_of(line, name), address
        return found

    def _refuse_shared(self, names: set[str]) -> None:
        """The C means what a name stands for in the whole project, and so it becomes global."""
        for name in sorted(names):
            if other := self._project.also_in(name, self._source):
                raise NotTranscribable(
                    f"uses {name}, which this file keeps for itself, and {other} has the name too: "
                    "the C beside the file would mean that one. Give it another name here, or, if "
                    "they are the same, export it"
                )

    def _refuse_missing(self, names: set[str]) -> None:
        """C that calls a weak name needs it, where the original needs nothing."""
        for name in sorted(names):
            units = self._project.initial.mentioning(name)
            if not any(name in unit.exported for unit in units):
                raise NotTranscribable(
                    f"uses {name}, which is weak here and defined nowhere: C beside the file would "
                    "need it. Define it in C, as a weak function that does nothing"
                )

    def _orphans(self, found: Sequence[Moved]) -> list[tuple[Moved, str]]:
        """A part and what comes to it are ported together or not at all."""
        here = {name for it in found for name in it.function.names}
        for part in self._parts:
            if lost := sorted(part.all - here):
                reason = (
                    f"{lost[0]}() stays assembler, and the two save and fetch one task's S16-S31"
                )
                if left := [it for it in found if it.function.name in part.all]:
                    return [(it, reason) for it in left]
        return self._unserved(found)

    def _unserved(self, found: Sequence[Moved]) -> list[tuple[Moved, str]]:
        """As in C files: what an SVC raises must be a transcribed handler, here or elsewhere."""
        if not machine_of(self._options).numbered_calls:
            return []  # an ecall says nothing to who serves it, or isn't transcribed
        if any(serves_calls(it.handler.role, it.function.names, self._vectors) for it in found):
            return []
        reason = unknown_svc(self._ports, self._vectors)
        return [(it, reason) for it in found if raises_svc(it.handler)]

    def _escalate(self, name: str, role: str, place: tuple[int, int] | None, reason: str) -> None:
        start, end = place or (0, 0)
        text = self._text.data[start:end]
        self._ports.append(
            SwitchPort(self._source, start, end, text, role, name, ESCALATED, reason)
        )

    def _put_on_one_stack(
        self, assembly: Assembly, function: Function, place: tuple[int, int]
    ) -> None:
        """A function that puts its caller on PSP stays, for that stack."""
        start, end = place
        project, lines = self._project, assembly.text
        refuse_handlers(function.names, self._vectors, project.units, project.services)
        first = self._text.data.count(b"\n", 0, start) + 1
        new = on_one_stack(assembly.object, function, lines, self._text.data[start:end], first)
        made = self._with_text(self._text.data[:start] + new + self._text.data[end:])
        (other,) = [it for it in made.functions if it.names == function.names]
        refuse_another((assembly.object, function), (made, other), lines)
        self._ports.append(
            SwitchPort(
                self._source, start, end, new, ROLE_STACK, function.name, REWRITTEN, ON_ONE_STACK
            )
        )

    def _take_out_faults(self) -> None:
        """Handlers of faults, but those that something which stays goes into."""
        left: list[tuple[Function, tuple[int, int]]] = []
        while len(left) != len(self._faults):
            left, self._faults = self._faults, []
            gone = {name for function, _ in left for name in function.names}
            for function, place in left:
                try:
                    self._numbered.refuse_users(place, gone)
                    self._faults.append((function, place))
                except NotTranscribable as error:
                    self._escalate(function.name, ROLE_OTHER, place, str(error))
        for function, place in self._faults:
            is_fault = function.name in FAULT_HANDLERS
            self._take_out(
                function, *place, "the kernel takes every fault" if is_fault else NOBODYS
            )

    def _take_out(self, function: Function, start: int, end: int, reason: str) -> None:
        self._taken_out |= set(function.names)
        line = self._text.comment(f"{function.name}: {reason}.")
        self._ports.append(
            SwitchPort(self._source, start, end, line, ROLE_OTHER, function.name, REWRITTEN, reason)
        )

    def _together(
        self, found: Sequence[Moved], assembly: Assembly, names: Names
    ) -> list[SwitchPort]:
        written = self._writer.write(found, names)
        new = self._compile(found, written.edits, assembly)
        return with_proofs(written.edits, self._source, self._proofs(found, written, new))

    def _alone(self, found: Moved, assembly: Assembly, names: Names) -> None:
        self._compile([found], self._writer.write([found], names).edits, assembly)

    def _give_up(self, found: Moved, reason: str) -> None:
        place = found.start, found.end
        self._escalate(found.function.name, found.handler.role, place, reason)

    def _compile(
        self, found: Sequence[Moved], edits: Sequence[SwitchPort], assembly: Assembly
    ) -> SwitchPort:
        """The companion, if it compiles and what is left of the file misses nothing."""
        companion = companion_of(self._source)
        (new,) = [edit for edit in edits if edit.file == companion]
        symbols = [it.handler.symbol for it in found]
        check(companion, {companion.name: new.replacement}, symbols, self._options)
        data = self._text.data
        for edit in sorted((*edits, *self._ports), key=lambda edit: -edit.start):
            if edit.file == self._source and edit.status == REWRITTEN:
                data = data[: edit.start] + edit.replacement + data[edit.end :]
        try:
            rest = self._with_text(data)
        except CompileError as error:
            raise NotTranscribable(f"the rest of the file needs it: {error}") from error
        gone = moved(found)
        private = {name for it in found for name in it.private()}
        needed = private | assembly.object.exported - self._taken_out
        refuse_losses(assembly.object, rest, found, gone, needed)
        for it in found:
            self._numbered.refuse_users((it.start, it.end), gone | self._taken_out)
        return new

    def _with_text(self, data: bytes, name: str = "") -> ObjectFile:
        """What the file is assembled to with another text, under another name."""
        with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
            copy = Path(folder, name or self._source.name)
            copy.write_bytes(data)
            return assemble(copy, self._own).object

    def _for_gnu(self, data: bytes) -> ObjectFile:
        """The same of a text of GNU's. What was another's is always preprocessed."""
        is_own = self._text.dialect == "gnu"
        return self._with_text(data, "" if is_own else f"{self._source.stem}.S")

    def _proofs(
        self, found: Sequence[Moved], written: Companion, new: SwitchPort
    ) -> dict[int, Proof]:
        """By the start of the function."""
        claims = []
        for it in found:
            lines = (line.encode("latin-1") for line in written.blocks[it.start])
            block = self._text.eol.join(lines)
            claims.append(Claim(it.handler, it.arms, it.start, it.spans, block, self._in_c))
        edited = {new.file.name: new.replacement}
        prover = Prover(
            self._source,
            self._data,
            new.file,
            edited,
            self._options,
            self._project.prototypes,
            self._arms.known,
        )
        proofs = prover.proofs(claims)
        return {claim.start: proofs[claim.handler.symbol] for claim in claims}
