"""Constant pointers that one C file defines and others know by `extern` alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_DEFINED = re.compile(rb"\*\s*const\s+(\w+)\s*=[^;{}]*;")
_DECLARED = re.compile(rb"\bextern\b[^;{}()=]*\*\s*const\s+(\w+)\s*;")
_BEFORE = re.compile(rb"[;{}\n]")


def definitions(texts: Iterable[bytes]) -> Mapping[bytes, bytes]:
    """By name the definition of each that preprocessed files have once, and no static one."""
    found: dict[bytes, set[bytes]] = {}
    for text in texts:
        for match in _DEFINED.finditer(text):
            line = match.start()
            while line and _BEFORE.match(text, line - 1) is None:
                line -= 1
            found.setdefault(match[1], set()).add(text[line : match.end()].strip())
    return {
        name: next(iter(those))
        for name, those in found.items()
        if len(those) == 1 and not next(iter(those)).startswith(b"static")
    }


def known_by_extern(text: bytes, defined: Mapping[bytes, bytes]) -> bytes:
    """Those of the definitions that a preprocessed file only declares."""
    names = {match[1] for match in _DECLARED.finditer(text)} if defined else set()
    own = {match[1] for match in _DEFINED.finditer(text)} if names else set()
    return b"\n".join(defined[name] for name in sorted(names - own) if name in defined)
