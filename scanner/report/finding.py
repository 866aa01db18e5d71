"""What the scanner says about a file: findings, and the verdict that follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["silent", "traps", "policy"]
"""What happens when the guest gets there: nothing anyone sees; a fault; what the policy says."""

Certainty = Literal["certain", "possible"]
"""Whether control flow is known to reach these bytes as an instruction."""

Verdict = Literal["accept", "warn", "reject"]


@dataclass(frozen=True)
class Finding:
    """One forbidden or questionable thing in a file; address and offset are None for the file."""

    rule: str
    address: int | None
    offset: int | None
    function: str | None
    source: str | None
    severity: Severity
    certainty: Certainty
    text: str
    why: str
    fix: str

    def rejects(self, strict: bool) -> bool:
        """Only what hardware would not stop by itself keeps a binary out of flash."""
        return self.severity == "silent" and (strict or self.certainty == "certain")


@dataclass(frozen=True)
class FileReport:
    """The findings of one file, those that reject first, then by address."""

    file: str
    arch: str
    findings: tuple[Finding, ...]
    strict: bool = False

    @property
    def verdict(self) -> Verdict:
        """`reject` if any finding rejects, `warn` if there are others, else `accept`."""
        if any(finding.rejects(self.strict) for finding in self.findings):
            return "reject"
        return "warn" if self.findings else "accept"
