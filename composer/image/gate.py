"""The scanner's word on every domain before it may become part of an image."""

from __future__ import annotations

import scanner
from composer.image.composed import Composed
from scanner.policy import load_policy
from scanner.report.errors import FvmError
from scanner.report.finding import FileReport, Finding


def where(finding: Finding) -> str:
    """Address, function and source line of a finding, as far as they are known."""
    if finding.address is None:
        return ""
    known = [text for text in (finding.function, finding.source) if text is not None]
    return " ".join([" at", f"0x{finding.address:08x}", *known])


def refusal(report: FileReport) -> str:
    """One line that says how many findings reject a file and which is the first."""
    rejecting = [finding for finding in report.findings if finding.rejects(report.strict)]
    first = rejecting[0]
    more = f" and {len(rejecting) - 1} more" if len(rejecting) > 1 else ""
    return f"{report.file}: rejected: {first.rule}{where(first)}, {first.text}{more}"


def check_accepted(system: Composed) -> None:
    """FvmError that names every rejected domain. The kernel is privileged and not scanned."""
    reports = [
        scanner.scan_file(system.elf(part.name), policy=load_policy(system.policy(part.name)))
        for part in system.domains
    ]
    refused = [refusal(report) for report in reports if report.verdict == "reject"]
    if refused:
        raise FvmError(
            "\n  ".join(["the scanner rejects a domain, so nothing was written", *refused]),
            hint="fvmkit scan FILE shows everything; port the project and build again",
        )
