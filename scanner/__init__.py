"""Checks of finished binaries: which instructions and accesses may not run unprivileged.

    from scanner import Policy, scan_bytes, scan_file

    report = scan_file("firmware.elf", policy="motor.domain.json")
    if report.verdict == "reject":
        for finding in report.findings:
            print(finding.rule, finding.address, finding.text)

`scan_bytes` takes a program that is in memory. Programs that can't be trusted are no errors but
reports that reject; errors (scanner.report.errors) mean that something could not be read at all.
"""

from scanner.policy import Grant, Policy, load_policy
from scanner.report.finding import FileReport, Finding, Waived
from scanner.scan import scan_bytes, scan_file

__all__ = [
    "FileReport",
    "Finding",
    "Grant",
    "Policy",
    "Waived",
    "load_policy",
    "scan_bytes",
    "scan_file",
]
