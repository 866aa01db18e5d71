"""What is lost with the start-up file, whose place the generated one takes: context switches and
other handlers in it, functions that other files call, and calls of functions of the project."""

from __future__ import annotations

from collections.abc import Sequence, Set
from itertools import pairwise

from porter.flow.barriers import BARRIERS
from porter.judging.docket import Docket
from porter.judging.verdict import Status, Verdict
from porter.program.start_calls import calls_in_assembler, calls_in_c, entry_of
from porter.program.staying import START_UP
from porter.project.vectors import PENDSV, RESET, SVC
from porter.sites.site import Site, SiteKind
from porter.source.asm_text import (
    Instruction,
    dialect_of,
    global_names,
    instructions,
    weak_names,
)
from porter.source.source_file import SourceFile

_LOST = (
    "stands in the start-up file, whose place the generated one takes: move it to a file of its own"
)
_NO_CODE = frozenset({"", "b", "bx", "j", "bkpt", "ebreak", "nop", "wfi"})  # waits for ever
_RULE = "start-up"
_BARRIERS = frozenset(it.decode() for it in BARRIERS)
"""For registers that the machine doesn't have."""


def judge_start_up(docket: Docket) -> None:
    """A start-up file has no context switch of the machine's, and calls nothing of the project's
    but what the generated one calls."""
    _judge_switches(docket)
    _judge_assembler(docket)
    project = docket.project
    for source in project.sources:
        if project.staying.get(source.path) not in START_UP:
            continue
        served = _served(docket, source)
        calls = list(
            calls_in_assembler(source, served)
            if source.is_asm
            else calls_in_c(project.knowledge.lexed(source), served)
        )
        defined = set(project.definitions({it.name for it in calls}))
        last = entry_of((it.name for it in calls), defined)
        own = _labels(source) if source.is_asm else set()
        lost = defined - own - _BARRIERS
        lost -= {"SystemInit", project.entry}  # which the generated one calls
        docket.add(
            source,
            [
                Verdict(
                    Site(source.name, it.start, it.end, SiteKind.CALL, it.name),
                    Status.ESCALATED,
                    _RULE,
                    _not_called(it.name, project.entry, it.name == last),
                )
                for it in calls
                if it.name in lost
            ],
        )


def _labels(source: SourceFile) -> set[str]:
    return {it.label for it in instructions(source.data, dialect_of(source.data)) if it.label}


def _served(docket: Docket, source: SourceFile) -> dict[str, int]:
    """Exceptions by the names of their handlers, as a file's own vector table has them."""
    return {
        name: number
        for table in docket.project.tables[source.path]
        for number, name in table.handlers.items()
    }


def _not_called(name: str, entry: str, may_be_entry: bool) -> str:
    advice = (
        f'if the program begins with it, write entry="{name}" into its <project>; else call it'
        " from there"
        if may_be_entry
        else "call it from there"
    )
    return (
        f"{name} isn't called any more: the generated start-up takes this file's place, and calls "
        f"SystemInit() and {entry}(); {advice}"
    )


def _judge_switches(docket: Docket) -> None:
    vectors = docket.project.vectors
    lost = {
        verdict.site: Verdict(
            verdict.site,
            Status.ESCALATED,
            verdict.rule,
            f"{verdict.site.where} {_LOST}, where it is transcribed",
        )
        for verdict in docket.verdicts()
        if verdict.reason in START_UP and vectors.served_by([verdict.site.where]) & {SVC, PENDSV}
    }
    docket.change(lost)


def _judge_assembler(docket: Docket) -> None:
    """Handlers and functions of a start-up file in assembler that nobody else has."""
    project = docket.project
    told = {it.site.where for it in docket.verdicts() if _LOST in it.reason}
    for source in project.sources:
        if project.staying.get(source.path) not in START_UP or not source.is_asm:
            continue
        parts = list(instructions(source.data, dialect_of(source.data)))
        labels = {it.label for it in parts if it.label}
        seen, weak = global_names(parts), weak_names(parts)
        served = _served(docket, source)
        starts = [
            number
            for number, it in enumerate(parts)
            if it.label and (it.label in served or it.label in seen)
        ]
        names = {parts[number].label or "" for number in starts}
        elsewhere = project.definitions(names)
        lost = []
        for first, last in pairwise([*starts, len(parts)]):
            name = parts[first].label or ""
            if name in (*elsewhere, *told, *weak) or served.get(name) == RESET:
                continue
            body = [it for it in parts[first:last] if not it.mnemonic.startswith(".")]
            if not _does_something(body, labels):
                continue
            if name in served or _is_called(docket, name):
                site = Site(source.name, parts[first].start, parts[first].end, SiteKind.CALL, name)
                lost.append(Verdict(site, Status.ESCALATED, _RULE, f"{name} {_LOST}"))
        docket.add(source, lost)


def _does_something(body: Sequence[Instruction], labels: Set[str]) -> bool:
    """Whether code does more than to wait for ever, or to return."""
    return any(
        it.mnemonic not in _NO_CODE
        or (it.mnemonic in ("b", "j") and it.operands and it.operands[-1] not in {*labels, "."})
        for it in body
        if it.label is None
    )


def _is_called(docket: Docket, name: str) -> bool:
    """Whether C of the project names a function."""
    word = name.encode("latin-1")
    project = docket.project
    return any(
        word in source.data
        and any(it.text == word for it in project.knowledge.lexed(source).tokens)
        for source in project.sources
        if not source.is_asm and project.staying.get(source.path) is None
    )
