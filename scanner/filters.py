"""What a call leaves out by rule or by source path. Nothing is lost: reports show it as set apart.

What has no known source line is left out by no path; what was inlined stands at the calls, too,
and is left out only if all of these places are. What speaks against the file as a whole
(it can't be trusted, so nothing else holds) by no list of wanted rules.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from scanner.report.finding import FileReport, Finding, Waived


@dataclass
class Filters:
    """Rules and patterns of source paths that alone count, and those that don't."""

    rules: tuple[str, ...] = ()
    ignored_rules: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    ignored_paths: tuple[str, ...] = ()
    _met: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.rules or self.ignored_rules or self.paths or self.ignored_paths)

    def unknown_rules(self) -> list[str]:
        """Names that no rule has: a misspelled one would leave out nothing, or everything."""
        from scanner.catalogue import catalogue  # slow to build, and few calls filter

        known = catalogue() if self.rules or self.ignored_rules else {}
        return [rule for rule in (*self.rules, *self.ignored_rules) if rule not in known]

    def apply(self, report: FileReport) -> FileReport:
        """The report whose verdict follows from what is left."""
        if not self:
            return report
        kept: list[Finding] = []
        out: list[Waived] = []
        for finding in report.findings:
            reason = self._reason(finding)
            if reason is None:
                kept.append(finding)
            else:
                out.append(Waived(finding, "filter", f"left out by {reason}"))
        return replace(report, findings=tuple(kept), waived=(*report.waived, *out))

    def unmet(self) -> list[str]:
        """What is to be left out and was nowhere, in words."""
        options = [("--ignore-rule", self.ignored_rules), ("--ignore-path", self.ignored_paths)]
        asked = [f"{option} {value}" for option, values in options for value in values]
        return [one for one in asked if one not in self._met]

    def _reason(self, finding: Finding) -> str | None:
        from scanner.rules.file_rules import FILE_RULES

        if finding.rule in self.ignored_rules:
            return self._meet(f"--ignore-rule {finding.rule}")
        if self.rules and finding.rule not in self.rules and finding.rule not in FILE_RULES:
            return "--rule"
        places = [finding.source, *(call.source for call in finding.inlined)]
        files = [place.rpartition(":")[0] for place in places if place]
        if not files:
            return None
        ignored = [_matching(file, self.ignored_paths) for file in files]
        if None not in ignored:
            return self._meet(f"--ignore-path {ignored[0]}")
        wanted = not self.paths or any(_matching(file, self.paths) for file in files)
        return None if wanted else "--path"

    def _meet(self, what: str) -> str:
        self._met.add(what)
        return what


def _matching(path: str, patterns: Iterable[str]) -> str | None:
    return next((one for one in patterns if matches(path, one)), None)


def matches(path: str, pattern: str) -> bool:
    """Whether a pattern of the shell means a path, as a whole or from one of its folders on.

    The name of a folder means everything in it.
    """
    path, pattern = path.replace("\\", "/"), pattern.replace("\\", "/").rstrip("/")
    forms = (pattern, f"*/{pattern}", f"{pattern}/*", f"*/{pattern}/*")
    return any(fnmatchcase(path, form) for form in forms)


def both(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """What is wanted and left out at once."""
    return sorted(set(first) & set(second))
