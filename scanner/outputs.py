"""Where the reports of one call go: one to stdout or a file, more to files of their own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from scanner.report import text
from scanner.report.errors import MissingError
from scanner.report.finding import Verdict
from scanner.report.formats import document
from scanner.report.run import Run

_ORDER: tuple[Verdict, ...] = ("accept", "warn", "reject")


@dataclass(frozen=True)
class Outputs:
    """`form` goes to `file`, or to stdout without one; `more` are formats and their files.

    With `github` annotations follow on stdout. Text lists `every` finding, or the first of each
    kind, with `why` the path to each; `least` is the mildest verdict that it speaks of.
    """

    form: str
    file: str | None
    more: tuple[tuple[str, str], ...] = ()
    github: bool = False
    every: bool = False
    why: bool = False
    least: Verdict = "accept"

    def write(self, run: Run) -> None:
        """Everything that is asked for. Raises MissingError where a file can't be written."""
        if self.form != "text":
            self._put(document(self.form, run))
        elif self.file is not None:
            self._put("".join(f"{line}\n" for _, line in self._lines(run)))
        else:
            for verdict, line in self._lines(run):
                click.echo(click.style(line, fg=text.COLOURS[verdict]), color=_colour())
        for form, file in self.more:
            _write(file, document(form, run))
        if self.github:
            click.echo(document("github", run), nl=False)

    def _put(self, content: str) -> None:
        if self.file is None:
            click.echo(content, nl=False)
        else:
            _write(self.file, content)

    def _lines(self, run: Run) -> Iterator[tuple[Verdict, str]]:
        mildest = _ORDER.index(self.least)
        lines: Iterable[tuple[Verdict, str]] = text.render(run, self.every, self.why)
        return ((verdict, line) for verdict, line in lines if _ORDER.index(verdict) >= mildest)


def _write(file: str, content: str) -> None:
    try:
        Path(file).write_text(content, encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise MissingError(f"can't write: {error.strerror}", file=file) from None


def _colour() -> bool | None:
    """None lets click decide by whether stdout is a terminal."""
    return False if os.environ.get("NO_COLOR") else None
