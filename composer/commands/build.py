"""`fvmkit build`: compile every domain of a composed system."""

from __future__ import annotations

import re
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

    def progress(line: str) -> None:
        # The makefiles name each file after two blanks; the rest are parts and tools speaking.
        if not (quiet and re.match(r"  \S", line)):
            click.echo(line, err=True)

    build_system(folder.resolve(), progress)
