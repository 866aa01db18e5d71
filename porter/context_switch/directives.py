"""Lines of the preprocessor in a text, joined and without comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.source.c_lexer import SPLICE
from porter.source.comments import without_comments

_DIRECTIVE = re.compile(r"[ \t]*#[ \t]*(\w+)[ \t]*(.*)")
_CONSTANT = re.compile(r"(\w+)(?:\(\s*\))? (.+)")
_NAME = re.compile(r"\b[A-Za-z_]\w*")


def directives(data: bytes) -> Iterator[tuple[str, str]]:
    """Words of directives with what stands behind them."""
    text = SPLICE.sub(b" ", without_comments(data)).decode("latin-1")
    for line in text.split("\n"):
        if directive := _DIRECTIVE.match(line):
            yield directive.group(1), " ".join(directive.group(2).split())


def defined_name(rest: str) -> str:
    """The macro of a #define or #undef."""
    name = _NAME.match(rest)
    return name.group() if name is not None else ""


def sure_macros(data: bytes) -> dict[str, str]:
    """What macros without parameters stand for that the text defines once, whatever holds."""
    found: dict[str, str] = {}
    depth = 0
    unsure: set[str] = set()
    for word, rest in directives(data):
        depth += word.startswith("if")
        depth -= word == "endif"
        if word not in ("define", "undef"):
            continue
        name = defined_name(rest)
        constant = _CONSTANT.fullmatch(rest)
        if word == "undef" or depth or constant is None or name in found:
            unsure.add(name)
        else:
            found[name] = constant.group(2)
    return {name: text for name, text in found.items() if name not in unsure}
