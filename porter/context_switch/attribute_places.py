"""Attributes behind an asterisk, `task *__attribute__((used)) next(void)`: a parser that takes them
in front of a declaration alone reads no function there.
"""

from __future__ import annotations

import re

_BEHIND = re.compile(rb"\*(?:\s|\b(?:const|volatile|restrict)\b)*(__attribute(?:__)?\s*\()")
_PARENTHESIS = re.compile(rb'"(?:[^"\\]|\\.)*"|[()]')
_BEGIN = re.compile(rb"[;{}]|^[ \t]*#[^\n]*", re.MULTILINE)


def with_attributes_in_front(text: bytes) -> bytes:
    """Preprocessed C with those at the beginning of their declarations; of parameters, whose
    attributes say nothing of functions, without."""
    edits: list[tuple[int, int, bytes]] = []
    begin = end = 0
    for match in _BEHIND.finditer(text):
        for it in _BEGIN.finditer(text, end, match.start()):
            begin = it.end()
        end = _closing(text, match.end())
        before = text[begin : match.start(1)]
        if before.count(b"(") <= before.count(b")"):
            edits.append((begin, begin, b" " + text[match.start(1) : end] + b" "))
        edits.append((match.start(1), end, b" "))
    for start, stop, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[stop:]
    return text


def _closing(text: bytes, start: int) -> int:
    """Where the parenthesis ends that is open at a place."""
    depth = 1
    for match in _PARENTHESIS.finditer(text, start):
        depth += {b"(": 1, b")": -1}.get(match.group(), 0)
        if not depth:
            return match.end()
    return len(text)
