"""Sites of assembler files."""

from __future__ import annotations

from collections.abc import Iterator

from porter.sites.privileged import privileged
from porter.sites.site import Site, SiteKind
from porter.source.asm_text import dialect_of, instructions
from porter.source.source_file import SourceFile


def asm_sites(file: SourceFile) -> Iterator[Site]:
    """Privileged instructions and system addresses, under the label they stand below."""
    label = ""
    for instruction in instructions(file.data, dialect_of(file.data)):
        if instruction.label is not None:
            label = instruction.label
        elif privileged(instruction):
            yield Site(
                file.name, instruction.start, instruction.end, SiteKind.ASM, str(instruction), label
            )
