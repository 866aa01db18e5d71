"""Files that GNU linker scripts bring into a program: `INPUT(crt.o)`, `GROUP(-lc libapp.a)`.

Binutils' manual, "Commands Dealing with Files": both take what a command line does, AS_NEEDED
around it too, and INCLUDE takes another script in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from porter.source.comments import without_comments

_BRINGS = re.compile(rb"\b(?:INPUT|GROUP)\s*\(((?:[^()]|\([^()]*\))*)\)")
_INCLUDES = re.compile(rb'^[ \t]*INCLUDE[ \t]+"?([^\s";]+)', re.MULTILINE)
_NAME = re.compile(rb'"([^"]*)"|([^\s,()"]+)')
_LARGEST = 1 << 20  # bytes: a script is written by hand


def script_inputs(scripts: Iterable[Path], folders: Sequence[Path]) -> list[str]:
    """What the scripts and those that they include name, as a command line would. `folders`: where
    the linker looks for scripts besides their own."""
    found: dict[str, None] = {}
    waiting, seen = list(scripts), set[Path]()
    while waiting:
        script = waiting.pop()
        if script in seen or not script.is_file() or script.stat().st_size > _LARGEST:
            continue
        seen.add(script)
        text = without_comments(script.read_bytes())
        found |= dict.fromkeys(_names(text))
        for match in _INCLUDES.finditer(text):
            named = match[1].decode("latin-1")
            waiting += [folder / named for folder in (script.parent, *folders)]
    return list(found)


def _names(text: bytes) -> Iterator[str]:
    for group in _BRINGS.findall(text):
        for quoted, plain in _NAME.findall(group):
            if plain != b"AS_NEEDED":
                yield (quoted or plain).decode("latin-1")
