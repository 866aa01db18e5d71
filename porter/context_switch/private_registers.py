"""Registers that assembler functions agree on among themselves, and that no prototype tells.

C that stands in a callee's or a caller's place keeps to the procedure call standard and to nothing
else.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from porter.context_switch.argument_words import ArgumentWords
from porter.context_switch.assemble import Assembled, Assembly
from porter.context_switch.codes import code_of
from porter.context_switch.object_file import Function
from porter.context_switch.register_flow import Prototype, RegisterFlow
from porter.context_switch.result import NotTranscribable
from porter.source.source_file import ASM_SUFFIXES


class PrivateRegisters:
    """Looks at the functions of the project's assembler files."""

    def __init__(self, files: Iterable[Path], assembled: Assembled, words: ArgumentWords) -> None:
        self._files = [file for file in files if file.suffix.lower() in ASM_SUFFIXES]
        self._assembled, self._words = assembled, words
        self._text = cache(lambda file: file.read_bytes())

    def _mentioning(self, name: str) -> Iterable[tuple[Path, Assembly]]:
        for file in self._files:
            if name.encode() in self._text(file) and (found := self._assembled(file)) is not None:
                yield file, found

    def refuse_callee(self, name: str, prototype: Prototype) -> None:
        """NotTranscribable where a function takes more than its arguments or leaves registers
        changed that a call keeps."""
        signature = prototype(name)
        if signature is None or signature.unprototyped:
            return
        for file, assembly in self._mentioning(name):
            for function in assembly.object.functions:
                if name not in function.names:
                    continue
                flows = RegisterFlow(assembly, prototype, "", self._words)
                if wrong := flows.beyond(function, signature):
                    raise NotTranscribable(
                        f"calls {name}() of {file.name}, which {wrong}: C calls it as it is "
                        "declared. Let it take what it needs as an argument and return its result, "
                        "or make one function of the two"
                    )

    def refuse_callers(self, name: str, prototype: Prototype) -> None:
        """NotTranscribable where assembler that stays goes on with registers of a function that
        becomes C."""
        for file, assembly in self._mentioning(name):
            flows = RegisterFlow(assembly, prototype, name)
            for function in assembly.object.functions:
                if name in function.names or not _stays(assembly, function):
                    continue
                if lost := flows.lost(function):
                    raise NotTranscribable(
                        f"{function.name}() of {file.name}, which stays assembler, calls it and "
                        f"then reads {lost}, which C may change: let it save what it needs in "
                        f"{assembly.object.machine.calls.safe}, or write it in C too"
                    )


def _stays(assembly: Assembly, function: Function) -> bool:
    with suppress(NotTranscribable):
        return not code_of(assembly, function).needs_port()
    return False
