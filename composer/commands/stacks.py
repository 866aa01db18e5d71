"""`fvmkit stacks`: how deep every stack went."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("target", metavar="DIR|IMAGE", type=click.Path(path_type=Path))
@click.option(
    "--ram",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="All of the RAM, from fvmkit run --dump-ram or OpenOCD's dump_image.",
)
def stacks(target: Path, ram: Path) -> int:
    """Say how much of every stack was used since its domain last started.

    Reads a dump of the RAM that was taken while the image was running, or after. A stack that is
    used to more than 90 % is a warning; one that overflowed ends with exit status 1.
    """
    from composer.report.material import gather
    from composer.report.stacks import read_stacks

    material = gather(target, ram=ram)
    found = read_stacks(material.plan, material.system, material.ram or b"", ram)
    click.echo(f"{'part':20} {'stack':20} {'size':>6} {'used':>6}")
    for stack in found:
        click.echo(
            f"{stack.part:20} {stack.name:20} {stack.size:6} {stack.used:6} {stack.percent:4} %"
        )
    for stack in found:
        if stack.overflowed:
            click.secho(
                f"error: the stack {stack.name} of {stack.part} overflowed; give it more than"
                f" {stack.size} bytes in the description",
                fg="red",
                err=True,
            )
        elif stack.tight:
            click.secho(
                f"warning: the stack {stack.name} of {stack.part} is used to {stack.percent} %",
                fg="yellow",
                err=True,
            )
    return 1 if any(stack.overflowed for stack in found) else 0
