"""`fvmkit doctor`: what is there, in which version, and how to get what is missing."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import click
from packaging.requirements import Requirement

from composer.setup.freertos import FOLDER, TAG
from composer.setup.tools import TOOLS

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Item:
    """One thing that fvmkit relies on; `version` is None when it is missing."""

    name: str
    purpose: str
    version: str | None
    get: str
    needed: bool = True


def library_items() -> list[Item]:
    """The Python libraries that the installed fvmkit asks this Python for, development tools
    apart."""
    items = []
    for requirement in map(Requirement, importlib.metadata.requires("fvmkit") or []):
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        try:
            version: str | None = importlib.metadata.version(requirement.name)
        except importlib.metadata.PackageNotFoundError:
            version = None
        items.append(Item(requirement.name, "Python library", version, "make setup"))
    return items


def examine() -> list[Item]:
    """Look at everything; takes about a second, because every tool is asked for its version."""
    python = platform.python_version() if sys.version_info >= (3, 10) else None
    kernel = CHECKOUT / FOLDER
    return [
        Item("Python", "3.10 or newer", python, "install a newer Python"),
        *(
            Item(
                tool.name,
                tool.purpose,
                tool.probe(),
                f"apt-get install {tool.package}",
                needed=tool.needed,
            )
            for tool in TOOLS
        ),
        *library_items(),
        Item(
            "FreeRTOS kernel",
            "the example's motor-controller",
            TAG if kernel.is_dir() else None,
            "make setup",
            needed=False,
        ),
    ]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(as_json: bool) -> int:
    """Say what fvmkit finds on this system, what is missing and how to get it."""
    items = examine()
    healthy = all(item.version is not None for item in items if item.needed)
    if as_json:
        report = {"schema": 1, "ok": healthy, "items": [asdict(item) for item in items]}
        click.echo(json.dumps(report, indent=1))
        return 0 if healthy else 1
    width = max(len(item.name) for item in items)
    for item in items:
        if item.version is not None:
            click.echo(f"ok       {item.name:{width}}  {item.version}")
        else:
            state = "missing " if item.needed else "optional"
            click.echo(f"{state} {item.name:{width}}  for {item.purpose}; get it: {item.get}")
    return 0 if healthy else 1
