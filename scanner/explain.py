"""The command `fvmkit explain`."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from difflib import get_close_matches

import click

from scanner.catalogue import Entry, catalogue
from scanner.report.errors import MissingError

_WIDTH = 96
_PARTS = (("Why", "why"), ("Hardware", "hardware"), ("To fix", "fix"), ("Manual", "manual"))


@click.command(short_help="Teach a rule of the scanner.")
@click.argument("rule", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document.")
def explain(rule: str | None, as_json: bool) -> None:
    """Say why a rule of `fvmkit scan` is one, what hardware does, and how to fix what breaks it.

    Without RULE every rule is listed.

    \b
    Examples:
      fvmkit explain
      fvmkit explain msr
    """
    known = catalogue()
    rule = None if rule is None else rule.lower()
    if rule is not None and rule not in known:
        near = get_close_matches(rule, known, 1)
        hint = f"perhaps '{near[0]}'; " if near else ""
        raise MissingError(
            f"there is no rule '{rule}'", hint=f"{hint}`fvmkit explain` lists all of them"
        )
    entries = [entry for name in ([rule] if rule else known) for entry in known[name]]
    if as_json:
        rules = [asdict(entry) for entry in entries]
        click.echo(json.dumps({"schema": 1, "rules": rules}, indent=2))
    elif rule is None:
        for entry in entries:
            click.echo(f"{entry.rule:16} {_where(entry)}: {entry.why}")
    else:
        for entry in entries:
            click.echo("\n".join(_lines(entry)))


def _where(entry: Entry) -> str:
    return ", ".join(entry.cores) or "every file"


def _lines(entry: Entry) -> Iterator[str]:
    yield f"{entry.rule} ({_where(entry)})"
    for title, part in _PARTS:
        indent = " " * 12
        text = textwrap.fill(getattr(entry, part), _WIDTH, initial_indent=indent,
                             subsequent_indent=indent)  # fmt: skip
        yield f"  {title + ':':9} {text.lstrip()}"
