"""The legacy program beside the port of its sources: what the scanner finds in the one must fall on
a place that the other has a verdict for, or the porter has overlooked it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from porter.judging.verdict import Status, Verdict
from porter.ledger.acknowledged import OpenPlace, plain
from porter.ledger.inlined import Caller, callers
from porter.ledger.program import Program
from porter.ledger.statements import SourceLines
from porter.project.domain import Domain
from porter.result import PortResult
from porter.rules.not_compiled import NotCompiled
from porter.rules.switched_off import SwitchedOff
from scanner.report.finding import Finding

_NOT_COMPILED = frozenset({NotCompiled.id, SwitchedOff.id})
_BY_USE = "definition"
"""The rule that leaves a definition since each use is a site: then the use must be one."""


@dataclass(frozen=True)
class Overlooked:
    """A finding that no verdict explains; `why` is for people."""

    place: OpenPlace
    function: str
    why: str

    @property
    def where(self) -> str:
        """`file:line`, or the function where no line is known."""
        return f"{self.place.file}:{self.place.line}" if self.place.line else self.place.file


@dataclass(frozen=True)
class Ledger:
    """`explained` of `findings`; `by_name`: those of functions whose calls have verdicts, since
    their own lines have none or aren't known; `doubtful`: findings that may be data."""

    program: Path
    findings: int
    explained: int
    by_name: int
    doubtful: int
    has_lines: bool
    open: tuple[Overlooked, ...]

    def __str__(self) -> str:
        doubtful = f"; {self.doubtful} that may be data count in neither" if self.doubtful else ""
        lines = "" if self.has_lines else "; it has no lines, so functions were compared"
        return (
            f"{self.program}: {self.findings} findings, {self.explained} explained"
            f" ({self.by_name} of them by the name of a function alone), {len(self.open)} places"
            f" overlooked{doubtful}{lines}"
        )


def compare(result: PortResult, program: Program, domain: Domain | None) -> Ledger:
    """Each finding of a program beside the verdicts; what the description builds other files for
    is no concern."""
    addresses = [it.address for it in program.findings if it.address is not None]
    chains = callers(program.data, addresses)
    judge = _Judge(result, SourceLines(result.sources), _gone(domain))
    explained = by_name = 0
    found: dict[OpenPlace, Overlooked] = {}
    for finding in program.findings:
        answer = judge.explain(finding, chains.get(finding.address or 0, ()))
        if isinstance(answer, Overlooked):
            found.setdefault(answer.place, answer)
        else:
            explained, by_name = explained + 1, by_name + answer
    return Ledger(
        program.path,
        len(program.findings),
        explained,
        by_name,
        program.doubtful,
        program.has_lines,
        tuple(found.values()),
    )


def _gone(domain: Domain | None) -> frozenset[str]:
    """Files that aren't built any more."""
    if domain is None:
        return frozenset()
    return frozenset([it.file for it in domain.replaced] + list(domain.startup))


class _Judge:
    """The verdicts of a port by line, by function and by the name that they are about."""

    def __init__(self, result: PortResult, sources: SourceLines, gone: frozenset[str]) -> None:
        self._sources, self._gone = sources, gone
        self._lines: dict[str, list[tuple[int, int, Verdict | None]]] = {}
        self._functions: set[str] = set()
        self._names: set[str] = set()
        compiled = {it.name for it in result.sources}
        for port in result.files:
            if port.file.name not in compiled:
                continue  # the description, of which the project lacks a handler
            line = port.file.line
            here = self._lines.setdefault(port.file.name, [])
            for verdict in port.verdicts:
                site = verdict.site
                here.append((line(site.start), line(max(site.end - 1, site.start)), verdict))
                if verdict.rule not in _NOT_COMPILED:
                    inside = (
                        "" if port.file.is_asm else sources.function(port.file.name, here[-1][0])
                    )
                    self._functions |= {_bare(site.where), _bare(inside)}
                if verdict.rule != _BY_USE:
                    self._names.add(_bare(site.what.split("(")[0].split(" ")[0]))
            here += (
                (line(it.start), line(it.end - 1), None) for it in port.edits if it.start < it.end
            )

    def explain(self, finding: Finding, chain: tuple[Caller, ...]) -> bool | Overlooked:
        """Whether it was explained by a name alone; Overlooked where it wasn't."""
        file, _, number = (finding.source or "").rpartition(":")
        steps = [(file, int(number) if number.isdecimal() else 0)]
        steps += [(caller.file, caller.line) for caller in chain]
        for path, line in steps:
            names = self._sources.named(path) if line else []
            answers = [None if it in self._gone else self._at(it, line) for it in names]
            if None in answers:
                return False
            own = [it for it in answers if it is not None and it != _BY_USE]
            if own and not self._is_head(path, line):
                # what a line does on its own account, no call of it explains
                return self._overlooked(finding, [(path, line)], own[0])
        function = _bare((finding.function or "").partition(".")[0])
        is_known = any(line and not self._is_head(path, line) for path, line in steps)
        known = self._names if is_known else self._names | self._functions
        if function and function in known:
            return True
        return self._overlooked(finding, steps, "")

    def _is_head(self, path: str, line: int) -> bool:
        """Whether a line begins a function: a compiler that folds functions which do the same into
        one says it of the other's whole body."""
        return any(self._sources.begins_function(it, line) for it in self._sources.named(path))

    def _at(self, file: str, line: int) -> str | None:
        """None if a verdict explains what a line does; else why none does: "" for no verdict,
        _BY_USE where its uses must have some."""
        first, last = self._sources.statement(file, line)
        refused = self._covers(file, first, last)
        if refused == "":
            names = self._sources.names_in(file, first, last)
            for macro in self._sources.macros(names):
                if self._covers(macro.file, macro.first, macro.last) is None:
                    return None
        return refused

    def _covers(self, file: str, first: int, last: int) -> str | None:
        refused = ""
        for start, end, verdict in self._lines.get(file, ()):
            if start > last or first > end:
                continue
            if verdict is None or verdict.status is not Status.LEFT:
                return None
            if verdict.rule in _NOT_COMPILED:
                refused = f"it was left as {verdict.reason}, but the program has it"
            elif verdict.rule == _BY_USE:
                refused = refused or _BY_USE
            else:
                return None
        return refused

    def _overlooked(
        self, finding: Finding, steps: list[tuple[str, int]], refused: str
    ) -> Overlooked:
        function = finding.function or "?"
        for path, line in steps:
            for file in self._sources.named(path) if line else ():
                text = plain(self._sources.text(file, line))
                place = OpenPlace(finding.rule, file, line, text, finding.text)
                return Overlooked(place, function, refused or "the porter has no verdict on it")
        path, line = steps[0]
        if path and line:
            why = "its source is no part of the project, so nobody ported it"
            place = OpenPlace(finding.rule, path, line, plain(finding.text), finding.text)
        else:
            why = "nothing tells its line, and the porter has no verdict in this function"
            place = OpenPlace(finding.rule, function, 0, plain(finding.text), finding.text)
        return Overlooked(place, function, why)


def _bare(name: str) -> str:
    """A function's name without the underscores that headers put in front of it."""
    return name.lstrip("_")
