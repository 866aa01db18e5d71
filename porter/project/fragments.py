"""Parts of linker scripts and makefiles under a name that C includes have, too: `sections.inc`."""

from __future__ import annotations

import re

from porter.source.comments import without_comments
from porter.source.source_file import SourceFile

_SUFFIXES = frozenset({".inc", ".inl"})
# What a linker script is made of, and no C or assembler text.
_COMMANDS = re.compile(
    rb"^\s*(?:SECTIONS|MEMORY|PHDRS)\s*\{|^\s*(?:OUTPUT_ARCH|OUTPUT_FORMAT|REGION_ALIAS)\s*\("
    rb"|\bKEEP\s*\(\s*[\w.*]+\s*\(|\bPROVIDE(?:_HIDDEN)?\s*\(\s*\w+\s*="
    rb"|\*\s*\(\s*\.(?:text|data|bss|rodata|isr\w*|vectors|init\w*|fini\w*|noinit)[\w.*]*[\s)]"
    rb"|^\s*\w+\s*\([rwxail!]+\)\s*:\s*(?:ORIGIN|org|o)\s*=|\}\s*>\s*\w+",
    re.MULTILINE,
)
_MAKES = re.compile(rb"^[ \t]*(?:export[ \t]+)?[\w.-]+[ \t]*[:+?]?=.*\$[({]\w", re.MULTILINE)


def is_make_fragment(file: SourceFile) -> bool:
    """Whether a file is for make."""
    if file.path.suffix.lower() not in _SUFFIXES:
        return False
    return file.path.stem.lower() == "makefile" or _MAKES.search(file.data) is not None


def is_linker_fragment(file: SourceFile) -> bool:
    """Whether a file is for the linker."""
    if file.path.suffix.lower() not in _SUFFIXES:
        return False
    return _COMMANDS.search(without_comments(file.data)) is not None
