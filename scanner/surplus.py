"""What stands for the findings of a rule that are too many to be listed."""

from __future__ import annotations

from scanner.report.finding import Certainty, Finding, Severity
from scanner.rules.model import AddressRule, InstructionRule

MAX_FINDINGS = 1000
"""A rule lists no more than this many per file; one more finding counts the rest."""


def more_findings(
    rule: InstructionRule | AddressRule,
    severity: Severity,
    count: int | None,
    certainty: Certainty = "possible",
) -> Finding:
    """Stands for the findings of a rule that are not listed; as grave as the gravest of them.

    So what sets those apart that are listed (a waiver, a baseline) accepts none of the others.
    """
    return Finding(
        rule=rule.id,
        address=None,
        offset=None,
        function=None,
        source=None,
        severity=severity,
        certainty=certainty,
        text="there may be more than are listed"
        if count is None
        else f"{count} more than are listed",
        why=rule.why,
        fix=rule.fix,
    )
