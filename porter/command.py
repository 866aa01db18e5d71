"""What `fvmkit port` does once its command line is understood."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import click

from porter.output.apply_transaction import Change, apply_changes
from porter.output.out_folder import write_copy
from porter.output.port_report import as_json, lines, summary, unseen_lines
from porter.output.unified_diff import unified_diff
from porter.port import Progress, port_project
from porter.project.domain import read_domain
from porter.project.request import NOTHING_MORE
from porter.project.request import Request as ProjectRequest
from porter.result import PortResult
from porter.rules.verdict import Status
from scanner.report.errors import FvmError, MissingError

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
    project_request: ProjectRequest = NOTHING_MORE


def run(request: Request) -> int:
    """Port and write what was asked for; returns the exit status."""
    domain = read_domain(request.domain) if request.domain is not None else None
    excluded = [request.out] if request.out is not None else []
    result = port_project(request.project, domain, excluded, _progress(), request.cpu,
                          request.project_request)  # fmt: skip
    if result.guessed_cpu:
        _guessed(result, request.no_guess)
    _report(result, request)
    changed = any(port.edits for port in result.files)
    if request.check:
        return 1 if changed or result.needs_person else 0
    if request.out is not None:
        write_copy(result, request.out, request.force)
    elif request.in_place:
        apply_changes(result.root, _changes(result), request.force)
    elif request.diff is not None:
        _write(request.diff, _diff(result))
    elif not request.json:
        sys.stdout.buffer.write(_diff(result))
        sys.stdout.buffer.flush()
    return 1 if result.needs_person else 0


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


def _report(result: PortResult, request: Request) -> None:
    shown = tuple(Status) if request.verbose else (Status.ESCALATED,)
    for status in shown:
        for line in lines(result, status):
            click.secho(line, err=True, fg=_COLOURS[status], color=_colour())
    for line in unseen_lines(result.unseen, request.verbose):
        click.secho(line, err=True, fg="yellow", color=_colour())
    click.echo(f"fvmkit port: {summary(result)}", err=True)
    if request.json:
        click.echo(as_json(result), nl=False)


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
