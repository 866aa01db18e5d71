"""`fvmkit link`: join the built domains into one image."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click


def table(manifest: dict[str, Any]) -> str:
    """How much of its flash and RAM each part uses."""
    lines = [f"{'part':20} {'flash used / granted':>22} {'RAM used / granted':>22}"]
    for part in manifest["parts"]:
        flash, ram = (
            f"{part[kind]['used']} / {part[kind]['granted']}" for kind in ("flash", "ram")
        )
        lines.append(f"{part['name']:20} {flash:>22} {ram:>22}")
    return "\n".join(lines)


def waived(manifest: dict[str, Any]) -> Iterator[str]:
    """Findings of the scanner that a waiver covers."""
    for part in manifest["parts"]:
        for one in part["waived"]:
            place = "" if one["address"] is None else f" at 0x{one['address']:08x}"
            yield f"{part['name']}: waived {one['rule']}{place}, {one['text']}: {one['reason']}"


def ledger(manifest: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """How the ports are accounted for, line by line with its colour."""
    new = [p["name"] for p in manifest["parts"] if p["ledger"] is None and p["kind"] != "kernel"]
    for part in manifest["parts"]:
        account = part["ledger"]
        if account is None:
            continue
        name, answered = part["name"], account["acknowledged"]
        said = f", {len(answered)} of them by a person" if answered else ""
        counts = f"{account['sites']} sites, {account['explained']} explained{said}"
        yield f"{name}: {counts}, {account['open']} open", None
        for one in answered:
            place = f"{one['file']}:{one['line']}" if one["line"] else one["file"]
            yield f"{name}: acknowledged {one['rule']} {place}: {one['reason']}", "yellow"
        for text in account["idle"]:
            yield f"{name}: acknowledges nothing: {text}", "yellow"
        for text in account["edited"]:
            yield f"{name}: {text} was changed by hand since it was ported", "yellow"
    if new:
        yield f"never ported, so judged by the scanner alone: {', '.join(new)}", None


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    "stem",
    metavar="STEM",
    type=click.Path(path_type=Path),
    help="Write STEM.elf, STEM.hex, STEM.bin and STEM.json  [default: DIR/image/system]",
)
def link(folder: Path, stem: Path | None) -> int:
    """Check the built domains of DIR, scan them, and join them into one image.

    All four files are written, or none: a part that is missing, changed since it was
    built, misplaced or rejected by the scanner ends with exit status 1, and so does a ported
    domain with an escalated site, or a certain finding in its program, that neither the porter nor
    an <acknowledge> of the description explains. What the scanner finds counts no longer where a
    file of waivers that the description names covers it.
    """
    from composer.image.link import link as make_image

    stem = folder / "image" / "system" if stem is None else stem
    manifest = make_image(folder, stem)
    click.echo(table(manifest))
    for line, colour in ledger(manifest):
        click.secho(line, fg=colour, err=True)
    for line in waived(manifest):
        click.secho(line, fg="yellow", err=True)
    click.echo(f"wrote {stem}.elf, .hex, .bin and .json")
    if not manifest["protection"]:
        click.secho(
            f'warning: {stem}: protection="off": every domain can write every other; for control'
            ' experiments only, else remove protection="off" from <kernel>, compose and build',
            fg="red",
            bold=True,
            err=True,
        )
    return 0
