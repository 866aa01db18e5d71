"""What `fvmkit port` does once its command line is understood."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from porter.judging.verdict import Status
from porter.ledger.acknowledged import OpenPlace, Settled, settle
from porter.ledger.before import Ledger, compare
from porter.ledger.open_places import escalated, settle_port
from porter.ledger.own_build import build_program
from porter.ledger.program import read_program
from porter.ledger.recorded import record_of
from porter.output.apply_transaction import Change, apply_changes
from porter.output.out_folder import write_copy
from porter.output.port_report import as_json, assumptions, lines, summary, unseen_lines
from porter.output.unified_diff import unified_diff
from porter.port import Progress, port_project
from porter.project.domain import read_domain
from porter.project.request import NOTHING_MORE
from porter.project.request import Request as ProjectRequest
from porter.result import PortResult
from scanner.report.errors import FvmError, MissingError

_GARBAGE_AFTER = 200_000  # objects; nearly all of a program's live to the end
_QUIET_SECONDS = 2.0  # work that takes longer says what it is doing
_COLOURS = {Status.REWRITTEN: "green", Status.LEFT: "cyan", Status.ESCALATED: "yellow"}


@dataclass(frozen=True)
class Request:
    """The command line."""

    project: Path
    domain: Path | None
    diff: Path | None
    out: Path | None
    in_place: bool
    force: bool
    check: bool
    json: bool
    verbose: bool
    cpu: tuple[str, ...] = ()
    no_guess: bool = False
    elf: Path | None = None
    build: bool = False
    project_request: ProjectRequest = NOTHING_MORE
    core_clock: int | None = None


def run(request: Request) -> int:
    """Port and write what was asked for; returns the exit status."""
    gc.set_threshold(_GARBAGE_AFTER)
    domain = read_domain(request.domain) if request.domain is not None else None
    progress = _progress()
    program = read_program(request.elf, domain) if request.elf is not None else None
    if request.build:
        progress("building a copy of the project")
        program = build_program(request.project, domain)
    excluded = [request.out] if request.out is not None else []
    result = port_project(
        request.project,
        domain,
        excluded,
        progress,
        request.cpu,
        request.project_request,
        request.core_clock,
    )
    if result.guessed_cpu:
        _guessed(result, request.no_guess)
    given = domain.acknowledged if domain is not None else ()
    settled = settle_port(result, given)
    ledger = compare(result, program, domain) if program is not None else None
    overlooked = tuple(it.place for it in ledger.open) if ledger is not None else ()
    answered = settle(overlooked, given).reasons
    _report(result, request, settled, ledger)
    if ledger is not None:
        _tell(ledger, answered)
    is_open = any(place not in settled.reasons for _, place in escalated(result))
    is_open |= any(place not in answered for place in overlooked) or result.is_unseen
    changed = any(port.edits for port in result.files)
    if request.check:
        return 1 if changed or is_open else 0
    if request.out is not None:
        write_copy(result, request.out, request.force, record_of(result, overlooked))
    elif request.in_place:
        apply_changes(result.root, _changes(result), request.force)
    elif request.diff is not None:
        _write(request.diff, _diff(result))
    elif not request.json:
        sys.stdout.buffer.write(_diff(result))
        sys.stdout.buffer.flush()
    return 1 if is_open else 0


def _changes(result: PortResult) -> list[Change]:
    """Each edited file once, whatever links lead to it. Raises FvmError for one outside."""
    changes: dict[Path, Change] = {}
    for port in result.files:
        path = port.file.path.resolve()
        if port.edits and not path.is_relative_to(result.root):
            raise FvmError(
                f"leads out of the project, to {path}: nothing was changed",
                file=port.file.path,
                hint="use --out, which edits a copy",
            )
        if port.edits:
            before = None if port.is_new else port.file.data
            changes[path] = Change(path, before, port.ported)
    return list(changes.values())


def _diff(result: PortResult) -> bytes:
    return b"".join(unified_diff(port.file, port.edits, port.is_new) for port in result.files)


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise FvmError(f"can't be written: {error.strerror}", file=path) from error


def _guessed(result: PortResult, refused: bool) -> None:
    """Raises MissingError where a guess isn't wanted."""
    guess = " ".join(result.guessed_cpu)
    nobody = "no makefile, compile_commands.json or project file says for which core it is compiled"
    if refused:
        raise MissingError(nobody, file=result.root, hint="say it by --cpu or --domain")
    click.echo(
        f"fvmkit port: {nobody}: registers and context switches were taken for those of '{guess}', "
        "a guess; --cpu or --domain says it, --no-guess refuses",
        err=True,
    )


def _tell(ledger: Ledger, answered: Mapping[OpenPlace, str]) -> None:
    """How the legacy program and the port account for each other."""
    for it in ledger.open:
        person = answered.get(it.place)
        ending, why = ("overlooked", it.why) if person is None else ("acknowledged", person)
        line = f"{it.where}: {ending} {it.place.what} [{it.place.rule}] in {it.function}: {why}"
        click.secho(line, err=True, fg="red" if person is None else "cyan", color=_colour())
    click.echo(f"fvmkit port: {ledger}", err=True)


def _report(result: PortResult, request: Request, settled: Settled, ledger: Ledger | None) -> None:
    shown = tuple(Status) if request.verbose else (Status.ESCALATED,)
    for status in shown:
        for line in lines(result, status, settled.reasons):
            click.secho(line, err=True, fg=_COLOURS[status], color=_colour())
    for line in unseen_lines(result.unseen, request.verbose):
        click.secho(line, err=True, fg="yellow", color=_colour())
    for idle in settled.idle:
        click.echo(f"fvmkit port: acknowledges nothing any more: {idle}", err=True)
    for assumption in assumptions(result):
        click.echo(f"fvmkit port: {assumption}", err=True)
    click.echo(f"fvmkit port: {summary(result, settled.reasons)}", err=True)
    if request.json:
        click.echo(as_json(result, settled.reasons, ledger), nl=False)


def _colour() -> bool | None:
    """NO_COLOR switches colours off; otherwise click looks at the terminal."""
    return False if os.environ.get("NO_COLOR") else None


def _progress() -> Progress:
    """Says every two seconds what is being done."""
    shown = time.monotonic()

    def show(message: str) -> None:
        nonlocal shown
        if time.monotonic() - shown > _QUIET_SECONDS:
            shown = time.monotonic()
            click.echo(f"fvmkit port: {message} ...", err=True)

    return show
