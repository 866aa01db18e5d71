"""Attributes behind an asterisk, `task *__attribute__((used)) next(void)`, and in front of what a
variable begins with, `run go __attribute__((used)) = load`, as a register's name can be,
`register word call __asm("r12") = 1`: a parser that takes them in front of a declaration alone
reads no function there, and no value. A name becomes an attribute, and can be found as before.
"""

from __future__ import annotations

import re

_ATTRIBUTE = re.compile(
    rb"(\*(?:\s|\b(?:const|volatile|restrict)\b)*)?"
    rb"(\b__attribute(?:__)?\s*\(|\b(?:asm|__asm(?:__)?)\s*\()"
)
_NEXT = re.compile(rb"\s*\b(?:__attribute(?:__)?|asm|__asm(?:__)?)\s*\(")
_BEGINS = re.compile(rb"\s*=(?!=)")
_PARENTHESIS = re.compile(rb'"(?:[^"\\]|\\.)*"|[()]')
_BEGIN = re.compile(rb"[;{}]|^[ \t]*#[^\n]*", re.MULTILINE)


def with_attributes_in_front(text: bytes) -> bytes:
    """Preprocessed C with those at the beginning of their declarations; of parameters, whose
    attributes say nothing of functions, without."""
    edits: list[tuple[int, int, bytes]] = []
    begin = end = 0
    for match in _ATTRIBUTE.finditer(text):
        for it in _BEGIN.finditer(text, end, match.start()):
            begin = it.end()
        end = _closing(text, match.end())
        if match[1] is None and not _has_value(text, end):
            continue
        before = text[begin : match.start(2)]
        if before.count(b"(") <= before.count(b")"):
            moved = text[match.start(2) : end]
            named = match[2].lstrip(b"_").startswith(b"asm")
            edits.append(
                (begin, begin, b" __attribute__((%s)) " % moved if named else b" %s " % moved)
            )
        edits.append((match.start(2), end, b" "))
    for start, stop, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[stop:]
    return text


def _has_value(text: bytes, at: int) -> bool:
    """Whether what a variable begins with stands behind this attribute and others."""
    while (another := _NEXT.match(text, at)) is not None:
        at = _closing(text, another.end())
    return _BEGINS.match(text, at) is not None


def _closing(text: bytes, start: int) -> int:
    """Where the parenthesis ends that is open at a place."""
    depth = 1
    for match in _PARENTHESIS.finditer(text, start):
        depth += {b"(": 1, b")": -1}.get(match.group(), 0)
        if not depth:
            return match.end()
    return len(text)
