"""Several serial lines on one screen: whole lines, each with the name of where it comes from."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

import click

from composer.simulate.log import clean

COLOURS = ("cyan", "green", "magenta", "blue", "yellow")
KERNEL_COLOUR = "bright_red"


def show(text: str, colour: str) -> None:
    """Print a line, coloured where that is wanted."""
    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    name, bar, rest = text.partition(" | ")
    click.echo(click.style(name + bar, fg=colour) + rest if coloured else text)
    sys.stdout.flush()


class Screen:
    """Collects bytes of each line and shows them line by line."""

    def __init__(self, names: list[str], write: Callable[[str, str], None] = show) -> None:
        self._width = max((len(name) for name in names), default=0)
        self._colour = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(names)}
        self._rest = dict.fromkeys(names, b"")
        self._write = write

    def feed(self, name: str, data: bytes) -> None:
        """Show the lines that `data` completes."""
        *lines, self._rest[name] = (self._rest[name] + data).split(b"\n")
        for line in lines:
            self.say(name, line.decode("utf-8", "replace").rstrip("\r"))

    def flush(self) -> None:
        """Show what waits for the end of its line: a prompt, say."""
        for name, rest in self._rest.items():
            if rest:
                self._rest[name] = b""
                self.say(name, rest.decode("utf-8", "replace"))

    def say(self, name: str, text: str) -> None:
        """One line in the name of somebody."""
        colour = self._colour.get(name, KERNEL_COLOUR)
        self._write(f"{name:{self._width}} | {clean(text)}", colour)
