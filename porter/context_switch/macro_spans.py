"""Where macros that a function's text uses are defined: their conditions are conditions of it.

Of the preprocessor (`#define`), of GNU as (`.macro`), of Arm's and IAR's assembler (MACRO).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.context_switch.variants import Span
from porter.source.asm_text import blank_comments, dialect_of

_DEFINE = re.compile(rb"[ \t]*#[ \t]*define[ \t]+(\w+)")
_HEADS = (
    re.compile(rb"[ \t]*\.macro[ \t]+([\w.$]+)", re.IGNORECASE),
    re.compile(rb"(\w+):?[ \t]+MACRO\b", re.IGNORECASE),
)
_ARM_HEAD = re.compile(rb"[ \t]+MACRO[ \t]*\r?$", re.IGNORECASE)
_ARM_NAME = re.compile(rb"(?:\$\w+)?[ \t]+(\w+)")
_END = re.compile(rb"[ \t]*(?:\.endm|MEND|ENDM)\b", re.IGNORECASE)
_CONDITION = re.compile(rb"[ \t]*#[ \t]*(if|endif)")
_ASKS = re.compile(rb"[ \t]*#[ \t]*(?:if|elif)(?:n?def)?\b(.*)")
_GUARD = re.compile(rb"[ \t]*#[ \t]*ifndef[ \t]+(\w+)\s*#[ \t]*define[ \t]+\1\b")
_WORD = re.compile(rb"[A-Za-z_.$][\w.$]*")


@dataclass(frozen=True)
class _Macro:
    """Lines [first, last) of a definition."""

    name: bytes
    first: int
    last: int


def told_of_headers(headers: Iterable[Path], source: bytes, text: bytes) -> str:
    """For a report: what conditions ask for in macros that a function's text uses, of those headers
    that its file includes. C can't repeat them, so it is as this build has them."""
    told = []
    for header in (it for it in headers if b'"%s"' % it.name.encode() in source):
        if asked := MacroSpans(header.read_bytes()).asked_by(text):
            told.append(f"{', '.join(sorted(asked))} in {header.name}")
    return f"; as this build has what macros ask for: {'; '.join(told)}" if told else ""


class MacroSpans:
    """Those of one text."""

    def __init__(self, data: bytes) -> None:
        self._lines = data.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        self._clean = blank_comments(data, dialect_of(data)).splitlines()
        self._macros: dict[bytes, list[_Macro]] = {}
        for macro in self._definitions():
            self._macros.setdefault(macro.name, []).append(macro)
        self._groups = list(self._conditions())

    def used_by(self, spans: Sequence[Span], texts: Iterable[bytes] = ()) -> list[Span]:
        """Definitions of what is named in some parts of this text or in others, and in their own,
        with the #ifs around them that aren't around those parts too."""
        waiting = [*texts, *(self._text(self._lines_of(span)) for span in spans)]
        found: dict[_Macro, None] = {}
        while waiting:
            for name in set(_WORD.findall(waiting.pop())) & self._macros.keys():
                new = [macro for macro in self._macros[name] if macro not in found]
                found |= dict.fromkeys(new)
                waiting += [self._text((macro.first, macro.last)) for macro in new]
        places = dict.fromkeys(self._around(macro, spans) for macro in found)
        return [(self._starts[first], self._starts[last]) for first, last in places]

    def asked_by(self, text: bytes) -> set[str]:
        """What conditions ask for that are in definitions which a text uses, or around them, where
        these hold instructions."""
        found: set[str] = set()
        for start, end in self.used_by([], [text]):
            lines = [line for first, line in zip(self._starts, self._lines, strict=False)
                     if start <= first < end]  # fmt: skip
            if any(self._instructs(line) for line in lines):
                asks = (match[1] for line in lines if (match := _ASKS.match(line)))
                found |= {name.decode("latin-1") for it in asks for name in _WORD.findall(it)}
        return found - {"defined"}

    def _instructs(self, line: bytes) -> bool:
        return b'"' in line if _DEFINE.match(line) else any(head.match(line) for head in _HEADS)

    def _text(self, lines: tuple[int, int]) -> bytes:
        return b"\n".join(self._lines[lines[0] : lines[1]])

    def _lines_of(self, span: Span) -> tuple[int, int]:
        inside = [n for n, start in enumerate(self._starts[:-1]) if span[0] <= start < span[1]]
        return (inside[0], inside[-1] + 1) if inside else (0, 0)

    def _around(self, macro: _Macro, spans: Sequence[Span]) -> tuple[int, int]:
        used = [self._lines_of(span) for span in spans]
        groups = [
            (first, last)
            for first, last in self._groups
            if first <= macro.first and macro.last <= last
            and not any(first <= start and end <= last for start, end in used)
        ]  # fmt: skip
        return min(groups, default=(macro.first, macro.last))

    def _definitions(self) -> Iterator[_Macro]:
        number = 0
        while number < len(self._clean):
            first, line = number, self._lines[number]
            number += 1
            if match := _DEFINE.match(line):
                while number < len(self._lines) and _goes_on(self._lines[number - 1]):
                    number += 1
                yield _Macro(match[1], first, number)
            elif name := self._head(first):
                while number < len(self._clean) and not _END.match(self._clean[number]):
                    number += 1
                number = min(number + 1, len(self._lines))
                yield _Macro(name, first, number)

    def _head(self, number: int) -> bytes | None:
        line = self._clean[number]
        if _ARM_HEAD.match(line) and number + 1 < len(self._clean):
            match = _ARM_NAME.match(self._clean[number + 1])
        else:
            match = next((it for head in _HEADS if (it := head.match(line))), None)
        return match[1] if match else None

    def _conditions(self) -> Iterator[tuple[int, int]]:
        opened: list[int] = []
        for number, line in enumerate(self._lines):
            match = _CONDITION.match(line)
            if match and match[1] == b"if":
                opened.append(number)
            elif match and opened:
                first = opened.pop()
                if not _GUARD.match(b"".join(self._lines[first : first + 3])):
                    yield first, number + 1


def _goes_on(line: bytes) -> bool:
    return line.rstrip(b"\r\n").endswith(b"\\")
