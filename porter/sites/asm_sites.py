"""Sites of assembler files."""

from __future__ import annotations

from collections.abc import Iterator

from porter.asm.leaps import defined, leaps
from porter.asm.numbered import Numbered
from porter.asm.privileged import privileged
from porter.sites.site import Site, SiteKind
from porter.source.asm_text import Instruction, dialect_of, instructions
from porter.source.source_file import SourceFile

IN_MACRO = ".macro"  # in place of a label


def asm_sites(file: SourceFile, numbered: Numbered) -> Iterator[Site]:
    """Privileged instructions and system addresses, under the label they stand below or in the
    body of a macro."""
    label, before = "", ""
    text = tuple(instructions(file.data, dialect_of(file.data)))
    away = dict(asm_leaps(file))
    read = numbered.read(text)
    for start, what in numbered.made_in(file, read):
        yield Site(file.name, start, file.line_end(start), SiteKind.ASM, what)
    for instruction in read:
        if instruction.mnemonic in (".macro", "macro"):
            label, before = IN_MACRO, label
        elif instruction.mnemonic in (".endm", "endm", "mend"):
            label = before
        elif instruction.label is not None:
            label = label if label == IN_MACRO else instruction.label
        elif privileged(instruction) or instruction in away:
            yield Site(
                file.name, instruction.start, instruction.end, SiteKind.ASM, str(instruction), label
            )


def asm_leaps(file: SourceFile) -> Iterator[tuple[Instruction, str]]:
    """Instructions of Arm that leave the program, and why that can't be."""
    text = tuple(instructions(file.data, dialect_of(file.data)))
    return leaps(text, defined(file.data.decode("latin-1")))
