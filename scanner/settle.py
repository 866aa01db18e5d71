"""Sets apart what waivers and a baseline cover. Nothing is lost: reports show it as waived."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from scanner.baseline import Baseline, check_replaceable, load_baseline, write_baseline
from scanner.filters import Filters
from scanner.inputs import Skipped
from scanner.report.finding import FileReport, Finding, Waived, fingerprints
from scanner.report.run import Run
from scanner.waivers import Waiver, key, load_waivers, unused


def settle(
    report: FileReport, waivers: Sequence[Waiver] = (), baseline: Baseline | None = None
) -> FileReport:
    """The report whose verdict follows from what neither a waiver nor the baseline covers."""
    known = {} if baseline is None else baseline.known(report.file)
    by_key = {waiver.key: waiver for waiver in waivers}
    kept: list[Finding] = []
    waived: list[Waived] = []
    names = fingerprints(report.file, report.findings)
    for name, finding in zip(names, report.findings, strict=True):
        pinned = key(report.sha256, finding)
        if pinned in by_key:
            waived.append(Waived(finding, "waiver", by_key[pinned].reason))
        elif baseline is not None and finding.address is not None and name in known:
            waived.append(Waived(finding, "baseline", f"known to {baseline.path}"))
        else:
            kept.append(finding)
    return replace(report, findings=tuple(kept), waived=(*report.waived, *waived))


class Accepted:
    """The files that a call names: what is accepted, and what is to be from now on.

    They are read at once, so that a file that can't be costs no scan.
    """

    def __init__(
        self,
        waivers: str | None,
        baseline: str | None,
        written: str | None,
        filters: Filters | None = None,
    ) -> None:
        self._filters = filters or Filters()
        self._waivers = () if waivers is None else load_waivers(waivers)
        self._baseline = None if baseline is None else load_baseline(baseline)
        self._written = written
        if written is not None:
            check_replaceable(written)

    def settle(self, found: Sequence[FileReport], skipped: Iterable[Skipped]) -> Run:
        """The settled reports, with a note on whatever covers nothing any more."""
        baseline = self._baseline
        if self._written is not None:
            baseline = write_baseline(self._written, found)
        settled = [settle(report, self._waivers, baseline) for report in found]
        reports = tuple(self._filters.apply(report) for report in settled)
        notes = [f"waiver covers nothing: {one}" for one in unused(self._waivers, reports)]
        for report in found:
            gone = [] if baseline is None else baseline.gone(report)
            notes += [f"gone from the baseline: {words}" for words in gone]
        notes += [f"leaves nothing out: {one}" for one in self._filters.unmet()]
        return Run(reports, tuple(skipped), tuple(notes))
