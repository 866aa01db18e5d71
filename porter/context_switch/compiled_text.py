"""What the compiler says in the assembler text that it makes of a C file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_LABEL = re.compile(r"^([A-Za-z_][\w.$]*):")
_ASM_PLACE = re.compile(r'^[@#] (\d+) "(.+)" 1$')
_NAKED = re.compile(r"^\t@ Naked Function")
_ASM_END = '@ 0 "" 2'
_LINE_MARKER = re.compile(r'^# \d+ ".*$', re.MULTILINE)


@dataclass(frozen=True)
class CompiledText:
    """`text`: what the assembler gets. `naked` maps naked functions to the lines of their asm
    statements in the C file; none for what a header has. `compilers`: lines of the text that the
    compiler wrote on its own."""

    text: str
    naked: dict[str, tuple[int, ...]]
    compilers: frozenset[int] = frozenset()


def compiled_for_arm(text: str, file: str) -> CompiledText:
    """Of a file, where the compiler says which functions are naked."""
    return CompiledText(text, _naked_by_comment(text, file), _compilers_lines(text))


def compiled_for_riscv(text: str, file: str) -> CompiledText:
    """Of a file, where it doesn't say it. The assembler would take the places of asm statements for
    its own."""
    return CompiledText(_LINE_MARKER.sub("", text), _naked_by_content(text, file))


def _naked_by_content(text: str, file: str) -> dict[str, tuple[int, ...]]:
    """Functions of nothing but asm statements."""
    found: dict[str, list[int]] = {}
    label = ""
    inside = False
    for line in text.splitlines():
        code = line.strip()
        if match := _LABEL.match(line):
            if not inside and not match.group(1).startswith(".L"):
                label = match.group(1)
        elif code in ("#APP", "#NO_APP"):
            inside = code == "#APP"
            if inside and label:
                found.setdefault(label, [])
        elif inside and label and (place := _ASM_PLACE.match(line)):
            found[label] += _line_of(place, file)
        elif not inside and code and not code.startswith((".", "#")):
            found.pop(label, None)
            label = ""
    return {name: tuple(lines) for name, lines in found.items()}


def _naked_by_comment(text: str, file: str) -> dict[str, tuple[int, ...]]:
    found: dict[str, list[int]] = {}
    label = ""
    for line in text.splitlines():
        if match := _LABEL.match(line):
            label = match.group(1) if not match.group(1).startswith(".L") else label
        elif _NAKED.match(line):
            found[label] = []
        elif (place := _ASM_PLACE.match(line)) and label in found:
            found[label] += _line_of(place, file)
    return {name: tuple(lines) for name, lines in found.items()}


def _line_of(place: re.Match[str], file: str) -> list[int]:
    return [int(place.group(1))] if Path(place.group(2)).name == file else []


def _compilers_lines(text: str) -> frozenset[int]:
    """Lines of the text, from 1, that no asm statement of the author's has."""
    found, inside = set(), False
    for number, line in enumerate(text.splitlines(), 1):
        inside = _ASM_PLACE.match(line) is not None or (inside and line != _ASM_END)
        if not inside:
            found.add(number)
    return frozenset(found)
