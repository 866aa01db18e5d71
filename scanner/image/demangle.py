"""Names of C++ and Rust as their sources have them, by LLVM's decoders.

A mangled name refers to its own parts, so a few hundred bytes can mean gigabytes. What could
come to more than a report can use is left as it is.
"""

from __future__ import annotations

import re

_MANGLED = ("_Z", "_R")
_REFERENCE = re.compile(r"[STB][0-9A-Za-z]{0,4}_")
_PACK = re.compile(r"Dp|sp")
_MOST = 1 << 20
_RUST_HASH = re.compile(r"::h[0-9a-f]{16}$")


def readable(name: str) -> str:
    """The name as a person wrote it; any other one as it is."""
    if not name.startswith(_MANGLED) or _largest(name) > _MOST:
        return name
    from pydemumble import demangle  # few programs for microcontrollers need it

    text: str = demangle(name)
    return _RUST_HASH.sub("", text) or name


def _largest(name: str) -> int:
    """No fewer characters than the name can mean.

    With n references the most comes of tripling what there is with each three of them; an
    expansion of a pack repeats its pattern for each member.
    """
    tripled = len(_REFERENCE.findall(name)) / 3 + 1
    packs = len(_PACK.findall(name))
    if tripled + packs > len(name):
        return _MOST + 1
    size = len(name) * 3.0 ** min(tripled, 30) * float(len(name)) ** min(packs, 8)
    return int(size)
