"""`fvmkit verify`: may this image be flashed?"""

from __future__ import annotations

import os
from pathlib import Path

import click


@click.command()
@click.argument("image", metavar="IMAGE", type=click.Path(path_type=Path))
@click.option(
    "--system",
    "description",
    metavar="FILE.xml",
    required=True,
    type=click.Path(path_type=Path),
    help="The description that the image was composed from.",
)
@click.option(
    "--manifest",
    metavar="FILE.json",
    type=click.Path(path_type=Path),
    help="What link wrote beside the image  [default: IMAGE with .json]",
)
@click.option(
    "--without-parts",
    is_flag=True,
    help="Accept an image whose parts' ELFs can't be opened: you vouch for the manifest.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of text.")
def verify(
    image: Path, description: Path, manifest: Path | None, without_parts: bool, as_json: bool
) -> int:
    """Check a finished IMAGE (.elf, .hex or .bin of fvmkit link) before it is flashed.

    Shares no code with what made the image: tables, vectors and code are decoded from its
    own bytes and compared with the description, and its code with the parts' ELFs, which the
    manifest leads to. Exit status: 0 it may be flashed, 1 it may
    not, 2 a file can't be opened, 3 internal error.

    \b
    Examples:
      fvmkit verify build/demo/image/system.elf --system examples/two-legacy-mcus/system.xml
      fvmkit verify system.hex --system system.xml --json
    """
    from composer.verify.verify import verify as verify_image

    report = verify_image(image, description, manifest, without_parts=without_parts)
    if as_json:
        click.echo(report.json(), nl=False)
    else:
        colour = False if os.environ.get("NO_COLOR") else None
        for good, line in report.text():
            click.echo(click.style(line, fg=None if good else "red"), color=colour)
    return 0 if report.ok else 1
