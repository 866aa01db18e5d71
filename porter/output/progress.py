"""What long work says of itself."""

from __future__ import annotations

import time
from collections.abc import Callable

import click

_QUIET_SECONDS = 2.0


def progress(command: str) -> Callable[[str], None]:
    """Says every two seconds on standard error what a command is doing."""
    shown = time.monotonic()

    def show(message: str) -> None:
        nonlocal shown
        if time.monotonic() - shown > _QUIET_SECONDS:
            shown = time.monotonic()
            click.echo(f"fvmkit {command}: {message} ...", err=True)

    return show
