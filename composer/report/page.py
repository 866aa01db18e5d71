"""The page: gathers what every section shows and fills the templates."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from composer.report import summary
from composer.report.colours import colours
from composer.report.material import Material
from composer.report.memory import banks
from composer.report.policies import policies
from composer.report.porting import projects
from composer.report.regions import matrix, units
from composer.report.render import render
from composer.report.routes import COLUMNS, closed_lines, soft_vectors, ways
from composer.report.sections import interrupts
from composer.report.stacks import TIGHT, read_stacks
from composer.report.talk import talk
from composer.report.verdicts import scans, verified


@dataclass(frozen=True)
class Section:
    """An entry of the contents; its template is `<anchor>.html.j2`."""

    anchor: str
    title: str


SECTIONS = (
    Section("summary", "Verdicts"),
    Section("porting", "Ported sources"),
    Section("sections", "Interrupts in sections"),
    Section("memory", "Memory map"),
    Section("regions", "Protection regions"),
    Section("routes", "Interrupt routes"),
    Section("policies", "Priorities and faults"),
    Section("verdicts", "Scan and verify"),
    Section("run", "Run"),
    Section("reboots", "Restarts"),
    Section("timeline", "Timeline"),
    Section("stacks", "Stacks"),
)


def page(material: Material, ram: Path | None = None) -> str:
    """The whole page. The same material gives the same text."""
    shown = _shown(material, ram)
    verdicts = (
        *summary.porting(shown["projects"]),
        summary.scanned(shown["scans"]),
        summary.verified(shown["verified"]),
        summary.protected(material, shown["units"]),
        summary.routed(shown["ways"], shown["closed"]),
        *summary.split(shown["interrupts"]),
        *summary.ran(shown["talk"]),
        summary.stacked(shown["stacks"]),
    )
    return render("page.html.j2", sections=SECTIONS, verdicts=verdicts, **shown)


def _shown(material: Material, ram: Path | None) -> dict[str, Any]:
    plan, run = material.plan, material.run
    stacks = None
    if material.ram is not None:
        stacks = read_stacks(plan, material.system, material.ram, ram)
    image = material.manifest["files"][material.elf.name]
    return {
        "name": plan.system.name,
        "chip": plan.chip.name,
        "board": material.system.board.machine if material.system.board else "",
        "mhz": plan.cpu_hz / 1e6,
        "version": version("fvmkit"),
        "image": material.elf.name,
        "digest": image["sha256"],
        "domains": plan.domains,
        "colours": colours(plan),
        "projects": projects(material),
        "interrupts": interrupts(material),
        "banks": banks(material),
        "units": units(material),
        "matrix": matrix(material),
        "slots": plan.unit.regions,
        "ways": ways(material),
        "columns": COLUMNS,
        "soft": soft_vectors(material),
        "closed": closed_lines(material),
        "policies": policies(plan),
        "scans": scans(material),
        "verified": verified(material),
        "talk": None if run is None else talk(material, run),
        "timeline": material.timeline,
        "stacks": stacks,
        "tight": TIGHT,
    }
