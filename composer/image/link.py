"""Join the built parts of a composed system into one image."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from composer.image.binary import Binary, read_binary
from composer.image.check import check_overlap, check_part
from composer.image.composed import SYSTEM_FILE, Composed, Part, read_composed
from composer.image.formats import binary_image, elf_image, hex_image
from composer.image.fresh import check_fresh
from composer.image.gate import check_accepted
from composer.image.ledger import Balance, check_ledger
from composer.image.replaceable import check_image_replaceable
from composer.image.write import write_all
from porter.project.source_tree import PORT_RECORD
from scanner.image.model import Segment
from scanner.report.errors import MissingError
from scanner.report.finding import FileReport

SUFFIXES = (".elf", ".hex", ".bin", ".json")


def sha256(content: bytes | memoryview) -> str:
    """Hexadecimal digest."""
    return hashlib.sha256(content).hexdigest()


Accounts = tuple[tuple[Balance, ...], tuple[str, ...]]
"""Of the ported domains, and the names of those that are new code."""


def read_parts(system: Composed) -> tuple[tuple[Binary, ...], dict[str, FileReport], Accounts]:
    """Every part, up to date, scanned, checked on its own and against the others.

    Beside them the scanner's reports on the domains, and the accounts of the ported ones.

    The scanner comes before the places: of a firmware that was never ported both are wrong, and
    what the scanner says explains it.
    """
    binaries = tuple(read_binary(part.name, system.elf(part.name)) for part in system.parts)
    check_fresh(system)
    reports = check_accepted(system)
    for binary, part in zip(binaries, system.parts, strict=True):
        check_part(binary, part)
    check_overlap(binaries)
    return binaries, reports, check_ledger(system, reports)


def describe_waived(report: FileReport | None) -> list[dict[str, Any]]:
    """What the scanner found in a domain and a person answers for."""
    return [
        {
            "rule": waived.finding.rule,
            "address": waived.finding.address,
            "text": waived.finding.text,
            "reason": waived.reason,
        }
        for waived in (report.waived if report is not None else ())
    ]


def describe_ledger(name: str, accounts: Accounts) -> dict[str, Any] | None:
    """How a port is accounted for; None for a part that was never ported."""
    for account in accounts[0]:
        if account.domain == name:
            return {
                "sites": account.sites,
                "explained": account.sites - len(account.open),
                "open": len(account.open),
                "acknowledged": [
                    {"rule": it.rule, "file": it.file, "line": it.line, "text": it.text,
                     "reason": reason}
                    for it, reason in account.acknowledged
                ],
                "idle": [str(it) for it in account.idle],
                "edited": list(account.edited),
            }  # fmt: skip
    return None


def describe_segment(segment: Segment) -> dict[str, Any]:
    """A segment's entry in the manifest."""
    return {
        "load_address": segment.load_address,
        "run_address": segment.address,
        "size": len(segment.data),
        "run_size": segment.memory_size,
        "sha256": sha256(segment.data),
    }


def used(binary: Binary, part: Part) -> dict[str, dict[str, int]]:
    """Bytes of flash and RAM that a part uses, and those that it was given."""
    ram = part.of_kind("ram")
    in_ram = (
        segment.memory_size
        for segment in binary.image.segments
        if any(grant.base <= segment.address < grant.end for grant in ram)
    )
    return {
        "flash": {
            "used": sum(len(segment.data) for segment in binary.stored),
            "granted": sum(grant.size for grant in part.of_kind("code")),
        },
        "ram": {"used": sum(in_ram), "granted": sum(grant.size for grant in ram)},
    }


def describe_part(
    binary: Binary, part: Part, near: Path, report: FileReport | None, accounts: Accounts
) -> dict[str, Any]:
    """A part's entry in the manifest; its path is relative to the manifest."""
    return {
        "name": part.name,
        "kind": part.kind,
        "elf": os.path.relpath(binary.path, near),
        "sha256": binary.sha256,
        **used(binary, part),
        "waived": describe_waived(report),
        "ledger": describe_ledger(part.name, accounts),
        "segments": [describe_segment(segment) for segment in binary.image.segments],
    }


def inputs(system: Composed) -> Iterator[Path]:
    """Files that an image is made from, which it must not overwrite."""
    yield system.folder / SYSTEM_FILE
    for part in system.parts:
        yield system.elf(part.name)
        yield system.policy(part.name)
        if part.ported is not None:
            yield part.ported / PORT_RECORD
    if system.waivers is not None:
        yield system.waivers


def link(folder: Path, stem: Path) -> dict[str, Any]:
    """Write STEM.elf, .hex, .bin and .json and return the manifest.

    FvmError, with nothing written, when a part is missing, out of date, misplaced, refused by the
    scanner, or ported with places that nobody accounts for.
    """
    system = read_composed(folder)
    targets = {suffix: stem.with_name(stem.name + suffix) for suffix in SUFFIXES}
    protected = {path.resolve() for path in inputs(system)}
    for target in targets.values():
        if target.resolve() in protected:
            raise MissingError("is an input of link; choose another -o STEM", file=target)
    check_image_replaceable(targets)
    binaries, reports, accounts = read_parts(system)

    segments = sorted(
        (segment for binary in binaries for segment in binary.stored),
        key=lambda segment: segment.load_address,
    )
    entry = binaries[0].entry
    files = {
        targets[".elf"]: elf_image(segments, entry),
        targets[".hex"]: hex_image(segments, entry),
        targets[".bin"]: binary_image(segments),
    }
    manifest = {
        "schema": 1,
        "tool": f"fvmkit {importlib.metadata.version('fvmkit')}",
        "system": system.name,
        "chip": system.chip,
        "protection": system.protection,
        "composed": os.path.relpath(folder, stem.parent),
        "entry": entry,
        "base": segments[0].load_address,
        "files": {
            path.name: {"size": len(content), "sha256": sha256(content)}
            for path, content in files.items()
        },
        "parts": [
            describe_part(binary, part, stem.parent, reports.get(part.name), accounts)
            for binary, part in zip(binaries, system.parts, strict=True)
        ],
    }
    files[targets[".json"]] = (json.dumps(manifest, indent=1) + "\n").encode()
    write_all(files)
    return manifest
