"""`fvmkit split`: interrupt handlers in three sections."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("project", type=click.Path(path_type=Path))
@click.option(
    "--domain",
    "domain_file",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE.domain.json",
    help="What the machine grants and how its lines are split, written by compose.",
)
@click.option(
    "--out",
    "out_folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write the mid-sections there, as sources of their process.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file would change.")
@click.option("--json", "as_json", is_flag=True, help="Print the sections as JSON.")
def split(
    project: Path, domain_file: Path, out_folder: Path | None, check: bool, as_json: bool
) -> int:
    """Split interrupt handlers of a legacy project into three sections.

    PROJECT is the legacy project as it is before `fvmkit port`, which edits the handlers to
    match. Without --out, prints every statement of each handler with its section, what goes
    between the sections, and who writes which register. Exit status: 0 done; 1 a handler can't
    be split and stays whole, or --check found something to change; 2 wrong usage or a missing
    file; 3 internal error.
    """
    from porter.interrupt_split.command import run

    if check and out_folder is None:
        raise click.UsageError("--check compares with the files in --out")
    return run(project, domain_file, out_folder, as_json, check)
