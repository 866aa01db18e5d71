"""Assembler in a program: files, and statements in C."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

from composer.analyze.code import Stretch
from composer.analyze.model import Count
from porter.port import Judged
from porter.source.inline_asm import find_asm, is_asm_word

_OF_CMSIS = re.compile(r"(?:cmsis_|core_c)\w+\.h")


def assembler_of(judged: Judged, stretches: Sequence[Stretch]) -> tuple[Count, ...]:
    """Files in assembler that are built, with their lines; files of C with asm statements in code
    that runs."""
    project = judged.docket.project
    built = [it for it in project.sources if it.is_asm and project.knowledge.is_built(it.path)]
    found = [Count("line of assembler", it.data.count(b"\n"), (it.name,)) for it in built]
    inline: dict[str, list[str]] = {}
    for stretch in stretches:
        if _OF_CMSIS.match(stretch.file.path.name):
            continue  # its functions count where they are called
        is_asm = partial(is_asm_word, macros=stretch.text.evaluator.macros)
        for statement in find_asm(stretch.tokens, stretch.file.data, is_asm):
            line = stretch.file.line(statement.start)
            inline.setdefault(stretch.file.name, []).append(f"{stretch.file.name}:{line}")
    found += [Count("asm statement", len(lines), tuple(lines[:3])) for lines in inline.values()]
    return tuple(found)
