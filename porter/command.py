"""What `fvmkit port` does once its command line is understood."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from porter.choosing.dialogue import choose
from porter.failures import step
from porter.ledger.acknowledged import OpenPlace, settle
from porter.ledger.before import compare
from porter.ledger.open_places import escalated, settle_port
from porter.ledger.own_build import build_program
from porter.ledger.program import read_program
from porter.ledger.recorded import record_of
from porter.output.apply_transaction import Change, apply_changes
from porter.output.json_report import as_json
from porter.output.out_folder import write_copy
from porter.output.progress import progress
from porter.output.terminal import tell_guess, tell_ledger, tell_result
from porter.output.whole_diff import whole_diff
from porter.port import port_project
from porter.project.domain import read_domain
from porter.project.request import NOTHING_MORE
from porter.project.request import Request as ProjectRequest
from porter.result import PortResult
from scanner.report.errors import FvmError

_FAILED = 3  # the exit status of an error of fvmkit itself
_GARBAGE_AFTER = 200_000  # objects; nearly all of a program's live to the end


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
    interactive: bool = False
    jobs: int = 1

    @property
    def edits_project(self) -> bool:
        """Whether the project's own files are what is written."""
        return self.in_place or (self.interactive and self.diff is None and self.out is None)


def run(request: Request) -> int:
    """Port and write what was asked for; returns the exit status."""
    gc.set_threshold(_GARBAGE_AFTER)
    domain = read_domain(request.domain) if request.domain is not None else None
    tell = progress("port")
    program = read_program(request.elf, domain) if request.elf is not None else None
    if request.build:
        tell("building a copy of the project")
        program = build_program(request.project, domain)
    excluded = [request.out] if request.out is not None else []
    result = port_project(
        request.project,
        domain,
        excluded,
        tell,
        request.cpu,
        request.project_request,
        request.core_clock,
        request.jobs,
    )
    if result.guessed_cpu:
        tell_guess(result, request.no_guess)
    if request.interactive and not (result.failures and request.edits_project):
        result = choose(result)
    given = domain.acknowledged if domain is not None else ()
    settled = settle_port(result, given)
    with step("comparing the program with its port"):
        ledger = compare(result, program, domain) if program is not None else None
    overlooked = tuple(it.place for it in ledger.open) if ledger is not None else ()
    answered = settle(overlooked, given).reasons
    tell_result(result, settled, request.verbose)
    if request.json:
        click.echo(as_json(result, settled.reasons, ledger), nl=False)
    if ledger is not None:
        tell_ledger(ledger, answered)
    is_open = any(place not in settled.reasons for _, place in escalated(result))
    is_open |= any(place not in answered for place in overlooked) or result.is_unseen
    changed = any(port.edits for port in result.files)
    is_open |= request.check and changed
    _write(result, request, overlooked)
    return _FAILED if result.failures else int(is_open)


def _write(result: PortResult, request: Request, overlooked: tuple[OpenPlace, ...]) -> None:
    """What was asked for. Edits in place are all or none: none where a file failed."""
    if request.check:
        return
    if request.out is not None:
        write_copy(result, request.out, request.force, record_of(result, overlooked))
    elif request.edits_project and result.failures:
        click.echo("fvmkit port: --in-place edits all files or none: nothing was changed", err=True)
    elif request.edits_project:
        apply_changes(result.root, _changes(result), request.force)
    elif request.diff is not None:
        _write_file(request.diff, whole_diff(result))
    elif not request.json:
        sys.stdout.buffer.write(whole_diff(result))
        sys.stdout.buffer.flush()


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


def _write_file(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise FvmError(f"can't be written: {error.strerror}", file=path) from error
