"""The entry point: every context-switch function of a project."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from porter.context_switch.accept import with_runtime
from porter.context_switch.armcc import suited
from porter.context_switch.asm_file import AsmFile
from porter.context_switch.assemble import CompileError
from porter.context_switch.c_file import CFile
from porter.context_switch.result import ESCALATED, ROLE_OTHER, NotTranscribable, SwitchPort
from porter.project.compile_options import CompileOptions
from porter.source.source_file import ASM_SUFFIXES, C_SUFFIXES, CPLUSPLUS_SUFFIXES

# Which files are worth compiling: in C both must appear, in code or strings.
_COMMENT = re.compile(rb"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STACK_POINTER = re.compile(
    rb"(?i:[pm]sp\b|\bmov\w*\s+sp\s*,\s*r\d|\bldr\w*\s+sp\s*,\s*\[)"
    rb"|\bm(?:ret|epc|cause|status|scratch)\b"
)
_ASM = re.compile(rb"asm|ASM")
_DECLARING = C_SUFFIXES | CPLUSPLUS_SUFFIXES
_MASKS = re.compile(rb"\bcpsi[de]\b|\b(?:primask|basepri)\b", re.IGNORECASE)


def transcribe_project(
    root: Path,
    files: Iterable[Path],
    options: CompileOptions,
    vectors: frozenset[str] = frozenset(),
) -> list[SwitchPort]:
    """Edits for the context-switch handlers and the first-task start of a project.

    `files` are the C, header and assembler files under `root` that the project builds, `vectors`
    names of functions that are known to serve PendSV or supervisor calls. Functions
    that aren't fully understood come back as escalated, with the reason; the files themselves are
    only read.
    """
    listed = [file if file.is_absolute() else root / file for file in files]
    options = with_runtime(options)
    headers = [file for file in listed if file.suffix in (".h", ".hpp")]
    ports: list[SwitchPort] = []
    for file in listed:
        data = _COMMENT.sub(b" ", file.read_bytes())
        on_stack = _STACK_POINTER.search(data) is not None
        try:
            if file.suffix == ".c" and on_stack and _ASM.search(data):
                with suited(file, headers, options) as own:
                    ports += CFile(file, headers, own, _nearest(file, listed), vectors).port()
            elif file.suffix.lower() in ASM_SUFFIXES and (on_stack or _MASKS.search(data)):
                ports += AsmFile(file, _nearest(file, listed), options, vectors).port()
        except (CompileError, NotTranscribable) as error:
            reason = str(error)
            if isinstance(error, CompileError):
                reason = f"can't be compiled with the project's options: {error}"
            ports.append(SwitchPort(file, 0, 0, b"", ROLE_OTHER, file.name, ESCALATED, reason))
    return ports


def _nearest(file: Path, others: Iterable[Path]) -> list[Path]:
    """C and C++ files, nearest first: of several prototypes that one counts."""

    def distance(other: Path) -> int:
        return len(Path(os.path.relpath(other.parent, file.parent)).parts)

    return sorted((o for o in others if o.suffix.lower() in _DECLARING), key=distance)
