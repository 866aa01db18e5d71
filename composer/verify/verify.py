"""All checks of one image."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from composer.chips.chip import load_chip
from composer.description.parse import parse
from composer.simulate.log import clean
from composer.verify.analysis import Analysis, analysis_of, kernel_of
from composer.verify.checks import (
    boot,
    code,
    entries,
    files,
    guests,
    lockdown,
    neighbours,
    numbers,
    ownership,
    places,
    policy,
    protection,
)
from composer.verify.expected import Expected
from composer.verify.findings import Check, Report, Unreadable, limited
from composer.verify.formats import load, read_file
from composer.verify.manifest import read_manifest
from composer.verify.subject import Subject, sha256
from scanner.report.errors import FvmError
from scanner.waivers import load_waivers

SUFFIXES = (".elf", ".hex", ".bin")

_Finder = Callable[[Subject], Iterator[str]]
_CodeFinder = Callable[[Subject, Analysis], Iterator[str]]

CHECKS: tuple[tuple[str, str, _Finder], ...] = (
    ("manifest", "the manifest belongs to this image and this description", files.check_manifest),
    ("hashes", "file and parts have the recorded digests", files.check_hashes),
    ("description", "the image was composed from this description", files.check_description),
    ("parts", "the parts' ELFs are those in the image", files.check_parts),
    ("areas", "flash and RAM of the parts are as described and apart", places.check_areas),
    ("bytes", "every byte lies where its part may have it, and no other", places.check_bytes),
    ("vectors", "initial SP and vectors are the kernel's", entries.check_vectors),
    ("headers", "every thread starts in its own domain, on its own stack", entries.check_headers),
    ("regions", "every protection register has a defined value", protection.check_regions),
    (
        "grants",
        "each domain is granted what the description says, no byte more",
        protection.check_grants,
    ),
    (
        "separation",
        "W^X; the kernel and other domains are out of reach",
        protection.check_separation,
    ),
    ("fpu", "the FPU is granted as described", protection.check_fpu),
    ("domains", "the kernel's domain table is as described", numbers.check_domains),
    ("threads", "priorities, budgets and watchdogs are as described", numbers.check_threads),
    (
        "capabilities",
        "each process may name what the description gives it",
        numbers.check_capabilities,
    ),
    ("routes", "interrupts, events and timers go where the description says", numbers.check_routes),
    (
        "neighbours",
        "no domain can hold up a line of another one or change its blocks",
        neighbours.check_neighbours,
    ),
    ("policy", "the hypervisor's policy is as described", policy.check_policy),
    ("pins", "pins can be set by their owners alone", numbers.check_pins),
    ("boot", "start-up sets the described clocks and pins, nothing else", boot.check_boot),
    ("lockdown", "every VM freezes its configuration first", lockdown.check_lockdown),
    ("guests", "no domain holds what it must not run", guests.check_guests),
)

CODE_CHECKS: tuple[tuple[str, str, _CodeFinder], ...] = (
    ("start", "reset code sets up protection, priorities and tick", code.check_start),
    ("handlers", "exceptions lead to the code for them", code.check_handlers),
    ("stubs", "interrupts end in bounded time and store where they may", code.check_stubs),
    ("ownership", "every thread goes on with its own registers", ownership.check_ownership),
    ("tables", "the kernel's code reads the tables that were checked", code.check_tables_used),
)


def verify(
    image: Path, description: Path, manifest: Path | None = None, *, without_parts: bool = False
) -> Report:
    """Every check of an image; `without_parts` accepts one whose parts' ELFs can't be opened.

    MissingError for a file that can't be had, FvmError for a description that can't be used; all
    else is a finding.
    """
    content = read_file(image, "image")
    text = read_file(description, "description")
    system = parse(description)
    chip = load_chip(system.chip, system.place)
    try:
        expected = Expected(system, chip)
    except (KeyError, ValueError) as error:
        raise FvmError(
            f"names something that doesn't exist: {error}",
            file=description,
            hint="fvmkit compose says where",
        ) from None
    suffix = image.suffix if image.suffix in SUFFIXES else ".elf"
    try:
        said = read_manifest(manifest or image.with_suffix(".json"))
        loaded = load(content, suffix, said.base)
    except Unreadable as error:
        check = Check("image", "image and manifest can be read", (clean(str(error)),))
        return Report(clean(image.name), (check,))
    digest = hashlib.sha256(text).hexdigest()
    waivers = () if system.waivers is None else load_waivers(system.waivers)
    subject = Subject(image, content, loaded, said, system, digest, chip, expected, waivers)
    return Report(
        clean(image.name), tuple(all_checks(subject)), tuple(_notes(subject)), without_parts
    )


def all_checks(subject: Subject) -> Iterator[Check]:
    """Every check, those that take longest last; only the first few if there are no tables."""
    try:
        _ = subject.tables
    except Unreadable as error:
        yield Check("decode", "the kernel's tables can be decoded", (clean(str(error)),))
        yield Check("manifest", CHECKS[0][1], limited(files.check_manifest(subject)))
        return
    for identity, what, finder in CHECKS:
        unanswered = not_compared(subject) if identity == "parts" else ""
        yield Check(identity, what, limited(finder(subject)), unanswered)
    for identity, what, code_finder in CODE_CHECKS:
        yield Check(identity, what, limited(in_code(code_finder, subject)))


def in_code(finder: _CodeFinder, subject: Subject) -> Iterator[str]:
    """The findings of a check that asks about the kernel's code."""
    yield from finder(subject, analysis_of(kernel_of(subject)))


def not_compared(subject: Subject) -> str:
    """What `parts` could not compare, "" if there is nothing."""
    missing, parts = len(files.missing_elves(subject)), len(subject.manifest.parts)
    if not missing:
        return ""
    return f"{missing} of {parts} parts' ELFs aren't there: the image was not compared with them"


def _notes(subject: Subject) -> Iterator[str]:
    for part in files.missing_elves(subject):
        yield clean(f"'{part.name}': {part.elf} isn't there, so its code is judged without symbols")
    for part in subject.manifest.parts:
        content = files.part_elf(subject, part.name)
        digest = "" if content is None else sha256(content)
        for waiver in subject.waivers:
            if waiver.image == digest:
                yield clean(f"'{part.name}': a person answers for {waiver}")
