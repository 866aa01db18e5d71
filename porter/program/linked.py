"""What of a program is linked and runs, and how its functions are reached."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from porter.libraries.data import Libraries
from porter.program.c_text import CText
from porter.program.compiled_names import CompiledNames
from porter.program.included_parts import parts_of
from porter.program.knowledge import Knowledge
from porter.program.reachability import CallGraph
from porter.program.run_time import RunTime
from porter.program.unknown_calls import UnknownCalls
from porter.project.domain import Vector
from porter.project.outside import Outside
from porter.project.vectors import CMSIS_HANDLER, FAULT_HANDLERS, FAULTS, RESET, VectorTable
from porter.source.c_lexer import Token
from porter.source.edit import Edit
from porter.source.source_file import SourceFile


@dataclass(eq=False)
class Linked:
    """Answers for the `live` files of a project, those that take part in the ported build, of all
    `sources`. `rewritten`: functions of a file that are written again; `described`: the vectors of
    its description; `entry`: what start-up code calls in the end; `assembled`: names that a file
    in assembler defines, `wanted`: those that a file takes from others by the assembler's macros;
    `lost`: where functions stood that serve what a machine hasn't."""

    knowledge: Knowledge
    sources: Sequence[SourceFile]
    live: Sequence[SourceFile]
    rewritten: Callable[[SourceFile], Iterable[Edit]]
    tables: Sequence[VectorTable]
    described: Sequence[Vector]
    entry: str
    outside: Outside
    assembled: Callable[[SourceFile], Collection[str]]
    wanted: Callable[[SourceFile], Collection[str]]
    lost: Callable[[SourceFile], Iterable[range]]

    @property
    def is_whole(self) -> bool:
        """Whether nobody else has a part in the program: it has what start-up code calls."""
        return self.entry in self._graph.defined

    def is_asked_for(self, function: str) -> bool:
        """Whether something else than a call by its name may come to a function: an initialiser,
        an attribute, an entry of a vector table, a name that a macro puts together, another name
        of the same body."""
        graph = self._graph
        if function in graph.same or function in graph.outside | graph.pasted | self._handlers:
            return True
        return any(function == handler for _, handler in self._entries)

    def is_named_beside(self, name: str) -> bool:
        """Whether a file that is built beside the project, and that nobody looks into, has it."""
        return name in self.outside.named_beside

    def why_not(self, function: str) -> str | None:
        """Why a function is no part of the ported machine; None if it is."""
        if self._reached is None:
            return None
        program, with_faults = self._reached
        if function in program:
            return None
        if function in with_faults:
            return "only fault handlers get here, and the kernel takes every fault"
        return "nothing uses it: the linker drops it"

    def why_again(self, name: str, path: Path, start: int) -> str | None:
        """Who may run a place in a function or macro again once the machine is up."""
        if self._run_time is None:
            return None
        why = self._run_time.why(name, path, start)
        if why is None and name and self.why_not(name.rpartition("::")[2]) is not None:
            why = f"nothing in the tree leads to {name}"
        return why

    def handler_of(self, name: str) -> str | None:
        """The interrupt handler that a function is or that leads to it, if there is one."""
        return self._run_time.handler_of(name) if self._run_time is not None else None

    @cached_property
    def unknown_calls(self) -> UnknownCalls:
        """Calls of functions that nothing here defines."""
        built = [source for source in self.sources if self.knowledge.is_built(source.path)]
        return UnknownCalls(
            [self.knowledge.text(source) for source in self.live if not source.is_asm],
            [source for source in built if source.is_asm],
            self._provided,
            self.outside.archived,
            self.knowledge.is_arm_compiled,
            lambda file, at: not self.knowledge.arm_left_out(file, at),
            [(it, self.knowledge.lexed(it)) for it in built if not it.is_asm],
            self.assembled,
        )

    def _provided(self) -> frozenset[str]:
        """Names that the compiler's libraries and headers define."""
        includes = self.knowledge.includes
        return self.outside.provided(includes.toolchain(includes.by_file))

    @cached_property
    def _graph(self) -> CallGraph:
        """What mentions what."""
        graph = CallGraph()
        named = self.knowledge.build.options.include_dirs
        folders = [*named, *dict.fromkeys(it.path.parent for it in self.live)]
        for source in self.live:
            if source.is_asm:
                graph.add_asm(source, self.lost(source), self.wanted(source))
            else:
                text = self.knowledge.text(source)
                for reading in (text, *self.knowledge.again(source)):
                    graph.add_c(reading, self.rewritten(source), self._compiled_in(reading))
                graph.roots |= set(self.wanted(source))
                for part in parts_of(source, folders):
                    graph.add_part(part, text.evaluator.macros)
        for name, meaning in self.outside.renamed:
            graph.edges.setdefault(name, set()).add(meaning)
        for name in self.outside.inputs.placed.keys() & graph.defined:
            graph.edges.setdefault(name, set()).update(graph.defined)  # whatever lies there
        if self.entry in graph.defined:
            graph.roots |= self.outside.used()
        graph.add_compiled(self._compiled_names(), self.outside.called)
        if self.outside.keeps_all:
            graph.roots |= graph.external
        return graph

    def _compiled_names(self) -> CompiledNames:
        """Who refers to whom where the compiler's preprocessor could be asked."""
        names = CompiledNames()
        for source in self.live:
            for unit in self.knowledge.units_of(source.path):
                names.add(unit.tree.text)
        for section, members in names.sections.items():
            if self.outside.keeps_section(section):
                names.roots |= members
        names.roots |= {it for it in (*names.edges, *names.tables) if self.outside.keeps(it)}
        return names

    def _compiled_in(self, text: CText) -> Callable[[Token], bool]:
        """Whether a token of a file is in an arm of #if that is compiled; each arm is asked for
        once."""
        known: dict[int, bool] = {}

        def compiled(token: Token) -> bool:
            arm = text.conditions.arm(token.start)
            if arm.start not in known:
                known[arm.start] = not arm.conditions or self.knowledge.is_arm_compiled(
                    text, token.start, token.end
                )
            return known[arm.start]

        return compiled

    @cached_property
    def _handlers(self) -> set[str]:
        return {vector.handler for vector in self.described if vector.handler}

    @cached_property
    def _entries(self) -> list[tuple[int, str]]:
        return [entry for table in self.tables for entry in table.handlers.items()]

    @cached_property
    def _run_time(self) -> RunTime | None:
        """What runs once the machine is up; None for a program that somebody else begins."""
        graph = self._graph
        if not self.is_whole:
            return None
        handlers = self._handlers | set(filter(CMSIS_HANDLER.fullmatch, graph.defined))
        handlers |= {handler for number, handler in self._entries if number > RESET}
        started = {self.entry, "SystemInit", "Reset_Handler"}
        started |= {handler for number, handler in self._entries if number <= RESET}
        return RunTime(
            [self.knowledge.text(source) for source in self.live if not source.is_asm],
            graph.whole,
            sorted(handlers & graph.defined),
            frozenset(started),
            self.entry,
            lambda text, token: self.knowledge.is_arm_compiled(text, token.start, token.end),
        )

    @cached_property
    def _reached(self) -> tuple[set[str], set[str]] | None:
        """Functions that the program reaches, and those that fault handlers reach.

        None for a program that somebody else begins.
        """
        graph = self._graph
        if not self.is_whole:
            return None
        entries = {handler for number, handler in self._entries if number not in FAULTS}
        entries |= self._handlers
        faults = {handler for number, handler in self._entries if number in FAULTS}
        if not entries:  # the table is somebody else's: it has what is called as CMSIS does
            entries = set(filter(CMSIS_HANDLER.fullmatch, graph.defined))
        entries.add(self.entry)
        entries |= self._called_back(graph.reached(entries))
        return graph.reached(entries), graph.reached(entries | faults | FAULT_HANDLERS)

    def _called_back(self, reached: set[str]) -> set[str]:
        """Functions that no file here calls, nor a header declares: where a vector table or a
        library is missing, those are what it calls. `reached`: by what is here."""
        alone = self._graph.unmentioned() - reached - FAULT_HANDLERS
        if not alone:
            return set()
        is_whole = bool(self.described or self.tables)
        if is_whole and not self.unknown_calls.found(Libraries(()), lambda it: it not in reached):
            return set()
        declared: set[str] = set()
        for text in (self.knowledge.text(it) for it in self.sources if it.is_header):
            words = alone & {it.text.decode("latin-1") for it in text.lexed.tokens}
            if words:  # a body of its own declares nothing for others
                declared |= words - {name.decode("latin-1") for name, _, _ in text.functions}
        return alone - declared
