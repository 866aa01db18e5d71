"""What is lost with the start-up file, whose place the generated one takes: context switches in it,
and calls of functions of the project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from porter.judging.docket import Docket
from porter.judging.verdict import Status, Verdict
from porter.program.functions import functions_in
from porter.program.staying import START_UP
from porter.project.vectors import PENDSV, RESET, SVC
from porter.sites.site import Site, SiteKind
from porter.source.asm_text import dialect_of, instructions
from porter.source.balanced import balanced
from porter.source.c_lexer import LexedSource
from porter.source.source_file import SourceFile

_LOST = (
    "stands in the start-up file, whose place the generated one takes: move it to a file of its "
    "own, where it is transcribed"
)
_RULE = "start-up"
_CALLED = frozenset({"main", "SystemInit"})  # by the generated one
_JUMPS = frozenset({"b", "bl", "blx", "call", "j", "jal", "tail", "la"})


def judge_start_up(docket: Docket) -> None:
    """A start-up file has no context switch of the machine's, and calls nothing of the project's
    but what the generated one calls."""
    _judge_switches(docket)
    project = docket.project
    for source in project.sources:
        if project.staying.get(source.path) not in START_UP:
            continue
        served = {
            name: number
            for table in project.tables[source.path]
            for number, name in table.handlers.items()
        }
        calls = list(
            _calls_in_asm(source, served)
            if source.is_asm
            else _calls_in_c(source, project.knowledge.lexed(source), served)
        )
        defined = project.definitions({site.what for site in calls} - _CALLED)
        docket.add(
            source,
            [
                Verdict(
                    site,
                    Status.ESCALATED,
                    _RULE,
                    f"{site.what} isn't called any more: the generated start-up takes this file's "
                    "place, and calls SystemInit() and main(); call it from there",
                )
                for site in calls
                if site.what in defined
            ],
        )


def _calls_in_asm(file: SourceFile, served: Mapping[str, int]) -> Iterator[Site]:
    """Those that no handler makes; `served`: exceptions by the names of their handlers."""
    around = RESET
    for it in instructions(file.data, dialect_of(file.data)):
        around = served.get(it.label or "", around)
        if around != RESET:
            continue
        name = it.operands[-1] if it.operands else ""
        is_loaded = it.mnemonic == "ldr" and name.startswith("=")  # for blx
        if it.mnemonic in _JUMPS or is_loaded:
            yield Site(file.name, it.start, it.end, SiteKind.CALL, name.lstrip("= "))


def _calls_in_c(file: SourceFile, lexed: LexedSource, served: Mapping[str, int]) -> Iterator[Site]:
    """Names in the function that starts the program."""
    tokens = balanced(lexed)
    for name, start, end in functions_in(tokens):
        if served.get(name.decode("latin-1")) == RESET:
            for token in tokens[start:end]:
                if token.kind == "identifier":
                    what = token.text.decode("latin-1")
                    yield Site(file.name, token.start, token.end, SiteKind.CALL, what)


def _judge_switches(docket: Docket) -> None:
    vectors = docket.project.vectors
    lost = {
        verdict.site: Verdict(
            verdict.site, Status.ESCALATED, verdict.rule, f"{verdict.site.where} {_LOST}"
        )
        for verdict in docket.verdicts()
        if verdict.reason in START_UP and vectors.served_by([verdict.site.where]) & {SVC, PENDSV}
    }
    docket.change(lost)
