"""What a verification says: checks with their findings, and the verdict that follows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

MAX_FINDINGS = 50
"""So many findings a check lists; one more line counts the rest."""


class Unreadable(Exception):
    """The image can't be decoded far enough for a check; the text says where it stops."""


@dataclass(frozen=True)
class Check:
    """One question about an image; without findings the answer is yes."""

    id: str
    what: str
    findings: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether it found nothing."""
        return not self.findings


@dataclass(frozen=True)
class Report:
    """All checks of one image. `notes` say what could not be looked at and need not be."""

    image: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the image may be flashed."""
        return all(check.ok for check in self.checks)

    @property
    def verdict(self) -> str:
        """`accept` or `reject`."""
        return "accept" if self.ok else "reject"

    def text(self) -> Iterator[tuple[bool, str]]:
        """Lines for a person, each with whether it is good."""
        for check in self.checks:
            yield check.ok, f"{'ok    ' if check.ok else 'REJECT'} {check.id}: {check.what}"
            for finding in check.findings:
                yield False, f"       {finding}"
        for note in self.notes:
            yield True, f"note   {note}"
        failed = sum(not check.ok for check in self.checks)
        yield (
            self.ok,
            f"{self.image}: {self.verdict}"
            + (f", {failed} of {len(self.checks)} checks failed" if failed else ""),
        )

    def json(self) -> str:
        """One JSON document."""
        document = {
            "schema": 1,
            "image": self.image,
            "verdict": self.verdict,
            "checks": [
                {"id": c.id, "what": c.what, "ok": c.ok, "findings": list(c.findings)}
                for c in self.checks
            ],
            "notes": list(self.notes),
        }
        return json.dumps(document, indent=1) + "\n"


def limited(findings: Iterator[str]) -> tuple[str, ...]:
    """The first findings, and how many more there are; an Unreadable becomes a finding."""
    found: list[str] = []
    more = 0
    try:
        for finding in findings:
            if len(found) < MAX_FINDINGS:
                found.append(finding)
            else:
                more += 1
    except Unreadable as error:
        found.append(str(error))
    if more:
        found.append(f"{more} more")
    return tuple(found)


def span(start: int, end: int) -> str:
    """A range as messages show it."""
    return f"[0x{start:08x}, 0x{end:08x})"
