"""What a build makes of objects by objcopy before it links them: symbols with other names, and what
else a program is no longer what its sources say by (binutils' manual, "objcopy")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from porter.project.given_options import absolute

_OBJCOPY = re.compile(r"(?:.*-)?objcopy(?:\.exe)?")
_WITH_VALUE = frozenset(
    {"-I", "-O", "-F", "-B", "-j", "-R", "-b", "-i", "-K", "-N", "-G", "-L", "-W"}
)
_CHANGES = re.compile(
    r"-[GLNW]|--(?:keep-global-symbols?|localize-(?:symbols?|hidden)|globalize-symbols?"
    r"|weaken(?:-symbols?)?|strip-(?:symbols?|unneeded-symbols?)|prefix-symbols|add-symbol"
    r"|update-section|add-section|set-section-flags|change-\S+|adjust-\S+)(?:=.*)?"
)
"""Options by which an object isn't what its source says, besides new names."""


def renamed_symbols(words: Sequence[str], folder: Path) -> Iterator[tuple[str, str]]:
    """Names that a command gives symbols of an object, each behind the old one."""
    options = _options(words)
    for option, value in zip(options, [*options[1:], ""], strict=False):
        name, _, joined = option.partition("=")
        given = joined or value
        if name == "--redefine-sym" and "=" in given:
            old, _, new = given.partition("=")
            yield old, new
        elif name == "--redefine-syms" and (listed := absolute(given, folder)).is_file():
            for line in listed.read_text(errors="replace").splitlines():
                if len(pair := line.partition("#")[0].split()) == 2:
                    yield pair[0], pair[1]


def changed_objects(words: Sequence[str], folder: Path) -> list[Path]:
    """Objects of which nobody here knows any more what is in them."""
    options = _options(words)
    if not any(map(_CHANGES.fullmatch, options)):
        return []
    files = [
        it
        for before, it in zip(["", *options], options, strict=False)
        if not it.startswith("-") and before not in _WITH_VALUE and "=" not in it
    ]
    return [absolute(it, folder) for it in files[-1:]]


def _options(words: Sequence[str]) -> list[str]:
    is_objcopy = bool(words) and _OBJCOPY.fullmatch(Path(words[0]).name) is not None
    return list(words[1:]) if is_objcopy else []
