"""Functions of a project that go on with a task, whatever becomes of them: each may find the frame
of a yield, and only PendSV's handler and the supervisor call's are helped with that.

Such a function resumes tasks itself, or goes on in PendSV's handler from elsewhere than PendSV's
vector. What has the handler's address may, so that word of a vector table is all that has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from porter.context_switch.armcc import suited
from porter.context_switch.asm_statements import at_file_scope
from porter.context_switch.assemble import (
    Assembly,
    CompileError,
    alike,
    assembled,
    preprocessed_by_file,
)
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name
from porter.context_switch.calculates import calculates
from porter.context_switch.code import Code
from porter.context_switch.codes import code_of
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.result import (
    ROLE_CALL,
    ROLE_OTHER,
    ROLE_START,
    ROLE_SVC,
    ROLE_SWITCH,
    NotTranscribable,
)
from porter.project.compile_options import CompileOptions
from porter.project.linker_symbols import LinkerAlias
from porter.project.unread_inputs import NO_INPUTS, UnreadInputs
from porter.project.vectors import PENDSV, RESET, Vectors
from porter.source.c_tree import Node
from porter.source.source_file import ASM_SUFFIXES, CPLUSPLUS_SUFFIXES

_HEADERS = frozenset({".h", ".hpp", ".hh", ".hxx"})
_STACK_POINTER = re.compile(rb"psp\b|\bmov\w*\s+sp\s*,\s*r\d|\bldr\w*\s+sp\s*,\s*\[", re.IGNORECASE)
_FROM_MACRO = re.compile(rb"asm|naked", re.IGNORECASE)  # where a header may have the rest
_SLOT = 4 * PENDSV  # bytes from a vector table's start


@dataclass(frozen=True)
class Resumer:
    """A function by its names in an object; `role` as the transcriber sees it, or SWITCH for one
    that changes the main stack."""

    file: Path
    names: tuple[str, ...]
    role: str


class Resumers:
    """Looks at all functions of files that may set a stack pointer or have the name of a switch
    handler, by what the linker knows it by."""

    def __init__(
        self,
        files: Iterable[Path],
        options: CompileOptions,
        units: CUnits,
        aliases: Iterable[LinkerAlias] = (),
        inputs: UnreadInputs = NO_INPUTS,
    ) -> None:
        self._inputs = inputs
        files = list(files)
        self.options, self._units, self._aliases = options, units, list(aliases)
        self._headers = [file for file in files if file.suffix.lower() in _HEADERS]
        bodies = {".c", *ASM_SUFFIXES, *CPLUSPLUS_SUFFIXES} - _HEADERS
        self._files = [file for file in files if file.suffix.lower() in bodies]
        self._assembly = cache(self._assembled)
        self._candidates = cache(self._chosen)
        self._at_file_scope = cache(self._outside_in)

    def also_called(self, names: Iterable[str]) -> frozenset[str]:
        """The names, with those that linker scripts make of them."""
        found, before = frozenset(names), frozenset[str]()
        while found != before:
            before = found
            found |= {alias.name for alias in self._aliases if alias.of in found}
        return found

    def unread(self, names: frozenset[str]) -> Path | None:
        """A file that can't be compiled and may have some."""
        return next((it for it in self._candidates(names) if self._assembly(it) is None), None)

    def found(self, names: frozenset[str], vectors: Vectors) -> Iterator[Resumer]:
        """All of them; what starts the first task finds no frame of a yield."""
        for file, assembly in self._assemblies(names):
            for function in assembly.object.functions:
                by_hand = _by_hand(file, assembly, function)
                if role := _role(assembly, function, by_hand, vectors):
                    yield Resumer(file, function.names, role)

    def called_by_handlers(self, names: frozenset[str]) -> frozenset[str]:
        """What handlers name that resume tasks, of files that may have or use one of these."""
        return frozenset(
            relocation.symbol
            for file, assembly in self._assemblies(names)
            for function in assembly.object.functions
            if _role(assembly, function, _by_hand(file, assembly, function), Vectors())
            for address in range(function.start, function.end, 2)
            if (relocation := assembly.object.relocation(function.section, address)) is not None
        )

    def instead(self, symbol: str, names: frozenset[str]) -> str:
        """What the linker may take instead of a weak handler; "" where nothing else is known."""
        if any(alias.name == symbol for alias in self._aliases):
            return "a linker script"
        if (beside := self._inputs.home_of(symbol, is_weak=True)) is not None:
            return f"{beside.name}, which nobody looks into, may be what"
        homes = [
            (file.name, function.weak)
            for file, assembly in self._assemblies(names)
            for function in assembly.object.functions
            if symbol in function.names
        ]
        others = [file for file, weak in homes if not weak]
        others = others or [file for file, _ in homes[1:]]
        return " or ".join(others)

    def leading_to(self, names: frozenset[str], weak: bool) -> str:
        """What else than PendSV's vector may lead to a handler of these names; "" for nothing."""
        for file, assembly in self._assemblies(names):
            for name in names:
                if found := self._units.going_to(file, name.encode()):
                    return f"{found.decode('latin-1')}() of {file.name}"
            unit = assembly.object
            for section, address in unit.leading_to(names, weak):
                around = unit.function_at(section, address)
                if around is None and not _is_slot(unit, section, address):
                    return f"a word in {file.name}"
                if around is not None and not self._is_read(file, around):
                    return f"{around.name}() of {file.name}"
        return ""

    def moving_main_stack(self, names: frozenset[str]) -> str:
        """One of some functions that sets sp itself; "" for none."""
        for file, assembly in self._assemblies(names) if names else ():
            for function in assembly.object.functions:
                if names & set(function.names) and _by_hand(file, assembly, function):
                    with suppress(NotTranscribable):
                        code = code_of(assembly, function)
                        if not code.touches_stack_pointers() and code.loads_stack_pointer():
                            return function.name
        return ""

    def by_hand(self, having: re.Pattern[bytes]) -> Iterator[tuple[Path, Assembly, Function]]:
        """Functions that no compiler made: of C files, those whose asm has a pattern."""
        files = {*self._having(having)}
        for file in self._files:
            if file in files or file.suffix.lower() in ASM_SUFFIXES:
                yield from self._by_hand_in(file)

    def in_assembler(self) -> Iterator[tuple[Path, Assembly, Function]]:
        """Those of assembler files alone."""
        for file in self._files:
            if file.suffix.lower() in ASM_SUFFIXES:
                yield from self._by_hand_in(file)

    def _by_hand_in(self, file: Path) -> Iterator[tuple[Path, Assembly, Function]]:
        if (assembly := self._assembly(file)) is not None:
            for function in assembly.object.functions:
                if _by_hand(file, assembly, function):
                    yield file, assembly, function

    def assemblies(self) -> Iterator[Assembly]:
        """Of the assembler files that can be assembled."""
        files = (it for it in self._files if it.suffix.lower() in ASM_SUFFIXES)
        return (found for it in files if (found := self._assembly(it)) is not None)

    def starts(self, name: str) -> bool:
        """Whether all functions of a name that no compiler made start the first task."""
        roles = [_plain_role(assembly, it) for assembly, it in self._called(name)]
        return bool(roles) and set(roles) == {ROLE_START}

    def ends_in_task(self, name: str) -> bool:
        """Whether all of them go to a task where they go by a register: they start or resume one,
        and call nothing that way. That it is a task is part of what is proved of them."""
        found = self._called(name)
        return bool(found) and all(
            _plain_role(of, it) in (ROLE_START, ROLE_SVC, ROLE_SWITCH)
            and not _calls_by_register(of, it)
            for of, it in found
        )

    def resumes(self, name: str) -> bool:
        """Whether all of them end as a handler does that goes on with a task: only an exception
        comes there, whoever has the address."""
        found = self._called(name)
        roles = (ROLE_SVC, ROLE_SWITCH)
        return bool(found) and all(_plain_role(of, it) in roles for of, it in found)

    def calculates(self, name: str) -> bool:
        """Whether all of them only calculate."""
        found = self._called(name)
        return bool(found) and all(not it.weak and calculates(of, it) for of, it in found)

    def _called(self, name: str) -> list[tuple[Assembly, Function]]:
        every = self.by_hand(_STACK_POINTER)
        return [(of, it) for _, of, it in every if name in it.names and name in of.object.globals]

    def outside(self) -> Iterator[tuple[Path, Assembly, Function]]:
        """Functions in asm statements of C files that stand in no function."""
        for file in (it for it in self._files if it.suffix == ".c"):
            for assembly in self._at_file_scope(file):
                yield from ((file, assembly, it) for it in assembly.object.functions)

    def _outside_in(self, file: Path) -> list[Assembly]:
        """Each of a file's asm statements at file scope by itself, or all of them together where
        one needs another's macros."""
        texts = self._units.outside_functions(file)
        options = self.options.of(file).beside(file.parent)
        found = [at_file_scope(text, options) for text in texts]
        if None in found and len(texts) > 1:
            found = [at_file_scope("\n".join(texts), options), *found]
        return [it for it in found if it is not None]

    def statements(self, having: re.Pattern[bytes]) -> Iterator[tuple[Path, Node]]:
        """The asm statements of C files whose text has a pattern."""
        for file in self._having(having):
            for statement in self._units.asm_statements(file):
                yield file, statement

    def _having(self, pattern: re.Pattern[bytes]) -> list[Path]:
        """C files with a pattern in what they or files that they include give the assembler: macros
        put it together, and any file may be included."""
        files = [file for file in self._files if file.suffix == ".c"]
        return [file for file in files if pattern.search(self._units.templates(file))]

    def assembler_texts(self) -> Iterator[bytes]:
        """Of the assembler files."""
        return (it.read_bytes() for it in self._files if it.suffix.lower() in ASM_SUFFIXES)

    def is_naked(self, file: Path, function: Node) -> bool:
        """Whether a function of a C file is nothing but its asm."""
        assembly = self._assembly(file)
        name = function_name(function).decode("latin-1")
        return assembly is not None and name in assembly.naked

    def _is_read(self, file: Path, function: Function) -> bool:
        """Whether a function is C whose text was asked."""
        return file.suffix == ".c" and bool(self._units.definitions(function.name.encode()))

    def _assemblies(self, names: frozenset[str]) -> Iterator[tuple[Path, Assembly]]:
        for file in self._candidates(names):
            if (assembly := self._assembly(file)) is not None:
                yield file, assembly

    def _chosen(self, names: frozenset[str]) -> list[Path]:
        """Assembler files may take macros from anywhere; of others, the preprocessor says it."""
        word = re.compile(rb"\b(?:%s)\b" % b"|".join(re.escape(it.encode()) for it in names))
        in_header = any(_STACK_POINTER.search(header.read_bytes()) for header in self._headers)
        found = []
        for file in self._files:
            own, whole = self._text(file)
            if (
                (file.suffix.lower() in ASM_SUFFIXES and self._assembly(file) is not None)
                or _STACK_POINTER.search(own)
                or (in_header and _FROM_MACRO.search(own))
                or word.search(whole)
            ):
                found.append(file)
        return found

    def _text(self, file: Path) -> tuple[bytes, bytes]:
        """What a file has, with macros and what it includes besides headers, and all that the
        compiler gets; twice as it is written where the preprocessor can't tell."""
        data = file.read_bytes()
        if file.suffix.lower() in ASM_SUFFIXES:
            return data, data
        with (
            suppress(NotTranscribable, CompileError),
            suited(file, self._headers, self.options) as options,
        ):
            runs = preprocessed_by_file(file, options)
            own = [text for place, text in runs if place.suffix.lower() not in _HEADERS]
            both = ("\n".join(own), "\n".join(text for _, text in runs))
            return both[0].encode("latin-1", "replace"), both[1].encode("latin-1", "replace")
        return data, data

    def _assembled(self, file: Path) -> Assembly | None:
        found: list[Assembly | None] = []
        for own in self.options.readings(file):
            with suppress(NotTranscribable), suited(file, self._headers, own) as options:
                found.append(assembled(file, options))
        return alike(found) if found else None


def is_apart(assembly: Assembly, function: Function) -> bool:
    """Whether a function neither resumes nor starts tasks, as far as anybody knows."""
    return _plain_role(assembly, function) in (None, ROLE_OTHER, ROLE_CALL)


def _plain_role(assembly: Assembly, function: Function) -> str | None:
    with suppress(NotTranscribable):
        return code_of(assembly, function).role(is_handler=False)
    return None


def _calls_by_register(assembly: Assembly, function: Function) -> bool:
    steps = code_of(assembly, function).steps().values()
    return any(it.calls and not it.target for it in steps)


def _is_slot(unit: ObjectFile, section: int, address: int) -> bool:
    """Whether data is PendSV's word of a vector table, which begins with its section or a name."""
    return address == _SLOT or unit.name_at(section, address - _SLOT) is not None


def _by_hand(file: Path, assembly: Assembly, function: Function) -> bool:
    """Whether no compiler made a function."""
    return file.suffix.lower() in ASM_SUFFIXES or function.name in assembly.naked


def switches_main_stack(code: Code, name: str, vectors: Vectors) -> bool:
    """Whether an exception handler goes on, on another stack without PSP. Elsewhere, as in
    longjmp(), that is a task's own affair, and so it is what reset does."""
    on_psp = code.touches_stack_pointers()
    return is_handler([name], vectors) and not on_psp and code.loads_stack_pointer()


def is_handler(names: Iterable[str], vectors: Vectors) -> bool:
    """Whether a function is known to serve an exception, other than reset."""
    return bool(vectors.served_by(names) - {RESET})


def _role(assembly: Assembly, function: Function, by_hand: bool, vectors: Vectors) -> str:
    """That of a function that goes on with a task; "" for another. `by_hand`: no compiler made
    it."""
    try:
        code = code_of(assembly, function)
    except NotTranscribable:
        return ROLE_SWITCH if by_hand else ""
    if switches_main_stack(code, function.name, vectors):
        return ROLE_SWITCH
    role = code.role(is_handler(function.names, vectors))
    return role if role in (ROLE_SWITCH, ROLE_SVC) else ""
