"""Spaces in expressions that came out of macros."""

from __future__ import annotations

import re

_RULES = (
    (re.compile(r"\s+"), " "),
    (re.compile(r"([(\[~!]) "), r"\1"),
    (re.compile(r" ([)\],;])"), r"\1"),
    (re.compile(r" ?(->|\.(?=\D)) ?"), r"\1"),
    (re.compile(r"(\w) \((?=[^()]*\) *(?:->|\.))"), r"\1 ("),
)
_ATOM = re.compile(r"(?<![\w)])\((\w+|\w+->\w+)\)(?!\s*[\w(~!-])")


def tidied(text: str) -> str:
    """The same expression as a person would space it, without doubled parentheses."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    before = ""
    while before != text:
        before = text
        text = _ATOM.sub(r"\1", _single(text))
    return outermost_stripped(text.strip())


def _single(text: str) -> str:
    """Without parentheses directly around parentheses."""
    partners: dict[int, int] = {}
    stack: list[int] = []
    for position, character in enumerate(text):
        if character == "(":
            stack.append(position)
        elif character == ")" and stack:
            partners[stack.pop()] = position
    dropped: set[int] = set()
    for opening, closing in partners.items():
        if partners.get(opening + 1) == closing - 1:
            dropped |= {opening, closing}
    return "".join(c for position, c in enumerate(text) if position not in dropped)


def outermost_stripped(text: str) -> str:
    """Without parentheses around all of it."""
    while text.startswith("(") and text.endswith(")") and _closes_last(text):
        text = text[1:-1].strip()
    return text


def _closes_last(text: str) -> bool:
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return position == len(text) - 1
    return False
