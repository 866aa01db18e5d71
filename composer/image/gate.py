"""The scanner's word on every domain before it may become part of an image."""

from __future__ import annotations

from collections.abc import Sequence

from composer.image.composed import Composed
from scanner.policy import load_policy
from scanner.report.errors import FvmError
from scanner.report.finding import FileReport, Finding
from scanner.scan import scan_file
from scanner.settle import settle
from scanner.waivers import Waiver, load_waivers, unused


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


def waivers_of(system: Composed) -> tuple[Waiver, ...]:
    """What the description's waiver file holds."""
    return () if system.waivers is None else load_waivers(system.waivers)


def scanned(system: Composed, waivers: Sequence[Waiver]) -> dict[str, FileReport]:
    """The settled report of every domain. The kernel is privileged and not scanned."""
    return {
        part.name: settle(
            scan_file(system.elf(part.name), load_policy(system.policy(part.name))), waivers
        )
        for part in system.domains
    }


def check_accepted(system: Composed) -> dict[str, FileReport]:
    """Reports by domain; FvmError that names every rejected one."""
    waivers = waivers_of(system)
    reports = scanned(system, waivers)
    refused = [refusal(report) for report in reports.values() if report.verdict == "reject"]
    if refused:
        idle = [f"waiver covers nothing: {one}" for one in unused(waivers, reports.values())]
        raise FvmError(
            "\n  ".join(["the scanner rejects a domain, so nothing was written", *refused, *idle]),
            hint="fvmkit scan FILE shows everything; port the project and build again",
        )
    return reports
