"""`fvmkit decode`: a fault record that somebody pasted, in words."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

FROM_HERE = Path("-")


@click.command()
@click.argument("dump", type=click.Path(path_type=Path))
@click.option(
    "--system",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Output folder of the system that ran  [default: this folder, if it is one]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def decode(dump: Path, folder: Path | None, as_json: bool) -> int:
    """Say in words what the fault records in DUMP mean; `-` reads what you paste.

    A record is a line `fvm: fault domain=...` of the kernel's log, or registers as fault handlers
    print them: `CFSR=00008200 BFAR=40000000 pc=08001234 lr=08000ABC`. Anything may stand around
    them. With the system that ran, addresses become functions, source lines and owners.
    """
    from composer.debug.decode import decode_record, decode_registers, describe
    from composer.debug.dump import as_text, find
    from composer.image.composed import SYSTEM_FILE, read_composed
    from composer.simulate.places import Places

    text = as_text(read(dump))
    if folder is None and Path(SYSTEM_FILE).exists():
        folder = Path(".")
    places = None
    if folder is not None:
        places = Places(read_composed(folder))
    records, dumps = find(text)
    decoded = [decode_record(found, places) for found in records]
    decoded += [decode_registers(registers, places) for registers in dumps]
    decoded.sort(key=lambda record: record.line)
    if as_json:
        report = {"schema": 1, "records": [record.as_json() for record in decoded]}
        click.echo(json.dumps(report, indent=1))
    else:
        for record in decoded:
            click.echo("\n".join(describe(record)))
    if not decoded:
        click.echo(
            f"fvmkit: {dump}: there is no fault record in it; paste the whole line"
            " `fvm: fault domain=...`, or CFSR and pc",
            err=True,
        )
        return 1
    if places is None:
        click.echo("--system DIR puts in functions, source lines and owners", err=True)
    return 0


def read(dump: Path) -> bytes:
    """What is to be decoded; MissingError when it can't be had."""
    from composer.debug.dump import MOST_BYTES
    from scanner.report.errors import MissingError

    if dump == FROM_HERE:
        if sys.stdin.isatty():
            click.echo("paste the record, then press Ctrl-D", err=True)
        return sys.stdin.buffer.read(MOST_BYTES)
    try:
        with dump.open("rb") as file:
            return file.read(MOST_BYTES)
    except OSError as error:
        raise MissingError(f"can't be opened: {error.strerror}", file=dump) from error
