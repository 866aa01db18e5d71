"""`fvmkit init`: a first description from the projects themselves."""

from __future__ import annotations

from pathlib import Path

import click

from porter.output.progress import progress


@click.command()
@click.argument("projects", metavar="PROJECT...", nargs=-1, required=True,
                type=click.Path(path_type=Path))  # fmt: skip
@click.option("--chip", required=True, help="The chip that they shall share, as STM32F405RG.")
@click.option("--board", help="The board, where `fvmkit run` shall work.")
@click.option("-o", "--out", "out", required=True, help="Where to write it; - for standard output.")
@click.option("--force", is_flag=True, help="Overwrite a description that exists.")
@click.option("--json", "as_data", is_flag=True, help="Print what was found, and where, as JSON.")
def init(
    projects: tuple[Path, ...], chip: str, board: str | None, out: str, force: bool, as_data: bool
) -> int:
    """Write a first system description for the firmware in each PROJECT folder.

    Reads build files, linker scripts, a built ELF and the C sources; runs nothing but the
    compiler's preprocessor and `make --dry-run`. Every line says where it comes from, and what a
    person must decide is marked DECIDE. Ends with 1 when that is needed before `compose` works.
    """
    from composer.image.write import check_regular, write_all
    from composer.init.first import first_description
    from composer.init.summary import as_json, summary
    from scanner.report.errors import FvmError, MissingError

    if out == "-" and as_data:
        raise MissingError("-o - and --json both want standard output", hint="give -o a file")
    target = Path("system.xml" if out == "-" else out)
    if out != "-":
        check_regular(target)
        if target.exists() and not force:
            raise FvmError("exists already", file=target, hint="use --force to write it anew")
    found = first_description(projects, chip, board, target, progress("init"))
    if out == "-":
        click.echo(found.text, nl=False)
    else:
        write_all({target: found.text.encode()})
    click.echo(summary(found, out), err=True)
    if as_data:
        click.echo(as_json(found, out), nl=False)
    if found.problem is not None:
        click.echo(f"fvmkit: {found.problem}", err=True)
        return 1
    return 0
