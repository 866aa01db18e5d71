"""The entry point: every context-switch function of a project."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from porter.context_switch.accept import with_runtime
from porter.context_switch.armcc import suited
from porter.context_switch.asm_file import AsmFile
from porter.context_switch.assemble import CompileError, alike, assembled
from porter.context_switch.c_file import CFile
from porter.context_switch.c_flow import CUnits
from porter.context_switch.codes import code_of
from porter.context_switch.native_handlers import native_problem
from porter.context_switch.project_data import ProjectData
from porter.context_switch.project_texts import ProjectTexts
from porter.context_switch.result import (
    ESCALATED,
    ROLE_OTHER,
    ROLE_SWITCH,
    NotTranscribable,
    SwitchPort,
)
from porter.context_switch.resumers import Resumers
from porter.context_switch.stand_in import notes_on, with_stand_ins
from porter.failures import Failures
from porter.project.compile_options import CompileOptions
from porter.project.linker_symbols import LinkerAlias, LinkerSymbol
from porter.project.section_addresses import PlacedSection
from porter.project.unread_inputs import NO_INPUTS, UnreadInputs
from porter.project.vectors import Vectors
from porter.source.comments import without_comments
from porter.source.source_file import ASM_SUFFIXES

# Which files are worth compiling: in C both must appear, in code or strings.
_STACK_POINTER = re.compile(
    rb"(?i:[pm]sp\b|\bmov\w*\s+sp\s*,\s*r\d|\bldr\w*\s+sp\s*,\s*\[)"
    rb"|\bm(?:ret|epc|cause|status|scratch)\b"
)
_ASM = re.compile(rb"asm|ASM")
_ASM_OF_MACRO = re.compile(rb"\b_*(?:asm|ASM)_*\b[^;{}()]*\(\s*[A-Za-z_]")  # its text is elsewhere
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define\b(?:[^\n]*\\[^\S\n]*\n)*[^\n]*", re.MULTILINE)
_NAKED = re.compile(rb"\b(?:__)?naked(?:__)?\b")
_INCLUDED = re.compile(rb'^\s*(?:#\s*include\s*["<]|\.include\s+")([^">]+)', re.MULTILINE)
_INSTRUCTION = re.compile(  # as macros for assembler files have them
    rb"\bm(?:rs|sr)\w*\s+\w+\s*,|\bcpsi[de]\s+[if]|\bcsr[rwsc]+i?\s+\w+\s*,|\bmret\b",
    re.IGNORECASE,
)
_MOST_INCLUDED = 50
_DOING = "transcribing context switches"
_PRIVILEGED = re.compile(
    rb"\bcpsi[de]\b|\b(?:primask|basepri|ipsr)\b|\bcsr[rwsc]+i?\b|\becall\b", re.IGNORECASE
)


def units_of(files: Iterable[Path], options: CompileOptions, entry: str = "main") -> CUnits:
    """The C of a project as the transcriber reads it. `entry`: what start-up code calls."""
    return CUnits(files, _suited_options(options), entry)


def _suited_options(options: CompileOptions) -> CompileOptions:
    return options.each(lambda it: with_stand_ins(with_runtime(it)))


def transcribe_project(
    root: Path,
    files: Iterable[Path],
    options: CompileOptions,
    vectors: Vectors | None = None,
    guessed: bool = False,
    linked: Iterable[LinkerSymbol] = (),
    aliases: Iterable[LinkerAlias] = (),
    units: CUnits | None = None,
    failures: Failures | None = None,
    inputs: UnreadInputs = NO_INPUTS,
    placed: Iterable[PlacedSection] = (),
) -> list[SwitchPort]:
    """Edits for the context-switch handlers and the first-task start of a project.

    `files` are the C, header and assembler files under `root` that the project builds, `vectors`
    what is known of the exceptions that functions serve; `guessed`: nobody said
    what is compiled how; `linked`: numbers that linker scripts give names, `aliases`: other names
    that they make; `units`: what `units_of` makes of the files; `failures`: is told
    of files that an internal error keeps from being looked at; `inputs`: what else is linked,
    `placed`: where sections lie, as far as the link says it. Functions that aren't
    fully understood come back as escalated, with the reason; the files themselves are only read.
    """
    listed = [file if file.is_absolute() else root / file for file in files]
    vectors = vectors or Vectors()
    units = units or units_of(listed, options)
    options = _suited_options(options)
    texts = ProjectTexts(listed)
    in_macros = any(_has_switch_text(header.read_bytes()) for header in texts.headers)
    project = ProjectData(listed, options, units, linked, aliases, vectors, inputs, placed)
    tree = _Tree(texts, in_macros, options, vectors, guessed, project)
    ports: list[SwitchPort] = []
    for file in listed:
        name = file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
        alone = failures.of(file, name, _DOING) if failures is not None else nullcontext()
        with alone:
            ports += _in_all_readings(file, tree, _ported(file, tree))
    return ports


@dataclass(frozen=True)
class _Tree:
    """What a file is ported with. `in_macros`: headers have text of switches."""

    texts: ProjectTexts
    in_macros: bool
    options: CompileOptions
    vectors: Vectors
    guessed: bool
    project: ProjectData


def _in_all_readings(file: Path, tree: _Tree, ports: list[SwitchPort]) -> list[SwitchPort]:
    """What was made of a file, if it is the same each time that it is compiled."""
    ways = tree.options.readings(file) if ports else ()
    if len(ways) < 2 or alike(assembled(file, it) for it in ways) is not None:
        return ports
    reason = f"is compiled {len(ways)} times, by options that make different code of it"
    return [
        replace(it, replacement=b"", status=ESCALATED, reason=reason)
        for it in ports
        if it.file == file
    ]


def _ported(file: Path, tree: _Tree) -> list[SwitchPort]:
    """One file, if it is worth compiling."""
    is_c, is_asm = file.suffix == ".c", file.suffix.lower() in ASM_SUFFIXES
    if not is_c and not is_asm:
        return []
    options, vectors, project = tree.options.of(file), tree.vectors, tree.project
    data = without_comments(file.read_bytes())
    on_stack = _STACK_POINTER.search(data) is not None
    try:
        in_c = (on_stack and _ASM.search(data)) or _ASM_OF_MACRO.search(data)
        may_be_naked = _NAKED.search(data) and (
            tree.in_macros or _PRIVILEGED.search(data) or vectors.may_be_in(data)
        )
        if is_c and (in_c or may_be_naked):
            with suited(file, tree.texts.headers, options) as own:
                found = CFile(file, tree.texts, own, vectors, project).port()
                return _told(found, file, own, tree.guessed)
        if is_asm and (
            on_stack
            or _PRIVILEGED.search(data)
            or _reaches_system(file, options, vectors, project.resumers)
        ):
            found = AsmFile(file, tree.texts, tree.options, vectors, project).port()
            return _told(found, file, options, tree.guessed)
    except (CompileError, NotTranscribable) as error:
        reason = str(error)
        if isinstance(error, CompileError):
            reason = f"can't be compiled with the project's options: {error}"
        role = ROLE_SWITCH if _NAKED.search(data) else ROLE_OTHER
        return [SwitchPort(file, 0, 0, b"", role, file.name, ESCALATED, reason)]
    return []


def _has_switch_text(header: bytes) -> bool:
    """Whether a macro of it is assembler text about stack pointers or traps."""
    bodies = [match.group() for match in _MACRO.finditer(header)]
    return any(_ASM.search(body) and _STACK_POINTER.search(body) for body in bodies)


def _told(
    ports: list[SwitchPort], file: Path, options: CompileOptions, guessed: bool
) -> list[SwitchPort]:
    """The same, with a word on headers that a person may have expected others for."""
    note = notes_on(file, options, guessed) if ports else ""
    return [
        replace(port, reason=port.reason + note)
        if port.file == file and port.start < port.end
        else port
        for port in ports
    ]


def _reaches_system(
    file: Path, options: CompileOptions, vectors: Vectors, resumers: Resumers
) -> bool:
    """Whether code of an assembler file, whatever macros it is made of, does what a guest can't; of
    one that can't be assembled, whether what it includes might."""
    assembly = assembled(file, options)
    if assembly is None:
        return _includes_instructions(file, options)
    for function in assembly.object.functions:
        with suppress(NotTranscribable):
            if code_of(assembly, function).needs_port():
                return True
            if native_problem(assembly, function, vectors, resumers):
                return True
    return False


def _includes_instructions(file: Path, options: CompileOptions) -> bool:
    """Whether what an assembler file includes has privileged instructions in its macros."""
    seen, waiting = {file}, [file]
    while waiting and len(seen) < _MOST_INCLUDED:
        here = waiting.pop()
        data = without_comments(here.read_bytes())
        if here != file and _INSTRUCTION.search(data):
            return True
        for name in _INCLUDED.findall(data):
            places = (
                folder / name.decode("latin-1") for folder in (here.parent, *options.include_dirs)
            )
            found = next((place for place in places if place.is_file()), None)
            if found is not None and found not in seen:
                seen.add(found)
                waiting.append(found)
    return False
