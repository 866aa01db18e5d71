"""Plain labels of Arm's and IAR's assemblers that begin functions: code, called or exported.

These assemblers tell code from data by the section; GNU as wants to be told of each name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_CONDITIONS = "eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le"
_CALL = re.compile(
    rf"\s(?:bl|blx)(?:{_CONDITIONS})?(?:\.[wn])?\s+\|?([A-Za-z_][\w.$]*)", re.IGNORECASE
)
_EXPORT = re.compile(r"\s*(?:export|public|pubweak|public_weak|global)\s+(.*)", re.IGNORECASE)
_SECTION = re.compile(r"\s*(?:area|rseg|section|aseg|aseggn)\b(.*)", re.IGNORECASE)
_CODE = re.compile(r"\bcode\b|\.text", re.IGNORECASE)
_LABEL = re.compile(r"(?:\|([^|\s]+)\||([A-Za-z_][\w.$]*))(?::|(?=\s|$))|\s+([A-Za-z_][\w.$]*):")
_NAME = re.compile(r"[A-Za-z_][\w.$]*")
_ATTRIBUTE = re.compile(r"\[[^\]]*\]?")
# What may stand between a label and what it names.
_ASIDE = frozenset({"thumb", "code16", "align", "alignrom", "preserve8", "require8", "cfi", "data",
                    "frame", "keep"})  # fmt: skip
_INSTRUCTION = re.compile(
    r"(?!dc|ds\d|fill|space|equ|set|define|rout|proc|function|macro)[a-z]\w*(?:\.[wn])?",
    re.IGNORECASE,
)


def code_labels(lines: Sequence[str], macros: Iterable[str]) -> frozenset[str]:
    """The names, of a file whose lines have no comments. Of a label in front of a macro, which may
    be data, only a call says that it is code."""
    macros = {name.lower() for name in macros}
    called = {name for line in lines for name in _CALL.findall(line)}
    exported = {name for line in lines for name in _exported(line)}
    found: set[str] = set()
    for number, label in _labels_in_code(lines):
        word = _named(lines, number)
        known = word.lower() not in macros and _INSTRUCTION.fullmatch(word) is not None
        if label in called or (label in exported and known):
            found.add(label)
    return frozenset(found)


def _exported(line: str) -> Iterator[str]:
    if match := _EXPORT.match(line):
        for part in _ATTRIBUTE.sub("", match[1]).split(","):
            yield from _NAME.findall(part)[:1]


def _labels_in_code(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    code = False
    for number, line in enumerate(lines):
        if section := _SECTION.match(line):
            code = _CODE.search(section[1]) is not None
        elif code and (label := _LABEL.match(line)):
            yield number, next(filter(None, label.groups()))


def _named(lines: Sequence[str], number: int) -> str:
    """The first word of what a label stands in front of."""
    rest = [_LABEL.sub("", lines[number], count=1), *lines[number + 1 :]]
    for line in rest:
        match = _LABEL.match(line)
        words = (line[match.end() :] if match else line).split()
        if words and not line.startswith("#") and words[0].lower() not in _ASIDE:
            return words[0]
    return ""
