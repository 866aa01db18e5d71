"""Places of assembler files, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.trees.facts import SYSTEM_ADDRESS
from tests.trees.instructions import instructions_in
from tests.trees.place import Place

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_REST = re.compile(r"//.*|@.*|(?:^|\s);.*")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+")
_DIRECTIVE = re.compile(r"\s*#\s*(\w+)\s*(.*)")
_LABEL = re.compile(r"^\s*[\w.$]+:")


def assembler_places(file: str, data: str) -> Iterator[Place]:
    """Instructions, and addresses of the system where they aren't just given a name."""
    blank = _COMMENT.sub(lambda found: "\n" * found.group().count("\n") + " ", data)
    depth: list[bool] = []
    for number, line in enumerate(blank.splitlines(), 1):
        directive = _DIRECTIVE.match(line)
        if directive is not None:
            _condition(depth, directive[1], directive[2].strip())
            continue
        if any(depth) or line.startswith("#"):
            continue
        text = _LABEL.sub("", _REST.sub("", line))
        yield from instructions_in(file, text, number, number)
        for found in _NUMBER.finditer(text):
            if SYSTEM_ADDRESS.match(found.group()):
                yield Place(file, number, number, "address", found.group())


def _condition(depth: list[bool], name: str, rest: str) -> None:
    if name in ("if", "ifdef", "ifndef"):
        depth.append(name == "if" and rest == "0")
    elif name in ("else", "elif") and depth:
        depth[-1] = False
    elif name == "endif" and depth:
        depth.pop()
