"""Functions of a project that go on with a task, whatever becomes of them: each may find the frame
of a yield, and only PendSV's handler and the supervisor call's are helped with that."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from porter.context_switch.armcc import suited
from porter.context_switch.assemble import Assembly, assembled
from porter.context_switch.machines import ArmCode, RiscvCode, code_of
from porter.context_switch.object_file import Function
from porter.context_switch.result import (
    ROLE_OTHER,
    ROLE_SVC,
    ROLE_SWITCH,
    NotTranscribable,
)
from porter.project.compile_options import CompileOptions
from porter.project.vectors import RESET, Vectors
from porter.source.source_file import ASM_SUFFIXES, CPLUSPLUS_SUFFIXES

_HEADERS = frozenset({".h", ".hpp", ".hh", ".hxx"})
_STACK_POINTER = re.compile(rb"psp\b|\bmov\w*\s+sp\s*,\s*r\d|\bldr\w*\s+sp\s*,\s*\[", re.IGNORECASE)
_FROM_MACRO = re.compile(rb"asm|naked", re.IGNORECASE)  # where a header may have the rest


@dataclass(frozen=True)
class Resumer:
    """A function by its names in an object; `role` as the transcriber sees it, or SWITCH for one
    that changes the main stack."""

    file: Path
    names: tuple[str, ...]
    role: str


class Resumers:
    """Looks at all functions of files that may set a stack pointer."""

    def __init__(self, files: Iterable[Path], options: CompileOptions) -> None:
        files = list(files)
        self._options = options
        self._headers = [file for file in files if file.suffix.lower() in _HEADERS]
        bodies = {".c", *ASM_SUFFIXES, *CPLUSPLUS_SUFFIXES} - _HEADERS
        self._files = [file for file in files if file.suffix.lower() in bodies]
        self._assembly = cache(self._assembled)

    def unread(self) -> Path | None:
        """A file that can't be compiled and may have some."""
        return next((it for it in self._candidates() if self._assembly(it) is None), None)

    def found(self, vectors: Vectors) -> Iterator[Resumer]:
        """All of them; what starts the first task finds no frame of a yield."""
        for file in self._candidates():
            assembly = self._assembly(file)
            if assembly is None:
                continue
            for function in assembly.object.functions:
                by_hand = _by_hand(file, assembly, function)
                if role := _role(assembly, function, by_hand, vectors):
                    yield Resumer(file, function.names, role)

    def naming(self, symbols: set[str]) -> Iterator[tuple[str, str]]:
        """Functions in assembler that neither resume nor start tasks and may follow pointers from a
        variable of these, with the variable."""
        for file in self._files:
            data = file.read_bytes()
            wanted = {name for name in symbols if name.encode() in data}
            assembly = self._assembly(file) if wanted and _may_be_assembler(file, data) else None
            if assembly is None:
                continue
            for function in assembly.object.functions:
                with suppress(NotTranscribable):
                    code = code_of(assembly, function)
                    is_plain = code.role(is_handler=False) in (None, ROLE_OTHER)
                    if is_plain and _by_hand(file, assembly, function):
                        for name in sorted(code.may_follow() & wanted):
                            yield f"{function.name}() of {file.name}", name

    def _candidates(self) -> Iterator[Path]:
        in_header = any(_STACK_POINTER.search(header.read_bytes()) for header in self._headers)
        for file in self._files:
            data = file.read_bytes()
            if _STACK_POINTER.search(data) or (in_header and _FROM_MACRO.search(data)):
                yield file

    def _assembled(self, file: Path) -> Assembly | None:
        with (
            suppress(NotTranscribable),
            suited(file, self._headers, self._options) as options,
        ):
            return assembled(file, options)
        return None


def _may_be_assembler(file: Path, data: bytes) -> bool:
    return file.suffix.lower() in ASM_SUFFIXES or _FROM_MACRO.search(data) is not None


def _by_hand(file: Path, assembly: Assembly, function: Function) -> bool:
    """Whether no compiler made a function."""
    return file.suffix.lower() in ASM_SUFFIXES or function.name in assembly.naked


def switches_main_stack(code: ArmCode | RiscvCode, name: str, vectors: Vectors) -> bool:
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
