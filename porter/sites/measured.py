"""Objects that C only measures: `sizeof(x)`, and macros that make nothing else of what they get."""

from __future__ import annotations

import re

from porter.source.c_tree import Node, ancestors
from porter.source.evaluate import Evaluator

_SIZE = re.compile(rb"\bsizeof\s*\(")
_OF_SIZES = re.compile(rb"(?:[-+*/%()<>=\s]|\b\d+[uUlL]*\b)*")


def is_measured(node: Node, evaluator: Evaluator) -> bool:
    """Whether an expression is never evaluated, for only its size is asked for."""
    for around in ancestors(node):
        if around.type == "sizeof_expression":
            return True
        text = evaluator.call_text(around) if around.type == "call_expression" else None
        if text is not None and _SIZE.search(text) and _OF_SIZES.fullmatch(_without_sizes(text)):
            return True
    return False


def _without_sizes(text: bytes) -> bytes:
    """What is left of an expression without all that is measured in it."""
    while (match := _SIZE.search(text)) is not None:
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {b"(": 1, b")": -1}.get(text[end : end + 1], 0)
            end += 1
        text = text[: match.start()] + b"1" + text[end:]
    return text
