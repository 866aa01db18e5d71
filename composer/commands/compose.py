"""`fvmkit compose`: lay out a system and generate its files."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("description", type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Output folder."
)
def compose(description: Path, out: Path) -> None:
    """Lay out the system of DESCRIPTION and generate what its parts are built from.

    Prints the memory map. Sizes come from the description; where a built ELF lies in the output
    folder, its real size is shown, and one that doesn't fit is an error. Files that didn't change
    keep their time stamps.
    """
    from composer.description.advice import advice
    from composer.description.kept_options import option_advice
    from composer.description.parse import parse
    from composer.emit.generate import generate
    from composer.layout.report import memory_map
    from composer.layout.used import used_sizes
    from composer.resolve import resolve
    from porter.output.generated import write_all

    folder = out.resolve()
    plan = resolve(parse(description), folder)
    used = used_sizes(plan, folder)
    texts = generate(plan, folder)
    changed = write_all(folder, texts)
    click.echo(memory_map(plan, used))
    click.echo(f"{len(changed)} of {len(texts)} files written to {out}", err=True)
    for line in advice(plan.system, plan.chip) + option_advice(plan.system):
        click.secho(f"warning: {line}", fg="yellow", err=True)
