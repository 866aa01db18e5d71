"""The C beside an assembler file that stands for what was taken out of it, and the edits there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from porter.context_switch.arms import Transcribed
from porter.context_switch.asm_source import AsmSource
from porter.context_switch.assemble import constant, preprocess
from porter.context_switch.c_function import GUEST_HEADER, Writer
from porter.context_switch.companion_head import companion_head
from porter.context_switch.file_text import Part, write_parts
from porter.context_switch.names import Names
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.project_data import ProjectData
from porter.context_switch.result import (
    REWRITTEN,
    ROLE_OTHER,
    NotTranscribable,
    SwitchPort,
    companion_of,
)
from porter.context_switch.variants import Span
from porter.project.compile_options import CompileOptions
from porter.project.vectors import Vectors


@dataclass(frozen=True)
class Moved(Transcribed):
    """A function of the file whose text at [start, end) becomes C. `spans` is what of the text says
    what it does, `section` where its code lies."""

    function: Function
    start: int
    end: int
    spans: tuple[Span, ...]
    section: str
    weak: frozenset[str]  # of its names, those that another file may define instead
    told: str  # what a report says besides

    def private(self) -> set[str]:
        """Names of the file alone that its C mentions."""
        return {name for handler in self.handlers() for name in handler.private}

    def may_miss(self) -> set[str]:
        """Weak names that its C mentions."""
        return {name for handler in self.handlers() for name in handler.may_miss}


@dataclass(frozen=True)
class Companion:
    """`edits`: of the assembler file, and the new one; `blocks`: the C of each function, by where
    its text began."""

    edits: tuple[SwitchPort, ...]
    blocks: dict[int, list[str]]


class CompanionWriter:
    """Writes the C for functions of one file."""

    def __init__(
        self,
        source: Path,
        text: AsmSource,
        options: CompileOptions,
        vectors: Vectors,
        project: ProjectData,
    ) -> None:
        self._source, self._text = source, text
        self._options = options
        self._vectors, self._project = vectors, project

    def write(self, found: Sequence[Moved], names: Names) -> Companion:
        """All of them. NotTranscribable where that can't be."""
        companion = companion_of(self._source)
        if companion.exists():
            raise NotTranscribable(f"{companion.name} is in the way of the C that stands for it")
        asks = companion_head(self._text.data) if any(it.arms for it in found) else []
        head = [*asks, f"#include <{GUEST_HEADER}>"]
        with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder:
            unit = Path(folder, companion.name)
            unit.write_text("\n".join(head) + "\n")
            return self._behind(head, found, self._names_behind(unit, names) if asks else names)

    def _names_behind(self, unit: Path, names: Names) -> Names:
        """The same, with what the companion's own includes declare."""
        declared = preprocess(unit, self._options)
        probe = partial(constant, unit, self._options)
        return Names(declared, names.texts[1], probe, self._project)

    def _behind(self, head: list[str], found: Sequence[Moved], names: Names) -> Companion:
        """`head` is what the companion begins with."""
        writer = Writer(names, spaced=False)
        parts = [
            Part(it.handler, it.arms, it.start, it.function.name, (_head(it, writer),))
            for it in found
        ]
        written = write_parts(parts, writer, names, self._vectors)
        companion = companion_of(self._source)
        blocks: list[str] = []
        edits: list[SwitchPort] = []
        exported = moved(found)
        for it in sorted(found, key=lambda it: it.start):
            blocks += ["", *written.blocks[it.start]]
            for alias in it.function.names[1:]:
                blocks += ["", *writer.alias(alias, it.handler, weak=alias in it.weak)]
                edits += self._without_alias(alias, it, found)
            line = self._text.comment(f"{it.function.name}: in {companion.name}.")
            line += self._text.half_of_unwinding(it.start, it.end)
            line += b"".join(map(self._text.export, sorted(it.private() - exported)))
            exported |= it.private()
            edits.append(
                SwitchPort(
                    self._source,
                    it.start,
                    it.end,
                    line,
                    it.handler.role,
                    it.function.name,
                    REWRITTEN,
                    f"{written.reason(it.handler)}{it.told}, in {companion.name}",
                )
            )
        of = f"/* Functions of {self._source.name} that use what a virtual machine doesn't have. */"
        text = self._text.eol.join(line.encode("latin-1") for line in (of, *head, *blocks, ""))
        edits.sort(key=lambda edit: edit.start)
        new = SwitchPort(companion, 0, 0, text, ROLE_OTHER, companion.name, REWRITTEN, "a new file")
        return Companion((*edits, new), written.blocks)

    def _without_alias(self, alias: str, of: Moved, found: Sequence[Moved]) -> Iterator[SwitchPort]:
        """Edits of the lines that make it another name of what is no longer there."""
        reason = f"another name of {of.function.name}, in {companion_of(self._source).name}"
        for start, end in self._text.equated(alias):
            if not any(it.start <= start < it.end for it in found):
                line = self._text.comment(f"{alias}: {reason}.")
                role = of.handler.role
                yield SwitchPort(self._source, start, end, line, role, alias, REWRITTEN, reason)


def _head(found: Moved, writer: Writer) -> str:
    words = ["weak"] if found.function.name in found.weak else []
    if found.section not in (".text", f".text.{found.function.name}"):
        words.append(f'section("{found.section}")')  # where the linker script has it
    attributes = f"__attribute__(({', '.join(words)})) " if words else ""
    return attributes + writer.signature(found.function.name, found.handler.signature)


def moved(found: Sequence[Moved]) -> set[str]:
    """Names of functions that become C."""
    return {name for it in found for name in it.function.names}


def refuse_losses(
    original: ObjectFile, rest: ObjectFile, found: Sequence[Moved], gone: set[str], needed: set[str]
) -> None:
    """NotTranscribable where something went with a function that isn't its own. `rest`: what is
    left of the file without `found`; `gone`: names that went, `needed`: names that the project
    needs."""
    functions = [it.function for it in found]
    for alias in (name for it in functions for name in it.names[1:]):
        if rest.users(alias) < original.users(alias, functions):
            raise NotTranscribable(
                f"{alias} is another name of it, by no line of the text: write `.set {alias}, ...` "
                "there, or the rest of the file means this function even where another file has "
                f"{alias}"
            )
    if twice := sorted(rest.defined() & gone):
        raise NotTranscribable(f"no label of {twice[0]} found in this file")
    if missing := sorted(rest.wanted() & original.defined() - gone):
        raise NotTranscribable(
            f"the rest of the file needs {missing[0]}, a label in the text that goes with this "
            "function: move it, with what stands there, to a function that stays"
        )
    if lost := sorted(needed - gone - rest.exported):
        raise NotTranscribable(
            f"the project needs {lost[0]}, which stands in the text that goes with this "
            "function: move it behind the function, to a section of its own"
        )
    for name, size in original.data_sizes.items():
        if rest.data_sizes.get(name, 0) < size:
            raise NotTranscribable(
                f"something of section {name} stands in the text that goes with this function: "
                "move it behind the function"
            )
