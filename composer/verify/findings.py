"""What a verification says: checks with their findings, and the verdict that follows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from composer.simulate.log import clean

MAX_FINDINGS = 50
"""So many findings a check lists; one more line counts the rest."""


class Unreadable(Exception):
    """The image can't be decoded far enough for a check; the text says where it stops."""


@dataclass(frozen=True)
class Check:
    """One question about an image.

    With findings the answer is no. Without any it is yes, or there is none when `unanswered` says
    what could not be looked at.
    """

    id: str
    what: str
    findings: tuple[str, ...]
    unanswered: str = ""

    @property
    def ok(self) -> bool | None:
        """Whether it found nothing; None when it could not look everywhere."""
        if self.findings:
            return False
        return None if self.unanswered else True

    @property
    def word(self) -> str:
        """The answer for a person."""
        return {True: "ok", False: "REJECT", None: "OPEN"}[self.ok]


@dataclass(frozen=True)
class Report:
    """All checks of one image. `notes` say of each part what could not be looked at.

    `trusting`: the user vouches for the manifest, so a check without an answer rejects nothing.
    """

    image: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    trusting: bool = False

    @property
    def ok(self) -> bool:
        """Whether the image may be flashed."""
        return not self.failed and (self.trusting or not self.open)

    @property
    def failed(self) -> tuple[Check, ...]:
        """Those whose answer is no."""
        return tuple(check for check in self.checks if check.ok is False)

    @property
    def open(self) -> tuple[Check, ...]:
        """Those without an answer."""
        return tuple(check for check in self.checks if check.ok is None)

    @property
    def verdict(self) -> str:
        """`accept` or `reject`."""
        return "accept" if self.ok else "reject"

    def text(self) -> Iterator[tuple[bool, str]]:
        """Lines for a person, each with whether it is good."""
        for check in self.checks:
            answered = check.ok is not None
            yield (
                check.ok is True or (self.trusting and not answered),
                f"{check.word:6} {check.id}: {check.what if answered else check.unanswered}",
            )
            for finding in check.findings:
                yield False, f"       {finding}"
        for note in self.notes:
            yield True, f"note   {note}"
        yield self.ok, f"{self.image}: {self.verdict}{self._reason()}"

    def _reason(self) -> str:
        reason = ""
        if self.failed:
            reason = f", {len(self.failed)} of {len(self.checks)} checks failed"
        if any(check.unanswered for check in self.checks):
            reason += (
                "; the code was judged without the parts' ELFs: only the manifest's hashes, which"
                " nobody signed, tie it to the build"
            )
            if not self.trusting:
                reason += (
                    "; verify it beside the composed folder, or add --without-parts if you know"
                    " where image and manifest come from"
                )
        return reason

    def json(self) -> str:
        """One JSON document."""
        document = {
            "schema": 1,
            "image": self.image,
            "verdict": self.verdict,
            "checks": [
                {
                    "id": c.id,
                    "what": c.what,
                    "ok": c.ok,
                    "findings": list(c.findings),
                    "note": c.unanswered or None,
                }
                for c in self.checks
            ],
            "notes": list(self.notes),
        }
        return json.dumps(document, indent=1) + "\n"


def limited(findings: Iterator[str]) -> tuple[str, ...]:
    """The first findings, and how many more there are; an Unreadable becomes a finding.

    Names in them may come from any file: what isn't plain text is replaced.
    """
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
    return tuple(clean(finding) for finding in found)


def span(start: int, end: int) -> str:
    """A range as messages show it."""
    return f"[0x{start:08x}, 0x{end:08x})"
