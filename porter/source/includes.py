"""Puts the #include lines of the guest API into files that call it."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from porter.source.assembler_text import arms_for_c
from porter.source.c_lexer import LexedSource
from porter.source.conditions import Arm, ConditionMap, include_guard
from porter.source.edit import Edit
from porter.source.source_file import SourceFile

GUEST = b"<fvm/guest.h>"
DOMAIN = b'"fvm_domain.h"'
_USES_GUEST = re.compile(rb"\b(?:virt_|hyp_|VIRT_|FVM_VIRT_|USR_)")
_USES_DOMAIN = re.compile(
    rb"\b(?:fvm_virt_of_irq|FVM_CLOCK_HZ|fvm_split_take|FVM_(?:RCC|FLASH|PWR)_[A-Z0-9]+)\b"
)


def include_edits(
    file: SourceFile,
    lexed: LexedSource,
    conditions: ConditionMap,
    edits: Iterable[Edit],
    defined: Container[bytes],
    in_assembler: bool = False,
) -> list[Edit]:
    """The edit that adds what the replacements need and the file doesn't include yet.

    `defined`: macros of C. `in_assembler`: assembler files include this one too, and can't read the
    guest API.
    """
    edits = list(edits)
    text = b"\n".join(edit.replacement for edit in edits)
    present = {
        b"".join(token.text for token in directive.tokens)
        for directive in lexed.directives
        if directive.name == b"include"
    }
    wanted = [
        header
        for header, uses in ((GUEST, _USES_GUEST), (DOMAIN, _USES_DOMAIN))
        if uses.search(text) and header not in present and b"#include " + header not in text
    ]
    if not wanted:
        return []
    lines = [b"#include " + header for header in wanted]
    hidden = list(arms_for_c(conditions, defined))
    first = min(edit.start for edit in edits)
    arm = next((it for it in hidden if len(it.conditions) == 1 and it.start <= first), None)
    if arm is not None:
        place, before, after = _inside(file, lexed, conditions, arm), 0, 0
    else:
        place, before, after = _place(file, lexed, conditions)
        if in_assembler or hidden:
            lines = [b"#ifndef __ASSEMBLER__", *lines, b"#endif"]
    eol = file.eol(place)
    added = b"".join(line + eol for line in lines)
    return [Edit(place, place, before * eol + added + after * eol)]


def _inside(file: SourceFile, lexed: LexedSource, conditions: ConditionMap, arm: Arm) -> int:
    """Offset of a line start in an arm, behind the #include lines that it begins with."""
    code = [token.start for token in lexed.tokens if token.start >= arm.start]
    first_code = code[0] if code else len(file.data)
    ends = [
        directive.end
        for directive in lexed.directives
        if directive.name == b"include"
        and arm.start < directive.start < first_code
        and conditions.arm(directive.start) == arm
    ]
    return file.line_end(max(ends, default=arm.start))


def _place(file: SourceFile, lexed: LexedSource, conditions: ConditionMap) -> tuple[int, int, int]:
    """Offset of a line start, and how many empty lines go before and after.

    After the last unconditional #include above the code, else after the include guard, else
    above the first directive or code.
    """
    guard = include_guard(lexed)
    depth = 0 if guard is None else 1
    first_code = lexed.tokens[0].start if lexed.tokens else len(file.data)
    includes = [
        directive
        for directive in lexed.directives
        if directive.name == b"include"
        and directive.start < first_code
        and len(conditions.arm(directive.start).group) == depth
    ]
    if includes:
        return file.line_end(includes[-1].end), 0, 0
    if guard is not None:
        return file.line_end(guard.end), 1, 0
    starts = [first_code, *(directive.start for directive in lexed.directives[:1])]
    return file.line_start(min(starts)), 0, 1
