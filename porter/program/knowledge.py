"""What is known about each file: its macros and types, whether it is built, what is compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from porter.program.arms import ImpossibleArms
from porter.program.c_text import CText
from porter.program.includes import Includes
from porter.program.languages import Languages
from porter.program.preprocess import TranslationUnit, assembled_lines
from porter.program.readings import Readings
from porter.program.visible import VisibleNames
from porter.project.build import Build
from porter.registers.intrinsics import LINES_AND_TICK
from porter.source.assembler_text import included_names
from porter.source.c_lexer import LexedSource, lex
from porter.source.c_tree import SyntaxTree
from porter.source.c_types import TypeTable
from porter.source.conditions import ConditionMap
from porter.source.evaluate import Evaluator
from porter.source.grammar import CPLUSPLUS
from porter.source.macros import MacroTable, parse_define
from porter.source.source_file import ASM_SUFFIXES, SourceFile

_OWN_FUNCTION = re.compile(
    rb"^[A-Za-z_][\w \t*]*[ \t*](%s)\s*\([^;{}()]*\)\s*\{" % b"|".join(LINES_AND_TICK), re.MULTILINE
)
_LINE = re.compile(rb"^[ \t]*(?:#|%:)[ \t]*(?:line\b|\d)", re.MULTILINE)


def _add_well_known(macros: MacroTable, types: TypeTable) -> None:
    """Names from headers that the project uses but doesn't contain."""
    text = files("porter").joinpath("registers/cmsis_names.h").read_bytes()
    lexed = lex(text)
    for directive in lexed.directives:
        macro = parse_define(directive)
        if macro is not None and macro.name not in macros:
            macros.define(macro)
            macros.assumed.add(macro.name)
    types.add_text(text)


class Knowledge:
    """Answers from the compiler where it could be asked, else from all headers of the project."""

    def __init__(
        self,
        build: Build,
        sources: Sequence[SourceFile],
        units: Mapping[Path, TranslationUnit],
        all_arms: bool = False,
        lexed: Mapping[Path, LexedSource] = MappingProxyType({}),
        progress: Callable[[str], None] = lambda _message: None,
    ) -> None:
        """`units`: those of the build that the compiler could preprocess; `all_arms`: take arms for
        possible that the build can't contain; `lexed`: files that were taken apart already."""
        self._progress = progress
        self.build = build
        self.all_arms = all_arms
        self._real = cache(Path.resolve)  # asks the file system; files are asked about all the time
        self._sources = sources
        self._languages = Languages(sources)
        self._units = units
        self._lexed = dict(lexed)
        self._assembled = cache(assembled_lines)
        self._conditions = cache(lambda file: ConditionMap(lex(file.data)))
        self._texts: dict[Path, CText] = {}
        self._borrowed: dict[tuple[re.Pattern[bytes], Path], bool] = {}
        self._by_file: dict[Path, list[TranslationUnit]] = {}
        for unit in self.units:
            for path in unit.lines:
                self._by_file.setdefault(path, []).append(unit)

    @property
    def units(self) -> Iterable[TranslationUnit]:
        """The C files that the compiler could preprocess, each time that they are compiled."""
        return [it for unit in self._units.values() for it in unit.readings]

    def units_of(self, path: Path) -> list[TranslationUnit]:
        """A C file as the compiler's preprocessor leaves it, each time that it is compiled; empty
        where it couldn't be asked."""
        unit = self._units.get(self._real(path))
        return [] if unit is None else [*unit.readings]

    @cached_property
    def sees_all_code(self) -> bool:
        """Whether the compiler could preprocess every C file of the build."""
        code = {it for it in self.build.units if it.suffix.lower() not in ASM_SUFFIXES}
        return bool(code) and code <= self._units.keys()

    def text(self, file: SourceFile) -> CText:
        """Take a C file apart with what is known about its names."""
        if file.path not in self._texts:
            evaluator = self.evaluator(file.path)
            self._texts[file.path] = CText(
                file,
                evaluator,
                self.lexed(file),
                lambda name: self.mentions(name, file.path),
                self.was_asked(file.path),
                self._languages.grammar(file, self.lexed(file)),
                self._own,
            )
        return self._texts[file.path]

    def other_readings(self, file: SourceFile) -> Iterator[tuple[str, CText]]:
        """A header as other C files read it, for which something in it means something else, a C
        file that is compiled several times, or either before a macro of it is defined anew; each
        with who reads it so."""
        readings = self._readings.of(file.path.resolve(), self.lexed(file))
        known = self.evaluator(file.path)
        for source, evaluator in readings if len(readings) > 1 else ():
            if evaluator is not known:
                yield source, self._read_as(file, evaluator)

    def again(self, file: SourceFile) -> Iterator[CText]:
        """A C file as each other time that it is compiled."""
        yield from (self._read_as(file, it.evaluator) for it in self.units_of(file.path)[1:])

    def _read_as(self, file: SourceFile, evaluator: Evaluator) -> CText:
        lexed = self.lexed(file)
        grammar = self._languages.grammar(file, lexed)
        return CText(file, evaluator, lexed, is_known=True, grammar=grammar, own=self._own)

    @cached_property
    def _own(self) -> frozenset[bytes]:
        """Functions for lines and the tick that a C file defines, as CMSIS never does: what they
        take and do is the project's affair."""
        found: set[bytes] = set()
        for source in self._sources:
            if not source.is_asm and not source.is_header and self.is_built(source.path):
                found |= set(_OWN_FUNCTION.findall(source.data))
        return frozenset(found)

    def reader(self, file: SourceFile) -> str:
        """The name of the C file as which a header is read."""
        known = self.evaluator(file.path)
        return next(
            (it.name for it, unit in self._units.items() if unit.evaluator is known), file.name
        )

    @cached_property
    def _readings(self) -> Readings:
        return Readings(self._units)

    def is_cplusplus(self, file: SourceFile) -> bool:
        """Whether a file is C++, by its suffix, by what it has, or by who includes it."""
        if file.is_asm or file.is_cplusplus:
            return file.is_cplusplus
        return self._languages.grammar(file, self.lexed(file)) is CPLUSPLUS

    def lexed(self, file: SourceFile) -> LexedSource:
        """The tokens of a C file."""
        if file.path not in self._lexed:
            self._progress(f"taking {file.name} apart")
            self._lexed[file.path] = lex(file.data)
        return self._lexed[file.path]

    def evaluator(self, path: Path) -> Evaluator:
        """That of the file's own translation unit, of one that includes it, or the project's."""
        path = self._real(path)
        if path in self._units:
            return self._units[path].evaluator
        units = self._by_file.get(path)
        return units[0].evaluator if units else self._visible.evaluator(path)

    def mentions(self, name: bytes, besides: Path) -> bool:
        """Whether a name occurs in any file of the project but one."""
        return any(name in source.data for source in self._sources if source.path != besides)

    def know_address(self, name: bytes, besides: Path) -> bool:
        """Whether each other file of C that names a constant pointer knows which address it has."""
        others = (it for it in self._sources if it.path != besides and name in it.data)
        return all(
            not it.is_asm and (it.is_header or self.text(it).evaluator.keeps_address(name))
            for it in others
        )

    def has(self, words: re.Pattern[bytes], besides: Path) -> bool:
        """Whether words occur in any file of the project but one."""
        return any(words.search(it.data) for it in self._sources if it.path != besides)

    def borrows(self, words: re.Pattern[bytes], path: Path) -> bool:
        """Whether a file, some of whose headers are nowhere, has words from headers of the project
        that it doesn't include: another chip's, perhaps."""
        path = self._real(path)
        if (words, path) not in self._borrowed:
            having = {it.path.resolve() for it in self._sources if words.search(it.data)}
            lacks = bool(having) and any(self.includes.missing([path]))
            seen = {path, *self.includes.reached([path])} if lacks else set()
            self._borrowed[words, path] = lacks and having.isdisjoint(seen)
        return self._borrowed[words, path]

    def is_in_assembler(self, file: SourceFile) -> bool:
        """Whether an assembler file includes a header, or one of its name, itself or by others."""
        return file.is_header and file.path.name.encode() in self._in_assembler

    @cached_property
    def _in_assembler(self) -> frozenset[bytes]:
        return included_names((it for it in self._sources if it.is_asm), self._sources)

    def is_built(self, path: Path) -> bool:
        """False only when the build is known and the file takes no part in it."""
        path = self._real(path)
        if not self.build.is_known or path in self._by_file or path in self._compiled:
            return True
        return path in self._unasked or path in self._in_built_assembler

    @cached_property
    def _renumbered(self) -> frozenset[Path]:
        """Files that change the numbers of their lines."""
        return frozenset(
            self._real(it.path) for it in self._sources if _LINE.search(it.data) is not None
        )

    @cached_property
    def _in_built_assembler(self) -> set[Path]:
        """Assembler text that the assembler files of the build take in, by its name: no compiler
        says which."""
        assembled = [it for it in self._sources if it.is_asm]
        built = (it for it in assembled if self._real(it.path) in self._compiled)
        names = included_names(built, assembled)
        return {self._real(it.path) for it in assembled if it.path.name.encode() in names}

    @cached_property
    def _compiled(self) -> set[Path]:
        return {unit.resolve() for unit in self.build.units}

    @cached_property
    def _unasked(self) -> set[Path]:
        """What the compiled files include that no compiler run could be asked about."""
        compiled = self._compiled - set(self._units)
        return self.includes.reached(compiled & set(self._written)) if compiled else set()

    @cached_property
    def _written(self) -> dict[Path, LexedSource]:
        """C and C++ of the project, taken apart."""
        return {it.path.resolve(): self.lexed(it) for it in self._sources if not it.is_asm}

    @cached_property
    def arms(self) -> ImpossibleArms:
        """Which arms of #if the build can't contain."""
        return ImpossibleArms(self.build, self._written)

    @cached_property
    def includes(self) -> Includes:
        """Where the headers are that the project names."""
        unasked = self._compiled - set(self._units)
        in_c = any(it.suffix.lower() not in ASM_SUFFIXES for it in unasked)
        seen = self._by_file if self._units and not in_c else ()
        return Includes(self.build, self._sources, self._written, self.arms, seen)

    def why_never(self, path: Path) -> str | None:
        """Why a whole file can't be in the build, by its conditions; None if it may be in it."""
        path = self._real(path)
        if self.all_arms or self.was_asked(path) or path not in self._written:
            return None
        _ = self.includes  # which tells the arms what is only included by impossible ones
        return self.arms.never(path)

    def was_asked(self, path: Path) -> bool:
        """Whether a compiler run said which lines of a file are compiled."""
        return self._real(path) in self._by_file

    def is_compiled(self, path: Path, first_line: int, last_line: int) -> bool:
        """False only when the compiler saw the file and skipped all of these lines.

        It puts what continues on a line into the line where it began: ask for whole #if arms. What
        has #line in it has no lines that can be told apart.
        """
        path = self._real(path)
        if path in self._renumbered:
            return True
        units = self._by_file.get(path)
        lines = range(first_line, last_line + 1)
        return not units or any(not unit.lines[path].isdisjoint(lines) for unit in units)

    def arm_left_out(self, file: SourceFile, start: int) -> str:
        """The condition of #if around a place of an assembler file that this build leaves out; ""
        where it doesn't, or nobody can tell."""
        options = self.build.units.get(file.path)
        if self.all_arms or options is None or file.path.suffix != ".S":
            return ""
        conditions = self._conditions(file)
        arm = conditions.arm(start)
        ways = (options, *self.build.again.get(file.path, ())) if arm.conditions else ()
        each = [self._assembled(file.path, it) for it in ways]
        if not each or None in each:
            return ""
        lines = frozenset().union(*(it for it in each if it is not None))
        end = conditions.end(start, len(file.data))
        within = range(file.line(arm.start), file.line(max(arm.start, end - 1)))
        return " && ".join(arm.conditions) if lines.isdisjoint(within) else ""

    def is_arm_compiled(self, text: CText, start: int, end: int) -> bool:
        """Like is_compiled, for the #if arms that [start, end) is in; where no compiler could be
        asked, False for those that the build can't contain."""
        if not self.was_asked(text.file.path):
            return self.false_condition(text, start) is None
        first = text.conditions.arm(start).start
        if text.is_argument(first):  # all of a macro's use is put into the line where it begins
            return True
        last = text.conditions.end(max(start, end - 1), len(text.file.data))
        lines = text.file.line(first), text.file.line(max(start, last - 1))
        return self.is_compiled(text.file.path, *lines)

    def false_condition(self, text: CText, start: int) -> str | None:
        """The condition around an offset that is certainly false in this build, if no compiler run
        says what is compiled; None if there is none."""
        conditions = text.conditions.arm(start).conditions
        if self.all_arms or not conditions or self.was_asked(text.file.path):
            return None
        return self.arms.false_one(conditions)

    @cached_property
    def _visible(self) -> VisibleNames:
        """What names mean in files that no compiler run covers."""
        files = [source for source in self._sources if not source.is_asm]
        for path, lexed in self.includes.outside.items():
            self._lexed.setdefault(path, lexed)
            files.append(SourceFile(path, path.name, path.read_bytes()))
        return VisibleNames(
            files,
            self.lexed,
            self._parsed,
            self.build.options.defines,
            _add_well_known,
        )

    def _parsed(self, file: SourceFile, evaluator: Evaluator) -> SyntaxTree:
        self._progress(f"parsing {file.name}")
        return self._read_as(file, evaluator).trees.whole
