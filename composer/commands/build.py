"""`fvmkit build`: compile every domain of a composed system."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("-q", "--quiet", is_flag=True, help="Name only the parts, not every file.")
def build(folder: Path, quiet: bool) -> None:
    """Compile and link the kernel, the hypervisor and every domain in DIR.

    DIR is the output folder of compose. Only what changed is built.
    """
    from composer.build import build as build_system
    from scanner.report.errors import FvmError

    def progress(line: str) -> None:
        if not (quiet and line.startswith(" ")):
            click.echo(line, err=True)

    failures = build_system(folder.resolve(), progress)
    for failure in failures:
        click.echo(failure.output.rstrip(), err=True)
    if failures:
        names = ", ".join(f"'{failure.part}'" for failure in failures)
        raise FvmError(f"{names} didn't build", hint="correct what the compiler says above")
