"""One page that needs nothing else: for a review, a mail, or a build server's artifacts."""

from __future__ import annotations

from importlib.metadata import version

from jinja2 import Environment, PackageLoader, StrictUndefined

from scanner.catalogue import catalogue
from scanner.report.finding import FileReport, Finding
from scanner.report.one_line import one_line
from scanner.report.run import Run
from scanner.report.text import path_text, place, summary

_environment = Environment(
    loader=PackageLoader("scanner.report", ""),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=True,
)
_environment.filters["one_line"] = one_line


def render(run: Run) -> str:
    """The page; the same run gives the same text."""
    met = {one.rule for report in run.reports for one in _all(report)}
    lessons = [entry for rule, entries in catalogue().items() if rule in met for entry in entries]
    template = _environment.get_template("page.html.j2")
    return template.render(
        run=run,
        lessons=lessons,
        version=version("fvmkit"),
        place=place,
        path_text=path_text,
        summary=summary,
    )


def _all(report: FileReport) -> list[Finding]:
    return [*report.findings, *(waived.finding for waived in report.waived)]
