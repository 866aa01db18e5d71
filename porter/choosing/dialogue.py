"""Asks piece by piece which of a port shall be made, as `git add -p` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from porter.choosing.chosen import without
from porter.choosing.pieces import Piece, pieces, scope_of
from porter.output.terminal import colour
from porter.output.unified_diff import unified_diff
from porter.result import PortResult

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_HELP = """\
y - make this change
n - don't; what the guest needs of it is escalated as declined by you
a - make this one and all later ones in {scope}
d - make neither this one nor a later one in {scope}
q - stop: make what was accepted so far and nothing else
? - this help
Ctrl-C ends the command, and nothing is written."""


def is_terminal() -> bool:
    """Whether somebody is there to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def choose(result: PortResult) -> PortResult:
    """The port with what a person accepts of it. Raises click.Abort where the person gives up."""
    declined: list[Piece] = []
    settled: dict[str, bool] = {}
    has_quit = False
    found = pieces(result)
    for number, piece in enumerate(found, 1):
        scope = scope_of(piece, result)
        if has_quit or scope in settled:
            is_wanted = settled.get(scope, False) and not has_quit
        else:
            answer = _ask(piece, scope, f"({number}/{len(found)})")
            is_wanted, has_quit = answer in "ya", answer == "q"
            if answer in "ad":
                settled[scope] = is_wanted
        if not is_wanted:
            declined.append(piece)
    return without(result, declined)


def _ask(piece: Piece, scope: str, number: str) -> str:
    for line in _diff(piece):
        click.secho(line, err=True, fg=_COLOURS.get(line[:1]), color=colour())
    for line in _reasons(piece):
        click.echo(line, err=True)
    while True:
        answer: str = click.prompt(
            f"{number} Make this change [y,n,a,d,q,?]?",
            type=click.Choice(tuple("ynadq?")),
            show_choices=False,
            prompt_suffix=" ",
            err=True,
        )
        if answer != "?":
            return answer
        click.echo(_HELP.format(scope=scope), err=True)


def _diff(piece: Piece) -> Iterator[str]:
    for part in piece.parts:
        diff = unified_diff(part.port.file, part.edits, part.port.is_new)
        for line in diff.decode("utf-8", "replace").splitlines():
            yield "".join(it if it.isprintable() or it == "\t" else "?" for it in line)


def _reasons(piece: Piece) -> Iterator[str]:
    """Why each place of it is edited, a reason once."""
    told = set()
    for part in piece.parts:
        file = part.port.file
        for verdict in part.verdicts:
            reason = verdict.rule, verdict.reason
            if reason not in told:
                told.add(reason)
                line = file.line(verdict.site.start)
                what = f"{file.name}:{line}: {verdict.site.what}"
                yield f"{what} [{verdict.rule}]: {verdict.reason}"
    if not told:
        yield "tidying: nothing of the port needs it"
