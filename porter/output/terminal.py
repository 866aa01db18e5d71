"""What `fvmkit port` says of a port on standard error."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from porter.judging.verdict import Status
from porter.ledger.acknowledged import OpenPlace, Settled
from porter.ledger.before import Ledger
from porter.output.port_report import assumptions, lines, summary, to_send, unseen_lines
from porter.output.vendor_report import vendor_lines
from porter.result import PortResult
from scanner.report.errors import MissingError

_COLOURS = {Status.REWRITTEN: "green", Status.LEFT: "cyan", Status.ESCALATED: "yellow"}


def tell_guess(result: PortResult, refused: bool) -> None:
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


def tell_ledger(ledger: Ledger, answered: Mapping[OpenPlace, str]) -> None:
    """How the legacy program and the port account for each other."""
    for it in ledger.open:
        person = answered.get(it.place)
        ending, why = ("overlooked", it.why) if person is None else ("acknowledged", person)
        line = f"{it.where}: {ending} {it.place.what} [{it.place.rule}] in {it.function}: {why}"
        click.secho(line, err=True, fg="red" if person is None else "cyan", color=colour())
    click.echo(f"fvmkit port: {ledger}", err=True)


def tell_result(result: PortResult, settled: Settled, is_verbose: bool) -> None:
    """Places for a person, or all of them, then what else is to be known, then the counts."""
    shown = tuple(Status) if is_verbose else (Status.ESCALATED,)
    for status in shown:
        for line in lines(result, status, settled.reasons):
            click.secho(line, err=True, fg=_COLOURS[status], color=colour())
    for line in vendor_lines(result):
        click.secho(line, err=True, fg="cyan", color=colour())
    for line in unseen_lines(result.unseen, is_verbose):
        click.secho(line, err=True, fg="yellow", color=colour())
    for failure in result.failures:
        click.secho(str(failure), err=True, fg="red", color=colour())
        if is_verbose:
            click.echo("".join(failure.trace), err=True, nl=False)
    for idle in settled.idle:
        click.echo(f"fvmkit port: acknowledges nothing any more: {idle}", err=True)
    for assumption in assumptions(result):
        click.echo(f"fvmkit port: {assumption}", err=True)
    if result.failures:
        click.echo(f"fvmkit port: {to_send(result)}", err=True)
    click.echo(f"fvmkit port: {summary(result, settled.reasons)}", err=True)


def colour() -> bool | None:
    """NO_COLOR switches colours off; otherwise click looks at the terminal."""
    return False if os.environ.get("NO_COLOR") else None
