"""Instructions that assembler text gives as numbers (`.short 0xb672`), read as what they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import groupby
from pathlib import Path

from porter.asm.code_flow import reached
from porter.asm.machine_code import Decoded, decode
from porter.asm.made import hidden_in, hidden_in_file, kind_of
from porter.asm.privileged import UNREAD, privileged
from porter.context_switch.asm_statements import as_file
from porter.context_switch.assemble import machine_of
from porter.context_switch.machine import Machine
from porter.project.compile_options import CompileOptions
from porter.source.asm_text import EQUATES, Instruction, instructions
from porter.source.inline_asm import CONSTANTS, AsmStatement
from porter.source.source_file import SourceFile

_ARMASM = {"dci": ".inst", "dcb": ".byte", "dcw": ".short", "dcd": ".word", "dc8": ".byte",
           "dc16": ".short", "dc32": ".word"}  # fmt: skip
_NARROW = frozenset({".short", ".hword", ".2byte", ".half", "dcw", "dc16"})
_WIDE = frozenset({".byte", ".word", ".4byte", ".long", ".int", ".quad", ".8byte", "dcb", "dcd",
                   "dc8", "dc32"})  # fmt: skip
# GNU as' other words for data (its manual, "Pseudo Ops"); those with a size behind a dot, too.
_DATA = re.compile(r"\.(?:dcb?(?:\.[bdlswx])?|fill|octa|ascii|asciz|string(?:8|16|32|64)?|float"
                   r"|single|double|[us]leb128|space|skip)")  # fmt: skip
_ALIGNS = re.compile(r"\.(?:align|balign[wl]?|p2align[wl]?)")
_NOTHING = frozenset({"", "0", "0x0", "0x00"})
_OPERAND = re.compile(r"%[a-z]?(?:(\d+)|\[(\w+)\])")
_ARGUMENTS = 8  # registers r0 to r7, or a0 to a7
_NO_OPERANDS: Mapping[str, str] = {}


class Numbered:
    """`options`: how the project calls its assembler, which knows what its directives mean."""

    def __init__(self, options: CompileOptions) -> None:
        self._options = options
        self._known: dict[str, tuple[Decoded, ...] | None] = {}

    @cached_property
    def _machine(self) -> Machine:
        return machine_of(self._options)

    def statement(
        self, statement: AsmStatement, number: Callable[[bytes], int | None]
    ) -> AsmStatement:
        """The same asm statement, read. `number`: the value of a constant expression of C."""
        if not any(map(is_numbered, statement.instructions)):
            return statement
        texts = self._operands(statement, number)
        return replace(statement, instructions=self.read(statement.instructions, texts))

    def made(
        self, statement: AsmStatement, text: str, number: Callable[[bytes], int | None], file: Path
    ) -> str:
        """What is to be told of what the assembler itself makes of a statement's text."""
        return hidden_in(text, self._operands(statement, number), self._options, file.parent)

    def made_in(self, file: SourceFile, text: Sequence[Instruction]) -> Iterator[tuple[int, str]]:
        """The same of an assembler file that has this text, with where it is."""
        found = {kind_of(it) for it in text if privileged(it)}
        return hidden_in_file(file, text, found, self._options)

    def read(
        self, text: Sequence[Instruction], operands: Mapping[str, str] = _NO_OPERANDS
    ) -> tuple[Instruction, ...]:
        """The text with instructions in place of numbers that control gets to.

        `operands`: what stands for those of a template, by number and name. What can't be read, or
        is a vendor's own, becomes `.inst`.
        """
        if not any(map(is_numbered, text)):
            return tuple(text)
        equates = "".join(f"{it}\n" for it in text if it.mnemonic in EQUATES)
        is_code = [
            it.mnemonic in UNREAD or (is_live and is_numbered(it))
            for it, is_live in zip(text, reached(text), strict=True)
        ]
        found: list[Instruction] = []
        for is_run, pairs in groupby(zip(is_code, text, strict=True), lambda pair: pair[0]):
            run = [it for _, it in pairs]
            if is_run:
                found += self._instructions(run, equates, operands)
                found += filter(_is_address, run)
            else:
                found += run
        return tuple(found)

    def _instructions(
        self, run: Sequence[Instruction], equates: str, operands: Mapping[str, str]
    ) -> Iterator[Instruction]:
        lines = "".join(f"{_directive(it, operands)}\n" for it in run)
        decoded = (
            None if any(map(_fills, run)) else self._decoded(self._machine.head + equates + lines)
        )
        if decoded is None and len(run) > 1:
            for it in run:
                yield from self._instructions([it], equates, operands)
            return
        if decoded is None:
            is_address = run[0].mnemonic in _WIDE  # most likely
            yield run[0] if is_address else replace(run[0], mnemonic=".inst")
            return
        for one in decoded:
            named = next(instructions(one.text.encode("latin-1")), None)
            if named is None or (one.is_silent and not privileged(named)):
                name = ".inst" if one.is_silent else "unknown"
                named = Instruction(name, (f"0x{one.value:x}",), 0, 0)
            yield replace(named, start=run[0].start, end=run[-1].end)

    def _decoded(self, text: str) -> tuple[Decoded, ...] | None:
        """What the assembler makes of a text; None where it refuses, or leaves a number open."""
        if text not in self._known:
            made = as_file(text, self._options)
            self._known[text] = None
            if made is not None:
                section = made.object.sections.index(".text")
                code = made.object.data.get(section, b"")
                if not any(made.object.relocation(section, it) for it in range(len(code))):
                    self._known[text] = tuple(decode(code, self._machine))
        return self._known[text]

    def _operands(
        self, statement: AsmStatement, number: Callable[[bytes], int | None]
    ) -> dict[str, str]:
        """A register for each variable, and constants as they are."""
        found: dict[str, str] = {}
        operands = (*statement.outputs, *statement.inputs)
        for place, operand in enumerate(operands[:_ARGUMENTS]):
            text = f"{self._machine.argument}{place}"
            if operand.constraint.isdigit():
                text = found.get(operand.constraint, text)
            elif operand.constraint in CONSTANTS:
                value = number(operand.text)
                if value is None:
                    continue
                text = hex(value & 0xFFFF_FFFF)
            found[str(place)] = text
            if operand.name is not None:
                found[operand.name] = text
        return found


def is_numbered(it: Instruction) -> bool:
    """Whether it may be an instruction by its number."""
    name = it.mnemonic
    if name in UNREAD or name in _NARROW or name in _WIDE:
        return True
    return _DATA.fullmatch(name) is not None or _fills(it)


def _fills(it: Instruction) -> bool:
    """Whether it aligns by a number of its own; how often, only the linker knows."""
    if _ALIGNS.fullmatch(it.mnemonic) is None or len(it.operands) < 2:
        return False
    return it.operands[1].strip() not in _NOTHING


def _is_address(it: Instruction) -> bool:
    return it.mnemonic not in UNREAD and privileged(it)


def _directive(it: Instruction, operands: Mapping[str, str]) -> str:
    def put(match: re.Match[str]) -> str:
        return operands.get(match[1] or match[2], match[0])

    name = _ARMASM.get(it.mnemonic, it.mnemonic)
    return f"{name} {_OPERAND.sub(put, ', '.join(it.operands))}"
