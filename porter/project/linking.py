"""What a build links: the program, and the linker scripts that place it."""

from __future__ import annotations

import re
import shlex
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
_RENAMING = re.compile(r"--?(wrap|defsym)(?:=(.*))?", re.DOTALL)
_NAME = re.compile(r"(?<![\w.$])[A-Za-z_.$][\w.$]*")


@dataclass(frozen=True)
class Linking:
    """A call that links `program`; both absolute. `renamed`: names that its options give another
    meaning, with what they mean (`--wrap=f`, `--defsym=f=g`)."""

    program: Path
    scripts: tuple[Path, ...]
    renamed: tuple[tuple[str, str], ...] = ()


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
    renamed: list[tuple[str, str]] = []
    rest = iter(_options(words[start + 1 :], folder))
    for word in rest:
        if word == "-o":
            program = folder / next(rest, "")
        elif (script := _SCRIPT.fullmatch(word)) is not None:
            scripts.append(folder / (script.group(1) or next(rest, "")))
        elif (option := _RENAMING.fullmatch(word)) is not None:
            renamed += _renamed(option.group(1), option.group(2) or next(rest, ""))
    if program is None or not (scripts or renamed):
        return None
    return Linking(program, tuple(scripts), tuple(renamed))


def _renamed(option: str, value: str) -> list[tuple[str, str]]:
    """What an option makes of names: those that others ask for are the wrapper's."""
    if option == "wrap":
        return [(value, f"__wrap_{value}"), (f"__real_{value}", value)]
    name, _, expression = value.partition("=")
    return [(name, it) for it in dict.fromkeys(_NAME.findall(expression))]


def _linker_at(words: Sequence[str]) -> int | None:
    """Where a command line that links has the linker."""
    start = next((i for i, it in enumerate(words[:4]) if _LINKER.fullmatch(Path(it).name)), None)
    return start if start is not None and not _NO_LINKING & set(words[start:]) else None


def _options(words: Sequence[str], folder: Path) -> Iterator[str]:
    """Options, those that GCC hands on to the linker (`-Wl,a,b`, `-Xlinker a`) and those of files
    (`@objects.list`) among them."""
    for word in words:
        if word.startswith("-Wl,"):
            yield from word.split(",")[1:]
        elif word.startswith("@") and (listed := folder / word[1:]).is_file():
            yield from _options(_words_of(listed), folder)
        elif word != "-Xlinker":
            yield word


def _words_of(file: Path) -> list[str]:
    try:
        return [it for it in shlex.split(file.read_text(errors="replace")) if it[:1] != "@"]
    except ValueError:  # a quotation mark that nothing closes
        return []
