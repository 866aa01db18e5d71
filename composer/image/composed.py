"""What `fvmkit compose` decided, read back from its output folder.

`system.json` describes the system, `NAME.domain.json` one domain. Both are our own output, so a
field that is missing or odd means that somebody edited them or that the versions differ.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from composer.build import read_system
from porter.ledger.acknowledged import Acknowledgement, read_acknowledgements
from scanner.policy import Grant, load_policy
from scanner.report.errors import FvmError, MissingError

SYSTEM_FILE = "system.json"
ADVICE = "run fvmkit compose again"


@dataclass(frozen=True)
class Part:
    """One domain: its name, its grants and how long its watchdog waits (0: it has none).

    `ported`: the copy that `fvmkit port` made of its project, None for code that is new;
    `acknowledged`: places of that project that a person answers for.
    """

    name: str
    kind: str
    watchdog_ms: int
    grants: tuple[Grant, ...]
    ported: Path | None = None
    acknowledged: tuple[Acknowledgement, ...] = ()

    def of_kind(self, *kinds: str) -> tuple[Grant, ...]:
        """Its grants of these kinds."""
        return tuple(grant for grant in self.grants if grant.kind in kinds)


@dataclass(frozen=True)
class Board:
    """How QEMU knows the board: its machine and the devices of its serial lines, in order."""

    machine: str
    serial: tuple[str, ...]


@dataclass(frozen=True)
class Composed:
    """A composed system. The kernel is a part like any other, with the kernel's own memory."""

    folder: Path
    name: str
    chip: str
    board: Board | None
    console: str | None
    protection: bool
    waivers: Path | None
    kernel: Part
    domains: tuple[Part, ...]

    def elf(self, name: str) -> Path:
        """Where `fvmkit build` puts the ELF of the kernel or of a domain."""
        return self.folder / name / f"{name}.elf"

    def policy(self, name: str) -> Path:
        """The description of a domain that porter and scanner read."""
        return self.folder / f"{name}.domain.json"

    @property
    def parts(self) -> tuple[Part, ...]:
        """Kernel and domains: everything that is an ELF of its own."""
        return (self.kernel, *self.domains)


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file; MissingError or FvmError when it can't be had."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise MissingError("there is no such file", file=path, hint=ADVICE) from error
    except OSError as error:
        raise MissingError(f"can't be opened: {error.strerror}", file=path) from error
    except (ValueError, RecursionError) as error:
        raise FvmError(f"is no JSON: {error}", file=path, hint=ADVICE) from error
    if not isinstance(value, dict):
        raise FvmError("is no JSON object", file=path, hint=ADVICE)
    return value


def read_domain(path: Path) -> Part:
    """One NAME.domain.json; the fields that the scanner needs too are checked by its reader."""
    entry = read_json(path)
    policy = load_policy(path)
    try:
        watchdog = int(entry.get("watchdog_ms") or 0)
        project = entry.get("project", {})
        ported = project.get("ported")
        is_new = ported is None or ported == project.get("original")  # built as it is
        return Part(
            str(entry["name"]),
            str(entry["kind"]),
            watchdog,
            policy.grants or (),
            None if is_new else _beside(path.parent, str(ported)),
            read_acknowledgements(entry.get("acknowledged", ())),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FvmError(f"field {error} is missing or odd", file=path, hint=ADVICE) from error


def read_kernel(entry: dict[str, Any]) -> Part:
    """The kernel's own memory."""
    grants = (
        Grant(name, kind, int(entry[name]["base"]), int(entry[name]["size"]))
        for name, kind in (("flash", "code"), ("ram", "ram"))
    )
    return Part("kernel", "kernel", 0, tuple(grants))


def read_composed(folder: Path) -> Composed:
    """The whole system; MissingError when `folder` is not the output of `fvmkit compose`."""
    entry = read_system(folder)
    try:
        qemu = entry["qemu"]
        return Composed(
            folder,
            str(entry["name"]),
            str(entry["chip"]),
            None if qemu is None else Board(str(qemu["machine"]), tuple(qemu["serial"])),
            None if entry["console"] is None else str(entry["console"]),
            bool(entry["protection"]),
            None if entry["waivers"] is None else _beside(folder, str(entry["waivers"])),
            read_kernel(entry["kernel"]),
            tuple(read_domain(folder / domain["policy"]) for domain in entry["domains"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        path = folder / SYSTEM_FILE
        raise FvmError(f"field {error} is missing or odd", file=path, hint=ADVICE) from error


def _beside(folder: Path, name: str) -> Path:
    """A file outside of the folder, by the path that a person would write."""
    return Path(os.path.normpath(folder / name))


def ram_bank(folder: Path) -> Grant:
    """The chip's RAM, of which a dump is taken; the system lies in it."""
    try:
        bank = read_system(folder)["ram"]
        return Grant("ram", "ram", int(bank["base"]), int(bank["size"]))
    except (KeyError, TypeError, ValueError) as error:
        path = folder / SYSTEM_FILE
        raise FvmError(f"field {error} is missing or odd", file=path, hint=ADVICE) from error
