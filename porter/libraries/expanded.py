"""A file in which calls of libraries are what they do, and the way back to the file as it is.

Rules then judge a call as its body would be judged: a body that is rewritten takes the place of the
call; one that isn't leaves the call as it stands.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from porter.judging.verdict import Status, Verdict
from porter.libraries.calls import LibraryUse
from porter.result import FilePort
from porter.sites.site import Site, SiteKind
from porter.source.edit import Edit, apply_edits
from porter.source.source_file import SourceFile

RULE = "library-call"
"""Of calls that a person has to say the body of."""

_GIVEN = "an argument of a macro that stays as it is"
_GRAVITY = (Status.LEFT, Status.REWRITTEN, Status.ESCALATED)


@dataclass(frozen=True)
class _Span:
    """A use, and where its body stands in the expanded text."""

    use: LibraryUse
    start: int
    end: int


class ExpandedFile:
    """`file` has the bodies; `original` is as it is on disk."""

    def __init__(self, original: SourceFile, uses: Iterable[LibraryUse]) -> None:
        self.original = original
        self._uses = sorted(uses, key=lambda use: use.start)
        self._spans: list[_Span] = []
        pieces: list[bytes] = []
        position = size = 0
        for use in self._uses:
            written = use.body or use.stand_in
            if not written:
                continue
            before = original.data[position : use.start]
            text = written + _line_ends(original.data[use.start : use.end])
            size += len(before)
            self._spans.append(_Span(use, size, size + len(text)))
            pieces += (before, text)
            size += len(text)
            position = use.end
        pieces.append(original.data[position:])
        self.file = replace(original, data=b"".join(pieces))

    def offset(self, original: int) -> int:
        """Where in the expanded text stands what is at an offset of the original."""
        shift = 0
        for span in self._spans:
            if original < span.use.end:
                return min(original + shift, span.start) if original > span.use.start else (
                    original + shift)  # fmt: skip
            shift = span.end - span.use.end
        return original + shift

    def settled(self, port: FilePort) -> FilePort:
        """The port of the original, from that of the expanded file."""
        port = self._without_arguments(port)
        verdicts, untouched = self._verdicts(port)
        edits = self._edits(port.edits, untouched)
        verdicts.sort(key=lambda verdict: verdict.site.start)
        return FilePort(self.original, tuple(edits), tuple(verdicts), port.is_new)

    def _without_arguments(self, port: FilePort) -> FilePort:
        """What a macro that stays is given, stays with it: it may be what the macro writes."""
        stay = [
            (self.offset(use.start), self.offset(use.end))
            for use in self._uses
            if use.is_macro and use.body is None
        ]
        return port.withdrawn({
            it.site: replace(it, status=Status.ESCALATED, reason=_GIVEN, edits=())
            for it in port.verdicts
            if it.status is Status.REWRITTEN
            and any(start <= it.site.start < end for start, end in stay)
        })  # fmt: skip

    @property
    def asked(self) -> dict[int, str]:
        """Places in the expanded text where a person has to say what a call becomes, and why."""
        starts = {
            span.use.start: span.start + span.use.stand_in.find(span.use.name.text)
            for span in self._spans
        }
        return {
            starts.get(use.start, self.offset(use.start)): "no code that is compiled here defines "
            f"{use.name.text.decode('latin-1')} of {use.library}: {use.reason}"
            for use in self._uses
            if use.body is None
        }

    def _verdicts(self, port: FilePort) -> tuple[list[Verdict], set[_Span]]:
        """Verdicts on the original, and the bodies that stay calls."""
        inside: dict[_Span, list[Verdict]] = {span: [] for span in self._spans}
        verdicts = []
        for verdict in port.verdicts:
            span = self._span_at(verdict.site.start)
            if span is None:
                verdicts.append(self._moved(verdict))
            else:
                inside[span].append(verdict)
        untouched = set()
        for span, found in inside.items():
            if span.use.is_macro and not found:
                untouched.add(span)
                continue
            merged = self._merged(span, found)
            verdicts.append(merged)
            if merged.status is not Status.REWRITTEN:
                untouched.add(span)
        return verdicts, untouched

    def _merged(self, span: _Span, found: list[Verdict]) -> Verdict:
        """One verdict on a call, the gravest of those on its body."""
        what = f"{span.use.name.text.decode('latin-1')} of {span.use.library}"
        body = " ".join((span.use.body or b"").decode("latin-1").split())
        if not found:
            reason = f"{what} does {body}, of which no rule knows anything"
            return self._verdict(span.use, Status.ESCALATED, reason, RULE)
        worst = max(found, key=lambda verdict: _GRAVITY.index(verdict.status))
        if span.use.body is None:
            return self._verdict(span.use, worst.status, worst.reason, worst.rule)
        reason = f"as {worst.site.what}, which {what} does: {worst.reason}"
        verdict = self._verdict(span.use, worst.status, reason, worst.rule)
        return replace(verdict, site=replace(verdict.site, where=worst.site.where,
                                             conditions=worst.site.conditions))  # fmt: skip

    def _verdict(self, use: LibraryUse, status: Status, reason: str, rule: str) -> Verdict:
        name = use.name.text.decode("latin-1")
        site = Site(self.original.name, use.name.start, use.name.end, SiteKind.CALL, name)
        return Verdict(site, status, rule, reason)

    def _edits(self, edits: Sequence[Edit], untouched: set[_Span]) -> list[Edit]:
        """Edits of the original."""
        stay = {(span.start, span.end) for span in untouched}
        wanted = [edit for edit in edits if not _is_within(edit, stay)]
        for span in self._spans:
            covered = any(it.start <= span.start and span.end <= it.end for it in wanted)
            touched = any(it.start < span.end and span.start < it.end for it in wanted)
            if not covered and (span in untouched or not touched):
                original = self.original.data[span.use.start : span.use.end]
                wanted.append(Edit(span.start, span.end, original))
        found = [self._moved_edit(group) for group in self._groups(sorted(wanted))]
        return [it for it in found if self.original.data[it.start : it.end] != it.replacement]

    def _groups(self, edits: list[Edit]) -> list[list[Edit]]:
        """Edits by the stretch of text that they change, which holds whole bodies."""
        groups: list[tuple[int, int, list[Edit]]] = []
        for edit in edits:
            start, end = edit.start, edit.end
            for span in self._spans:
                if edit.start < span.end and span.start < edit.end:
                    start, end = min(start, span.start), max(end, span.end)
            if groups and start < groups[-1][1]:
                first, last, others = groups.pop()
                groups.append((min(first, start), max(last, end), [*others, edit]))
            else:
                groups.append((start, end, [edit]))
        return [group for _, _, group in groups]

    def _moved_edit(self, group: list[Edit]) -> Edit:
        start = min(edit.start for edit in group)
        end = max(edit.end for edit in group)
        padded = False
        for span in self._spans:
            if any(it.start < span.end and span.start < it.end for it in group):
                start, end = min(start, span.start), max(end, span.end)
                padded = padded or self.file.data[span.end - 1 : span.end] == b"\n"
        inner = [Edit(it.start - start, it.end - start, it.replacement) for it in group]
        text = apply_edits(self.file.data[start:end], inner)
        if padded:
            text = text.rstrip(b"\\\r\n") if any(end == span.end for span in self._spans) else text
        return Edit(self._back(start), self._back(end), text)

    def _back(self, offset: int) -> int:
        """An offset of the original for one that is in no body."""
        last = bisect_right(self._spans, offset, key=lambda span: span.end) - 1
        if last >= 0:
            return offset - self._spans[last].end + self._spans[last].use.end
        return offset

    def _span_at(self, offset: int) -> _Span | None:
        index = bisect_right(self._spans, offset, key=lambda span: span.start) - 1
        if index >= 0 and offset < self._spans[index].end:
            return self._spans[index]
        return None

    def _moved(self, verdict: Verdict) -> Verdict:
        site = verdict.site
        moved = replace(site, start=self._back(site.start), end=self._back(site.end))
        return replace(verdict, site=moved)


def _is_within(edit: Edit, spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= edit.start and edit.end <= end for start, end in spans)


def _line_ends(text: bytes) -> bytes:
    """What keeps the lines behind a call where they are."""
    lines = text.splitlines(keepends=True)
    return b"".join(
        (b"\\" if line.rstrip(b"\r\n").endswith(b"\\") else b"") + line[len(line.rstrip(b"\r\n")) :]
        for line in lines
        if line.endswith(b"\n")
    )
