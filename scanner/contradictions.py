"""Options that exclude each other. What the command line says wins over a file of settings."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from scanner.filters import both
from scanner.image.load import no_program

_PAIRS = (
    ("baseline", "write_baseline"),
    ("as_json", "form"),
    ("quiet", "every"),
    ("no_config", "config"),
)
_NOT_GIVEN = {"form": "text", "as_json": False, "quiet": False, "every": False, "no_config": False}
"""What stands for an option of the settings that the command line excludes; else None."""

_FILES = ("output", "sarif", "html", "comment", "write_baseline")
_BEGINNING = 4096
_READ = ("policy", "waivers", "baseline")


class ScanCommand(click.Command):
    """A command that has looked at its options together before it begins."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse, then refuse what can't be meant."""
        rest = super().parse_args(ctx, args)
        if not ctx.resilient_parsing:
            _check(ctx)
        return rest


def _check(context: click.Context) -> None:
    values = context.params
    for pair in _PAIRS:
        if all(_given(context, name) for name in pair):
            _exclude(context, pair)
    form = "json" if values["as_json"] else values["form"]
    if values["quiet"] and form != "text":
        raise click.UsageError(f"--quiet is for text; --format {form} is one whole document")
    if values["every"] and form != "text":
        raise click.UsageError(f"--all is for text; --format {form} has all findings anyway")
    if values["github"] and form == "github":
        raise click.UsageError("--github and --format github would write the same twice")
    if values["github"] and form != "text" and values["output"] is None:
        text = f"--github would write into the document of --format {form}; give that -o FILE"
        raise click.UsageError(text)
    for first, second in (("rules", "ignored_rules"), ("paths", "ignored_paths")):
        for one in both(values[first], values[second]):
            raise click.UsageError(f"'{one}' is both wanted and left out")
    _check_files(values)


def _is_program(path: str) -> bool:
    """Whether a report would replace what was meant to be scanned."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as stream:
        return no_program(stream.read(_BEGINNING)) is None


def _given(context: click.Context, name: str) -> bool:
    default = context.get_parameter_source(name) in (ParameterSource.DEFAULT, None)
    return not default and bool(context.params[name])


def _exclude(context: click.Context, pair: Sequence[str]) -> None:
    settings = [
        name for name in pair if context.get_parameter_source(name) == ParameterSource.DEFAULT_MAP
    ]
    if len(settings) == 1:
        context.params[settings[0]] = _NOT_GIVEN.get(settings[0])
        return
    if pair == ("as_json", "form") and context.params["form"] == "json":
        return
    options = {one.name: max(one.opts, key=len) for one in context.command.params}
    names = " and ".join(options[name] for name in pair)
    raise click.UsageError(f"{names} exclude each other")


def _check_files(values: dict[str, Any]) -> None:
    """No file is written twice, nor over what is read."""
    taken = {os.path.realpath(file): "scanned" for file in values["files"]}
    taken |= {os.path.realpath(values[name]): "read" for name in _READ if values[name]}
    for name in _FILES:
        if values[name] is None:
            continue
        path = os.path.realpath(values[name])
        if path in taken:
            raise click.UsageError(f"'{values[name]}' would be written and is {taken[path]}, too")
        if name != "write_baseline" and _is_program(path):
            raise click.UsageError(f"'{values[name]}' is a program: it isn't overwritten")
        taken[path] = "written by another option"
