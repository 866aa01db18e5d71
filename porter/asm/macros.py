"""Macros of GNU's assembler: which of their arguments only become parts of names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from porter.source.asm_text import blank_comments

_MACRO = re.compile(
    rb"^[ \t]*\.macro[ \t]+(?P<name>\w+)[ \t,]*(?P<parameters>[^\r\n]*)"
    rb"(?P<body>.*?)^[ \t]*\.endm\b",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_PARAMETER = re.compile(rb"([A-Za-z_]\w*)(?::\w+)?(?:[ \t]*=[^,]*)?[ \t,]*")
# `\()` ends the name of a parameter; a colon makes a label of it.
_PART_BEHIND = re.compile(rb"(?:\\\(\))?:|\\\(\)[\w.$\\]|[.$]")
_PART_BEFORE = re.compile(rb"[\w.$](?:\\\(\))?\Z")


def spelling_arguments(texts: Iterable[bytes]) -> Mapping[str, frozenset[int]]:
    """By the name of a macro, in small letters: the places of arguments that make words of other
    names, `\\name\\()_IRQHandler`, and no numbers. All macros of that name have to agree."""
    found: dict[str, frozenset[int]] = {}
    for text in texts:
        for macro in _MACRO.finditer(blank_comments(text, "gnu")):
            name = macro["name"].decode("latin-1").lower()
            places = frozenset(_spelling(macro["parameters"], macro["body"]))
            found[name] = found.get(name, places) & places
    return found


def _spelling(parameters: bytes, body: bytes) -> Iterator[int]:
    for place, parameter in enumerate(_PARAMETER.findall(parameters)):
        uses = list(re.finditer(rb"\\" + parameter + rb"(?!\w)", body))
        if uses and all(
            _PART_BEHIND.match(body, use.end()) or _PART_BEFORE.search(body[: use.start()])
            for use in uses
        ):
            yield place
