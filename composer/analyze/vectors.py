"""Interrupts that the project serves itself."""

from __future__ import annotations

import re

from composer.analyze.model import Vector
from composer.analyze.switches import place
from porter.judging.vectors import RULE
from porter.port import Judged
from porter.project.vectors import CMSIS_HANDLER, FAULT_HANDLERS
from porter.source.source_file import SourceFile

_BY_NAME = re.compile(r"\w+_(?:isr|IRQHandler|Handler)|Vector[0-9A-F]{2,3}|ISR_\w+")
_NONE = frozenset({"Reset_Handler", "Default_Handler"})


def vectors_of(judged: Judged) -> tuple[Vector, ...]:
    """By the tables that are built; where there is none, by what handlers are called."""
    project = judged.docket.project
    numbers = {
        name: number
        for source in project.sources
        if project.knowledge.is_built(source.path)
        for table in project.tables[source.path]
        for number, name in sorted(table.handlers.items(), reverse=True)
    }
    found = [
        Vector(
            numbers.get(it.site.where),
            it.site.where,
            place(port.file, it.site.start),
            _conditions(judged, port.file, it.site.start),
        )
        for port in judged.docket.ports.values()
        for it in port.verdicts
        if it.rule == RULE
    ]
    if not numbers:
        found += _by_name(judged)
    return tuple(sorted(dict.fromkeys(found), key=lambda it: (it.number or 999, it.handler)))


def _conditions(judged: Judged, file: SourceFile, start: int) -> tuple[str, ...]:
    """What nobody knows of whether a handler is compiled."""
    knowledge = judged.docket.project.knowledge
    if file.is_asm or knowledge.was_asked(file.path) or not file.path.is_file():
        return ()
    return tuple(knowledge.text(file).conditions.arm(start).conditions)


def _by_name(judged: Judged) -> list[Vector]:
    """Functions with a handler's name that nothing in the program calls."""
    found = []
    for unit in judged.docket.units.values():
        tokens = unit.text.balanced
        for name, body, _ in unit.text.functions:
            function = name.decode("latin-1")
            if function in _NONE or not (
                CMSIS_HANDLER.fullmatch(function)
                or function in FAULT_HANDLERS
                or _BY_NAME.fullmatch(function)
            ):
                continue
            if not unit.text.file.is_header:
                found.append(Vector(None, function, place(unit.file, tokens[body].start)))
    return found
