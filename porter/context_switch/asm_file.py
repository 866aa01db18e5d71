"""Handlers in assembler files: transcribed to say what is possible, ported by a person for now.

The C can't stand in an assembler file, so every such handler is escalated; where its instructions
are understood, the reason says so.
"""

from __future__ import annotations

import re
from pathlib import Path

from porter.context_switch.assemble import assemble
from porter.context_switch.decode import decode
from porter.context_switch.handler import transcribe
from porter.context_switch.names import Names
from porter.context_switch.result import ESCALATED, ROLE_OTHER, NotTranscribable, SwitchPort
from porter.context_switch.roles import classify, touches_stack_pointers
from porter.project.compile_options import CompileOptions


def port_asm_file(source: Path, files: list[Path], options: CompileOptions) -> list[SwitchPort]:
    """Escalations. Raises CompileError where the file can't be assembled."""
    data = source.read_bytes()
    assembly = assemble(source, options)
    texts = [file for file in files if file.suffix in (".h", ".c")]
    elsewhere = "\n".join(file.read_text(encoding="latin-1") for file in texts)
    names = Names("", elsewhere, lambda expression: None)
    ports = []
    for function in assembly.object.functions:
        try:
            instructions = decode(assembly.object, function, assembly.text)
            role = classify(instructions) or ROLE_OTHER
            if role == ROLE_OTHER and not touches_stack_pointers(instructions):
                continue
            handler = transcribe(assembly, function, role, names)
            reason = (
                f"{handler.instructions} instructions understood; write it as C in a file of its "
                "own and take it out here"
            )
        except NotTranscribable as error:
            role, reason = ROLE_OTHER, str(error)
        start = _label(data, function.name)
        ports.append(SwitchPort(source, start, start, b"", role, function.name, ESCALATED, reason))
    return ports


def _label(data: bytes, name: str) -> int:
    match = re.search(rb"^[ \t]*" + re.escape(name.encode()) + rb"\b", data, re.MULTILINE)
    return match.start() if match else 0
