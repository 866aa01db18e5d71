"""What the tools say of the image: the scanner of every domain, verify of the whole."""

from __future__ import annotations

from dataclasses import dataclass

from composer.report.colours import colours
from composer.report.material import Material
from composer.report.text import printable
from composer.verify.findings import Report
from composer.verify.verify import verify
from scanner.policy import load_policy
from scanner.report.finding import FileReport
from scanner.scan import scan_file


@dataclass(frozen=True)
class Remark:
    """One finding of the scanner."""

    address: str
    place: str
    rule: str
    text: str
    why: str
    possible: bool


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
    for domain in material.plan.domains:
        policy = load_policy(material.system.policy(domain.name))
        report = scan_file(str(material.system.elf(domain.name)), policy)
        found.append(Scan(domain.name, css[domain.name], report.verdict, _remarks(report)))
    return tuple(found)


def _remarks(report: FileReport) -> tuple[Remark, ...]:
    return tuple(
        Remark(
            "" if f.address is None else f"0x{f.address:08x}",
            printable(" ".join(part for part in (f.function, f.source) if part)),
            f.rule,
            printable(f.text),
            printable(f.why),
            f.certainty == "possible",
        )
        for f in report.findings
    )


def verified(material: Material) -> Report:
    """Every check of `fvmkit verify`, done now."""
    return verify(material.elf, material.plan.system.file)
