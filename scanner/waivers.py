"""Waivers: single findings in one certain image that a person answers for.

A waiver names the image by the sum of its file, so it ends with the next build; whoever wants to
carry findings over many builds takes a baseline.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any

from scanner.report.documents import ShapeError, field, read_document
from scanner.report.errors import FvmError
from scanner.report.finding import FileReport, Finding
from scanner.rules.file_rules import FILE_RULES

_SUM_DIGITS = 64
Key = tuple[str, str, int | None]
_HINT = "docs/scanner.md shows what a waiver file holds"


@dataclass(frozen=True)
class Waiver:
    """`address` is None for a finding on the whole file; `image` is a SHA-256 in hexadecimal."""

    image: str
    rule: str
    address: int | None
    reason: str

    def __str__(self) -> str:
        place = "the file" if self.address is None else f"0x{self.address:08x}"
        return f"{self.rule} at {place} of image {self.image[:12]}... ({self.reason})"

    @property
    def key(self) -> Key:
        """What it is found by."""
        return self.image, self.rule, self.address


def key(image: str, finding: Finding) -> Key | None:
    """The key of a waiver for this finding; None where the finding stands for unlisted others."""
    listed = finding.address is not None or finding.rule in FILE_RULES
    return (image, finding.rule, finding.address) if listed else None


def load_waivers(path: str | PathLike[str]) -> tuple[Waiver, ...]:
    """Read a waiver file. Raises MissingError if it can't be opened, FvmError if it is no such."""
    document = read_document(path, "waiver file", _HINT)
    try:
        return tuple(_waiver(item) for item in field(document, "waivers", list))
    except ShapeError as error:
        raise FvmError(f"not a waiver file: {error}", file=path, hint=_HINT) from None


def unused(waivers: Iterable[Waiver], reports: Iterable[FileReport]) -> list[Waiver]:
    """Waivers that cover nothing in any of the settled reports."""
    used = {
        key(report.sha256, waived.finding)
        for report in reports
        for waived in report.waived
        if waived.by == "waiver"
    }
    return [waiver for waiver in waivers if waiver.key not in used]


def _waiver(item: Any) -> Waiver:
    image = field(item, "image", str).removeprefix("sha256:").lower()
    if len(image) != _SUM_DIGITS or set(image) - set("0123456789abcdef"):
        raise ShapeError("'image' is not the SHA-256 of a file")
    reason = field(item, "reason", str).strip()
    if not reason:
        raise ShapeError("'reason' is empty")
    return Waiver(image, field(item, "rule", str), _address(item), reason)


def _address(item: Any) -> int | None:
    """`null` for the file; a number, or text in any notation of C."""
    value = item.get("address", "missing")
    if value is None or type(value) is int:
        return value
    try:
        return int(value, 0)
    except (TypeError, ValueError):
        raise ShapeError("'address' is no number, text such as \"0x08000000\", or null") from None
