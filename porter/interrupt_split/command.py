"""What `fvmkit split` does once its command line is understood."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

import click

from porter.failures import what_to_send
from porter.interrupt_split.record import struct_name
from porter.interrupt_split.report import as_json, as_text
from porter.interrupt_split.result import HandlerSplit
from porter.output.generated import Stamp, c_file, short_hash, write_all
from porter.port import split_project
from porter.project.domain import Domain, read_domain
from scanner.report.errors import FvmError

_ADVICE = "Don't edit: change the handler or the description and run fvmkit split."


def run(project: Path, domain_file: Path, out: Path | None, json: bool, check: bool) -> int:
    """Split, print and write; returns the exit status."""
    domain = read_domain(domain_file)
    if all(vector.split is None for vector in domain.vectors):
        raise FvmError(
            f"no line of {domain.name} has a <split>",
            file=domain_file,
            hint="add one to the description and run fvmkit compose",
        )
    splits = split_project(project, domain)
    for split in splits:
        for reason in split.escalated:
            click.echo(f"{reason} [interrupt-split]", err=True)
        if split.is_split_already:
            raise FvmError(
                f"{split.handler} takes records already",
                file=project,
                hint="give the project as it was before fvmkit port",
            )
    failed = sum(split.failure is not None for split in splits)
    if failed:
        click.echo(f"fvmkit split: {what_to_send(failed, len(splits), 'handler')}", err=True)
    if json:
        click.echo(as_json(splits), nl=False)
    elif out is None or check:
        click.echo(as_text(splits), nl=False)
    escalated = sum(1 for split in splits if split.escalated)
    click.echo(
        f"fvmkit split: {len(splits)} planned, {len(splits) - escalated} split, "
        f"{escalated} escalated",
        err=True,
    )
    if out is not None:
        changed = write_all(out, _texts(splits, domain), dry=check)
        if check and changed:
            click.echo(f"fvmkit split: {', '.join(changed)} would change", err=True)
            return 3 if failed else 1
    if failed:
        return 3
    return 1 if escalated else 0


def _texts(splits: Sequence[HandlerSplit], domain: Domain) -> dict[str, str]:
    texts: dict[str, str] = {}
    for split in splits:
        if split.mid is None or split.function is None:
            continue
        plan = repr(split.split).encode()
        source = split.function.text.file.data
        stamp = Stamp(version("fvmkit"), short_hash(source + b"\0" + plan), _ADVICE)
        texts[f"{split.split.section}.c"] = c_file(split.mid.code(), stamp)
        texts[f"{struct_name(split.vector.name)}.h"] = c_file(split.mid.header(), stamp)
    return texts
