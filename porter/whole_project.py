"""A project and everything that is looked up in it more than once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path

from porter.asm.numbered import Numbered
from porter.context_switch.assemble import Assembly, assembled, machine_of
from porter.context_switch.c_flow import CUnits
from porter.context_switch.default_handlers import NOBODYS
from porter.context_switch.exception_numbers import number_asked
from porter.context_switch.fpu_in_use import FpuInUse
from porter.context_switch.lost_numbers import level_compared
from porter.context_switch.machines import USUAL
from porter.context_switch.project import units_of
from porter.context_switch.recipe import core_of
from porter.context_switch.result import ROLE_STACK, ROLE_SVC, ROLE_SWITCH, SwitchPort
from porter.context_switch.services import Services
from porter.flow.project_facts import ProjectFacts, Questions
from porter.judging.special_writes import CONTROL, PSP, writes
from porter.judging.verdict import Status
from porter.libraries.project import LibraryCalls
from porter.program.c_text import CText
from porter.program.definitions import Definition, defined_in_asm, defined_in_c, does_nothing
from porter.program.knowledge import Knowledge
from porter.program.linked import Linked
from porter.program.preprocess import TranslationUnit
from porter.program.staying import file_stays
from porter.project.build import Build, read_build, with_files, with_folders
from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import compiler_for
from porter.project.domain import Domain
from porter.project.likely_core import likely_core
from porter.project.linker_symbols import (
    LinkerAlias,
    LinkerSymbol,
    linker_aliases,
    linker_symbols,
)
from porter.project.outside import Outside
from porter.project.request import NOTHING_MORE, Request
from porter.project.section_addresses import PlacedSection, placed_sections
from porter.project.unread_inputs import NO_INPUTS, UnreadInputs
from porter.project.vectors import SYSTEM, TICK, Vectors, VectorTable, tables_in_asm, tables_in_c
from porter.registers.system_space import SystemSpace
from porter.sites.registers import Registers
from porter.source.edit import Edit
from porter.source.evaluate import Evaluator
from porter.source.source_file import SourceFile

_ASM_MACRO = re.compile(rb"\.(?:alt)?macro\b")
_PASTES = re.compile(rb"\\[A-Za-z_]|##|^[ \t]*[#.][ \t]*include\b", re.MULTILINE)


def build_of(
    root: Path,
    sources: Sequence[SourceFile],
    domain: Domain | None,
    cpu: tuple[str, ...] = (),
    request: Request = NOTHING_MORE,
) -> Build:
    """How the sources below `root` are built for a domain; `cpu`: compiler options that select the
    core, where the project has no build that tells."""
    stated = cpu or (domain.cpu_flags if domain is not None else ())
    paths = [source.path for source in sources]

    def guess() -> tuple[str, ...]:
        return () if stated else core_of(paths) or likely_core(it.data for it in sources)

    named = [root / name for name in domain.sources] if domain is not None else []
    wanted = [file for file in named if file.is_file()]
    build = read_build(root, paths, stated, cache(guess), wanted)
    build = with_files(build, wanted, _described(root, domain, stated or build.options.cpu_flags))
    return with_folders(build, request.include_dirs) if request.include_dirs else build


def _described(root: Path, domain: Domain | None, cpu: tuple[str, ...]) -> CompileOptions | None:
    """How a description has files compiled that no build of the project compiles."""
    if domain is None or not (domain.includes or domain.defines):
        return None
    folders = tuple(root / name for name in domain.includes)
    return CompileOptions(folders, domain.defines, cpu, compiler_for(cpu))


class WholeProject:
    """Made of all sources of a program, their build, what the compiler's preprocessor leaves of
    its `units`, and linker scripts; `calls`: what was put
    in the place of calls of libraries; `core_clock`: hertz of the old chip's core;
    `inputs`: what else is compiled and linked; `progress` is told which file is read."""

    def __init__(
        self,
        root: Path,
        sources: list[SourceFile],
        domain: Domain | None,
        build: Build,
        units: Mapping[Path, TranslationUnit],
        scripts: Iterable[Path] = (),
        calls: LibraryCalls | None = None,
        all_arms: bool = False,
        core_clock: int | None = None,
        inputs: UnreadInputs = NO_INPUTS,
        progress: Callable[[str], None] = lambda _message: None,
    ) -> None:
        self.root, self.inputs = root, inputs
        self._core_clock = core_clock
        self.domain = domain
        self.entry = domain.entry if domain is not None else "main"
        self.calls = calls
        self.build = build
        lexed = calls.lexed if calls is not None else {}
        self.knowledge = Knowledge(build, sources, units, all_arms, lexed, progress)
        self.tables = {source.path: list(self._tables(source)) for source in sources}
        self.staying: dict[Path, str] = {}
        for source in sources:
            reason = file_stays(source, domain, self.knowledge, bool(self.tables[source.path]))
            if reason is not None:
                self.staying[source.path] = reason
        self.sources = sources
        self.scripts = list(scripts)
        self.linked, self.aliases = linker_symbols(self.scripts), linker_aliases(self.scripts)
        renamed = {it for linking in build.linked for it in linking.renamed}
        self.aliases += [LinkerAlias(name, of) for name, of in sorted(renamed)]
        self.linked += [LinkerSymbol(name, value, linking.program, 0)
                        for linking in build.linked for name, value in linking.numbers]  # fmt: skip
        placed = {it for linking in build.linked for it in linking.sections}
        self.placed = [PlacedSection(*it) for it in sorted(placed)]
        self.placed += placed_sections(self.scripts)
        self.switches: dict[Path, list[SwitchPort]] = {}
        self.numbered = Numbered(self.build.options)
        self.options = build.by_file
        self._registers: dict[int, Registers] = {}

    @property
    def live(self) -> list[SourceFile]:
        """The files that take part in the ported build."""
        return [source for source in self.sources if source.path not in self.staying]

    @cached_property
    def vectors(self) -> Vectors:
        """What the vector tables and the description say of handlers."""
        described = self.domain.vectors if self.domain is not None else ()
        numbers = {kind: number for number, kind in SYSTEM.items()}
        told = [(it.handler, numbers[it.kind]) for it in described
                if it.handler and it.kind in numbers]  # fmt: skip
        return Vectors(self._all_tables, told)

    @property
    def _all_tables(self) -> list[VectorTable]:
        return [table for tables in self.tables.values() for table in tables]

    @property
    def guessed_cpu(self) -> tuple[str, ...]:
        """For which core files were judged that nobody named; () if it made no difference."""
        differs = bool(self.switches) or machine_of(self.build.options) is not USUAL
        return self.build.options.cpu_flags if self.build.is_guess and differs else ()

    def definitions(self, names: set[str]) -> dict[str, Definition]:
        """Where live files define functions of these names."""
        found: dict[str, Definition] = {}
        for source in self.live:
            if source.is_asm:
                found.update(defined_in_asm(source, names))
            else:
                found.update(defined_in_c(self.knowledge.text(source), names))
        return found

    @cached_property
    def facts(self) -> ProjectFacts:
        """What rules ask about all files."""
        questions = Questions(
            partial(level_compared, units=self.units),
            partial(number_asked, units=self.units),
            FpuInUse(self.units).asked_otherwise,
        )
        return ProjectFacts(
            self.knowledge,
            self.live,
            self.program,
            questions,
            Services([source.path for source in self.live], self.units),
            self._may_set_psp,
            self._writes_control,
            self._puts_callers_on_psp,
            self._handles_tick,
            self._core_clock,
        )

    @cached_property
    def units(self) -> CUnits:
        """The C of the live files as the preprocessor leaves it."""
        return units_of([source.path for source in self.live], self.options, self.entry)

    @cached_property
    def program(self) -> Linked:
        """What of the live files is linked and runs."""
        return Linked(
            self.knowledge,
            self.sources,
            self.live,
            self._rewritten,
            self._all_tables,
            self.domain.vectors if self.domain is not None else (),
            self.entry,
            Outside(
                self.root,
                self.build.options,
                self.scripts,
                self._beside,
                self.build.linked,
                self.inputs,
            ),
            self._assembled,
            self._wanted,
            self._lost,
        )

    @property
    def _beside(self) -> tuple[Path, ...]:
        return self.domain.beside if self.domain is not None else ()

    def _may_set_psp(self) -> bool:
        """Whether anything but handlers may, which run on MSP: then CONTROL may select it. Where no
        handler does, who does isn't seen."""
        roles = (ROLE_SWITCH, ROLE_SVC)
        ports = (it for ports in self.switches.values() for it in ports)
        if not any(it.role in roles and it.status == Status.REWRITTEN.value for it in ports):
            return True
        return any(
            not any(
                it.start <= at < it.end and it.role in roles
                for it in self.switches.get(source.path, ())
            )
            for source in self.sources
            for at in self._writes(source, PSP)
        )

    def _writes_control(self) -> bool:
        """Whether something else than calls of CMSIS' function does, a handler too."""
        return any(any(self._writes(source, CONTROL)) for source in self.sources)

    def _writes(self, source: SourceFile, register: re.Pattern[bytes]) -> Iterator[int]:
        return writes(source, lambda: self.knowledge.text(source), register)

    def _puts_callers_on_psp(self) -> bool:
        """Whether a function that was ported does."""
        ports = (it for ports in self.switches.values() for it in ports)
        return any(it.role == ROLE_STACK and it.status == Status.REWRITTEN.value for it in ports)

    def _handles_tick(self) -> bool:
        """Whether a handler of the tick does something: one that the description names and nobody
        defines is somebody else's."""
        described = self.domain.vectors if self.domain is not None else ()
        told = {it.handler for it in described if it.kind == SYSTEM[TICK] and it.handler}
        names = {it.handlers[TICK] for it in self._all_tables if TICK in it.handlers}
        found = self.definitions({*told, *names, "SysTick_Handler"})
        return not told <= set(found) or not all(map(does_nothing, found.values()))

    def _assembled(self, source: SourceFile) -> Collection[str]:
        """What a file in assembler defines for others; nothing where it can't be assembled."""
        made = self._each_assembled(source.path)
        return {name for it in made for name in it.object.exported}

    def _wanted(self, source: SourceFile) -> Collection[str]:
        """What a file asks others for where macros of the assembler may put a name together."""
        if not (_PASTES if source.is_asm else _ASM_MACRO).search(source.data):
            return ()
        made = (it.object for it in self._each_assembled(source.path))
        return {name for it in made for name in (it.wanted() if source.is_asm else it.named())}

    def _each_assembled(self, file: Path) -> list[Assembly]:
        """A file, each time that it is compiled or assembled."""
        found = (assembled(file, options) for options in self.options.readings(file))
        return [it for it in found if it is not None]

    def _lost(self, source: SourceFile) -> list[range]:
        """Where functions for exceptions stood that a machine doesn't have."""
        ports = self.switches.get(source.path, ())
        return [range(it.start, it.end) for it in ports if it.reason == NOBODYS]

    def _rewritten(self, source: SourceFile) -> list[Edit]:
        """Functions of a file that the transcriber wrote again."""
        return [
            Edit(switch.start, switch.end, switch.replacement)
            for switch in self.switches.get(source.path, ())
            if switch.status == Status.REWRITTEN.value
        ]

    @cached_property
    def _space(self) -> SystemSpace:
        """Where the machine that the project was written for has its system's registers."""
        chip = self.domain.chip if self.domain is not None else None
        return machine_of(self.build.options).space(chip)

    def registers_of(self, evaluator: Evaluator) -> Registers:
        """What stands at addresses, as one file's expressions give them."""
        if id(evaluator) not in self._registers:
            chip = self.domain.chip if self.domain is not None else None
            grants = self.domain.grants if self.domain is not None else None
            self._registers[id(evaluator)] = Registers(evaluator, chip, self._space, grants)
        return self._registers[id(evaluator)]

    def _tables(self, source: SourceFile) -> Iterable[VectorTable]:
        if b"eset" not in source.data:
            return
        if source.is_asm:
            yield from tables_in_asm(source)
        elif (source.path.suffix.lower() == ".c" or source.is_cplusplus) and b"{" in source.data:
            text: CText = self.knowledge.text(source)
            tree = text.trees.whole
            yield from tables_in_c(
                source,
                tree,
                lambda entry: self._counts(text, tree.start(entry), tree.end(entry)),
                lambda index: text.evaluator.number(index),
                text.evaluator.call_text,
            )

    def _counts(self, text: CText, start: int, end: int) -> bool:
        """Whether an entry of a table is in it: of alternatives, as long as nobody knows, the
        first is."""
        if self.knowledge.was_asked(text.file.path):
            return self.knowledge.is_arm_compiled(text, start, end)
        conditions = text.conditions.arm(start).conditions
        return not any(condition.startswith("!(") for condition in conditions)
