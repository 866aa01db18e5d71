"""What the tools say of the image: the scanner of every domain, verify of the whole."""

from __future__ import annotations

from dataclasses import dataclass

from composer.image.gate import scanned, waivers_of
from composer.report.colours import colours
from composer.report.material import Material
from composer.report.text import printable
from composer.verify.findings import Report
from composer.verify.verify import verify
from scanner.report.finding import FileReport, Finding


@dataclass(frozen=True)
class Remark:
    """One finding of the scanner; `mark` says `possible` or `waived` where it is."""

    address: str
    place: str
    rule: str
    text: str
    why: str
    mark: str


@dataclass(frozen=True)
class Scan:
    """The scanner's word on a domain."""

    name: str
    css: str
    verdict: str
    remarks: tuple[Remark, ...]


def scans(material: Material) -> tuple[Scan, ...]:
    """Every domain, scanned now, by what it is granted."""
    css = colours(material.plan)
    found = []
    for name, report in scanned(material.system, waivers_of(material.system)).items():
        found.append(Scan(name, css[name], report.verdict, _remarks(report)))
    return tuple(found)


def _remarks(report: FileReport) -> tuple[Remark, ...]:
    found = [_remark(f, f.why, f.certainty.replace("certain", "")) for f in report.findings]
    return (*found, *(_remark(w.finding, w.reason, "waived") for w in report.waived))


def _remark(finding: Finding, why: str, mark: str) -> Remark:
    return Remark(
        "" if finding.address is None else f"0x{finding.address:08x}",
        printable(" ".join(part for part in (finding.function, finding.source) if part)),
        finding.rule,
        printable(finding.text),
        printable(why),
        mark,
    )


def verified(material: Material) -> Report:
    """Every check of `fvmkit verify`, done now."""
    return verify(material.elf, material.plan.system.file)
