"""`fvmkit report`: one page that shows a migrated system."""

from __future__ import annotations

from pathlib import Path

import click

_GENERATOR = b'<meta name="generator" content="fvmkit'


@click.command()
@click.argument("target", metavar="DIR|IMAGE", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    required=True,
    metavar="FILE.html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The page.",
)
@click.option(
    "--run",
    "recording",
    metavar="FILE.json",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A run to show: what fvmkit run --record wrote.",
)
@click.option(
    "--ram",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="All of the RAM, from fvmkit run --dump-ram or OpenOCD's dump_image: shows the stacks.",
)
@click.option(
    "--timeline",
    metavar="FILE.svg",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A picture of a run: what fvmkit run --trace FILE.svg wrote.",
)
def report(
    target: Path, out: Path, recording: Path | None, ram: Path | None, timeline: Path | None
) -> None:
    """Write one page on a linked system, to read, to print or to send.

    Shows what was ported and why, the memory map, every domain's protection regions as they are
    in the image, the way of each interrupt, the scanner's verdicts, and a recorded run with its
    restarts and stacks. The file needs neither network nor scripts.
    """
    from composer.image.replaceable import check_replaceable
    from composer.image.write import write_all
    from composer.report.material import gather
    from composer.report.page import page

    check_replaceable(out, "report", lambda content: _GENERATOR in content[:1000])
    text = page(gather(target, recording, ram, timeline), ram)
    write_all({out: text.encode("utf-8")})
    click.echo(f"wrote {out}")
