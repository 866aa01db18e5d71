"""The edits of a port in pieces that can be made or left one by one.

Edits of one function belong together, since a removed statement may take a variable with it, and
so do all that carry out one decision, wherever they are, and a declaration with the last uses of
its name. Context switches are one piece with the files and prototypes that are made for them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from porter.judging.verdict import Status, Verdict
from porter.output.vendor_report import own_first
from porter.program.functions import functions_in
from porter.result import FilePort, PortResult
from porter.rules.context_switch import Transcribed
from porter.source.balanced import balanced
from porter.source.c_lexer import lex
from porter.source.edit import Edit
from porter.source.source_file import SourceFile

_WORD = re.compile(rb"[A-Za-z_]\w*")
_DECLARED = re.compile(rb"[\w*\s]*?[\w*]\s*\b([A-Za-z_]\w*)\s*(?:[=;,\[(]|$)")
_NAKED = b"naked"


@dataclass(frozen=True)
class Part:
    """What of a piece is in one file."""

    port: FilePort
    edits: tuple[Edit, ...]
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class Piece:
    """Edits that go together, file by file."""

    parts: tuple[Part, ...]

    @property
    def is_needed(self) -> bool:
        """Whether the guest can't do without it, or it is tidying alone."""
        return any(part.verdicts for part in self.parts)


def follows(edit: Edit) -> bool:
    """Whether an edit only adds what others need: it is made where one of its file is."""
    return edit.start == edit.end and edit.replacement.lstrip().startswith(b"#")


def pieces(result: PortResult) -> list[Piece]:
    """In the order of the diff."""
    ports = own_first(result)
    groups = _Groups()
    places = [
        (number, edit)
        for number, port in enumerate(ports)
        for edit in port.edits
        if not follows(edit)
    ]
    held: dict[int, list[Edit]] = defaultdict(list)
    for number, edit in places:
        held[number].append(edit)
    verdicts: dict[Hashable, list[tuple[int, Verdict]]] = defaultdict(list)
    for number, port in enumerate(ports):
        functions = list(_functions(port.file))
        carried = set()
        for edit in held[number]:
            start = _around(functions, edit.start)
            if start is not None or port.file.is_asm:
                groups.join((number, edit), ("function", number, start))
            if port.is_new or _NAKED in port.file.data[edit.start : edit.end]:
                groups.join((number, edit), Transcribed.id)
        for verdict in port.verdicts:
            its = _edits_of(verdict, held[number], functions)
            carried |= set(its)
            for edit in its:
                groups.join((number, edit), (number, its[0]))
                if verdict.rule == Transcribed.id:
                    groups.join((number, edit), Transcribed.id)
            if its:
                verdicts[number, its[0]].append((number, verdict))
        bare = [it for it in held[number] if it not in carried]
        outside = [it for it in bare if _around(functions, it.start) is None]
        for edit, other in _same_names(port.file, outside, held[number]):
            groups.join((number, edit), (number, other))
    return list(_made(ports, places, groups, verdicts))


def _made(
    ports: list[FilePort],
    places: list[tuple[int, Edit]],
    groups: _Groups,
    verdicts: dict[Hashable, list[tuple[int, Verdict]]],
) -> Iterator[Piece]:
    edits: dict[Hashable, dict[int, list[Edit]]] = {}
    told: dict[Hashable, dict[int, list[Verdict]]] = defaultdict(lambda: defaultdict(list))
    for number, edit in places:
        root = groups.root((number, edit))
        edits.setdefault(root, {}).setdefault(number, []).append(edit)
    for first, found in verdicts.items():
        for number, verdict in found:
            told[groups.root(first)][number].append(verdict)
    for root, files in edits.items():
        yield Piece(
            tuple(
                Part(ports[number], tuple(its), tuple(told[root][number]))
                for number, its in files.items()
            )
        )


def _edits_of(
    verdict: Verdict, edits: Iterable[Edit], functions: list[tuple[int, int]]
) -> list[Edit]:
    """The edits that carry out a verdict: its own, those that its place is in, or, where it went
    with something else, those of its function."""
    if verdict.status is not Status.REWRITTEN:
        return []
    at = verdict.site.start
    its = [it for it in edits if it in verdict.edits or it.start <= at < it.end]
    if its:
        return its
    around = _around(functions, at)
    return [it for it in edits if around is not None and _around(functions, it.start) == around]


def _same_names(
    file: SourceFile, declaring: Iterable[Edit], edits: Iterable[Edit]
) -> Iterator[tuple[Edit, Edit]]:
    """Edits that take declarations of a file out, each with one that takes away a use."""
    losing: dict[bytes, list[Edit]] = defaultdict(list)
    for edit in edits:
        for word in _lost(file, edit):
            losing[word].append(edit)
    for edit in declaring:
        for match in _DECLARED.finditer(file.data, edit.start, edit.end):
            for other in losing[match.group(1)]:
                yield edit, other


def _lost(file: SourceFile, edit: Edit) -> set[bytes]:
    """Words that an edit takes out."""
    kept = set(_WORD.findall(edit.replacement))
    return set(_WORD.findall(file.data, edit.start, edit.end)) - kept


def _functions(file: SourceFile) -> Iterator[tuple[int, int]]:
    """Where functions of a file begin and end."""
    if file.is_asm or not file.data:
        return
    tokens = balanced(lex(file.data))
    for name, body, end in functions_in(tokens):
        heads = (it for it in reversed(tokens[:body]) if it.text == name)
        head = next(heads, tokens[body])
        yield file.line_start(head.start), tokens[end - 1].end


def _around(functions: Iterable[tuple[int, int]], at: int) -> int | None:
    return next((start for start, end in functions if start <= at < end), None)


class _Groups:
    """What belongs together, by union and find."""

    def __init__(self) -> None:
        self._over: dict[Hashable, Hashable] = {}

    def add(self, one: Hashable) -> None:
        self._over.setdefault(one, one)

    def root(self, one: Hashable) -> Hashable:
        self.add(one)
        while self._over[one] != one:
            self._over[one] = self._over[self._over[one]]
            one = self._over[one]
        return one

    def join(self, one: Hashable, other: Hashable) -> None:
        self._over[self.root(one)] = self.root(other)


def scope_of(piece: Piece, result: PortResult) -> str:
    """What "all of it" means at a piece: its file, or the folder of others that this is in."""
    name = piece.parts[0].port.file.name
    return result.vendors.of(name) or name
