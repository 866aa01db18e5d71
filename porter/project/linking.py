"""What a build links: the program, and the linker scripts that place it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_LINKER = re.compile(
    r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|armclang|ld|ld\.bfd|ld\.lld)(?:-[\d.]+)?(?:\.exe)?"
)
_ARCHIVER = re.compile(r"(?:.*-)?(?:ar|gcc-ar|armar)(?:\.exe)?")
_NO_LINKING = frozenset({"-c", "-S", "-E", "-M", "-MM", "-r"})
_SCRIPT = re.compile(r"(?:-T(?!text|data|bss|rodata|ldata)|--script=|--default-script=|-dT)(.*)")
"""An option with a script in it or behind it; others with -T give the address of a section."""


@dataclass(frozen=True)
class Linking:
    """A call that links `program`; both absolute."""

    program: Path
    scripts: tuple[Path, ...]


def makes_library_alone(calls: Iterable[tuple[list[str], Path]]) -> bool:
    """Whether commands make archives and link nothing: the programs are made elsewhere."""
    commands = [words for words, _ in calls]
    archives = any(_ARCHIVER.fullmatch(Path(words[0]).name) for words in commands if words)
    return archives and all(_linker_at(words) is None for words in commands)


def parse_linking(words: Sequence[str], folder: Path) -> Linking | None:
    """The linker call in a command line, by GCC or by ld itself; None if it is another command."""
    start = _linker_at(words)
    if start is None:
        return None
    program: Path | None = None
    scripts: list[Path] = []
    rest = iter(_options(words[start + 1 :]))
    for word in rest:
        if word == "-o":
            program = folder / next(rest, "")
        elif (script := _SCRIPT.fullmatch(word)) is not None:
            scripts.append(folder / (script.group(1) or next(rest, "")))
    return Linking(program, tuple(scripts)) if program is not None and scripts else None


def _linker_at(words: Sequence[str]) -> int | None:
    """Where a command line that links has the linker."""
    start = next((i for i, it in enumerate(words[:4]) if _LINKER.fullmatch(Path(it).name)), None)
    return start if start is not None and not _NO_LINKING & set(words[start:]) else None


def _options(words: Sequence[str]) -> Iterator[str]:
    """Options, those that GCC hands on to the linker (`-Wl,a,b`, `-Xlinker a`) among them."""
    for word in words:
        if word.startswith("-Wl,"):
            yield from word.split(",")[1:]
        elif word != "-Xlinker":
            yield word
