"""What a call over several files comes to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from scanner.report.finding import FileReport, Verdict


@dataclass(frozen=True)
class Totals:
    """Files by verdict, and findings that count by rule, most first."""

    files: int
    verdicts: dict[Verdict, int]
    rules: dict[str, int]

    @property
    def worst(self) -> Verdict:
        """The gravest verdict on any of the files."""
        order: tuple[Verdict, ...] = ("reject", "warn")
        return next((one for one in order if self.verdicts[one]), "accept")

    @property
    def text(self) -> str:
        """The figures as one clause each."""
        accepted, warned, rejected = (self.verdicts[one] for one in ("accept", "warn", "reject"))
        rules = ", ".join(f"{count} {rule}" for rule, count in self.rules.items())
        counts = f"{accepted} accepted, {warned} accepted with warnings, {rejected} rejected"
        return f"{self.files} programs: {counts}" + (f"; findings: {rules}" if rules else "")


def totals(reports: Sequence[FileReport]) -> Totals:
    """The sums over all files."""
    verdicts: dict[Verdict, int] = {"accept": 0, "warn": 0, "reject": 0}
    for report in reports:
        verdicts[report.verdict] += 1
    rules = Counter(finding.rule for report in reports for finding in report.findings)
    ordered = sorted(rules.items(), key=lambda item: (-item[1], item[0]))
    return Totals(len(reports), verdicts, dict(ordered))
