"""What the assembler puts together by its own means, repetition, macros and other files: no text
has those instructions, the code that it makes has."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from porter.asm.code_flow import reached
from porter.asm.machine_code import decode
from porter.asm.privileged import privileged
from porter.context_switch.asm_statements import at_file_scope
from porter.context_switch.assemble import assembled
from porter.context_switch.object_file import ObjectFile
from porter.project.compile_options import CompileOptions
from porter.source.asm_text import Instruction, blank_comments, dialect_of, instructions
from porter.source.source_file import SourceFile

DIRECTIVES = (".irp", ".rep", ".macro", ".altmacro", ".include", ".incbin")
"""How those begin that make instructions."""
WHY_MADE = (
    "what the assembler puts together or takes in here can't be read: write the instructions out"
)
_ANY = "|".join(map(re.escape, DIRECTIVES))
_MAKES = re.compile(rf"(?:^|[;:\n])\s*((?:{_ANY})\w*\b[^;\n]*)", re.IGNORECASE)
_MACRO = re.compile(r"\.macro\b(.*?)(?:\.endm\b|\Z)", re.IGNORECASE | re.DOTALL)
_BLOCK = re.compile(
    r"^[ \t]*(?:[\w.$]+:[ \t]*)?\.(?:irpc?|rept?|macro)\b[^\n]*\n(.*?)^[ \t]*\.end[rm]\b",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_MAY_MAKE = re.compile(
    rb"(?m)^[ \t]*#[ \t]*(?:define|include)|\.(?:irp|rep|macro|altm|include)", re.IGNORECASE
)
# In the word for an instruction; a label of it is none.
_PIECES = re.compile(r"(?:^|[;:\n])[ \t]*\w*[\\&][\w\\()&]*(?![\w\\()&:])")
_OPERAND = re.compile(r"%(?:[A-Za-z]?(?:(\d+)|\[(\w+)\])|([%=]))")
_ESCAPED = {"%": "%", "=": "0"}


def hidden_in(text: str, operands: Mapping[str, str], options: CompileOptions, folder: Path) -> str:
    """What to tell of a template: an instruction that a guest can't run, or the directive behind
    which nobody knows what there is; "" for nothing. `operands`: what stands for them, by number
    and name; `folder`: where the file is."""
    found = _MAKES.search(text)
    if found is None:
        return ""
    directive = " ".join(found[1].split())
    if any(_PIECES.search(body) for body in _MACRO.findall(text)):
        return directive  # whatever other statements make by it
    own = replace(options, include_dirs=(folder, *options.include_dirs))

    def put(it: re.Match[str]) -> str:
        return _ESCAPED[it[3]] if it[3] else operands.get(it[1] or it[2], "1")

    made = at_file_scope(_OPERAND.sub(put, text) + "\n", own)
    if made is None:
        return directive
    return next((str(it) for *_, it in _needs_kernel(made.object)), "")


def hidden_in_file(
    file: SourceFile, text: Sequence[Instruction], found: Container[str], options: CompileOptions
) -> Iterator[tuple[int, str]]:
    """The same of an assembler file, with where it is, for what isn't in a function: those are read
    as the assembler makes them. `found`: kinds of instructions that the text has."""
    for it, is_live in zip(text, reached(text), strict=True):
        if is_live and it.mnemonic == ".incbin":
            yield it.start, str(it)
    if dialect_of(file.data) != "gnu" or not _MAY_MAKE.search(file.data):
        return
    made = assembled(file.path, options)
    if made is not None:
        unit = made.object
        inside = [(it.section, it.start, it.end) for it in unit.functions]
        for section, place, named in _needs_kernel(unit):
            is_inside = any(of == section and it <= place < end for of, it, end in inside)
            if not is_inside and not unit.is_data(section, place) and kind_of(named) not in found:
                yield file.start_of(unit.line(section, place) or 1), str(named)
        return
    clean = blank_comments(file.data, "gnu").decode("latin-1")
    for block in _BLOCK.finditer(clean):
        if _PIECES.search(block[1]):
            start = clean.index(".", block.start())
            yield start, " ".join(clean[start:].split("\n", 1)[0].split())


def kind_of(it: Instruction) -> str:
    """Its base; one for all by which RISC-V reads and writes control registers, which the
    assembler has several words for."""
    return "csr" if it.base.startswith("csr") else it.base


def _needs_kernel(unit: ObjectFile) -> Iterator[tuple[int, int, Instruction]]:
    """Section, place and words of what a guest can't run, whatever is marked as data among it."""
    for section in sorted(unit.code):
        place = 0
        code = unit.data.get(section, b"")
        while place < len(code):
            size = unit.machine.length(int.from_bytes(code[place : place + 2], "little"))
            for one in decode(code[place : place + size], unit.machine):
                named = next(instructions(one.text.encode("latin-1")), None)
                if named is not None and (one.is_silent or privileged(named)):
                    yield section, place, named
            place += size
