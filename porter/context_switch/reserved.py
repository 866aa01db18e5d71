"""Registers that a project keeps for itself in all of its code: `register ... asm("r9")` outside of
functions, -ffixed-r9. Tasks and handlers share such a register where they share a processor; here
VCT has registers of its own, and the task's are in USR_REG, so C in VCT would read another one."""

from __future__ import annotations

import re

from porter.context_switch.asm_statements import template_of
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import ASM, is_declarator
from porter.context_switch.handler import Handler
from porter.context_switch.ir import Call
from porter.context_switch.machine import Machine
from porter.context_switch.names import Names
from porter.context_switch.project_data import ProjectData
from porter.context_switch.result import ROLE_OTHER, NotTranscribable
from porter.context_switch.structure import conditions_and_statements
from porter.project.compile_options import CompileOptions
from porter.source.c_tree import ancestors, one_line, text_of, walk

_VARIABLE = re.compile(
    r"^(?P<words>[^\S\n]*(?:[\w*]+\s+)*\bregister\b[^;{}()=]*)\b(?:__asm__|__asm|asm)\b[^;{}()]*"
    r'\(\s*"%?(?P<register>r\d|r1[0-2]|s[bl]|fp|ip|v\d|[tg]p|x\d+|[ast]\d+)"',
    re.MULTILINE,
)
# In a text without it there is no such variable; a whole project's is looked through for each
# function, and the other expression takes its time.
_SOME_VARIABLE = re.compile(r"register\b[^;{}()=]*\b(?:__asm__|__asm|asm)\b")
_OPTION = re.compile(r"-f(?:fixed|call-used|call-saved)-\w+|-msingle-pic-base|-mpic-register=\w+")


_BUILT_IN = b"__builtin_thread_pointer"
_THREAD = re.compile(rb"\b(?:__thread|_Thread_local|thread_local)\b")


def refuse_thread_pointer(handler: Handler, project: ProjectData, machine: Machine) -> None:
    """NotTranscribable where what a handler calls reads the thread pointer: VCT has another than
    the task that it interrupted."""
    names = machine.thread_pointer
    if not names or handler.role == ROLE_OTHER:
        return
    pointer, named = names[0], re.compile(rb"\b(?:%s)\b" % "|".join(names).encode())
    items = conditions_and_statements(handler.everything)
    for it in project.callees.of(it.function for it in items if isinstance(it, Call)):
        for node in (node for definition in it.body.definitions for node in walk(definition)):
            is_asm = node.type in ASM and named.search(template_of(node))
            name = text_of(node) if node.type == "identifier" else b""
            if is_asm or name == _BUILT_IN or _is_per_thread(name, project.units):
                raise _reads(it.road, f"{pointer} ('{one_line(node)}')")
        outside = it.body.assembler if it.body.cplusplus is None else it.body.cplusplus.text
        is_told = it.body.cplusplus is not None and _THREAD.search(outside)
        if named.search(outside) or _BUILT_IN in outside or is_told:
            raise _reads(it.road, pointer)


def _reads(road: str, what: str) -> NotTranscribable:
    return NotTranscribable(
        f"{road}, which reads {what}, and a guest's handlers have registers of their own: let it "
        "find the task in a variable in memory"
    )


def _is_per_thread(name: bytes, units: CUnits) -> bool:
    if not name:
        return False
    declared = (next((it for it in ancestors(node) if it.type == "declaration"), None)
                for node in units.named(name) if is_declarator(node))  # fmt: skip
    return any(it is not None and _THREAD.search(text_of(it)) for it in declared)


def _outside(before: str) -> bool:
    """Whether text stands outside of functions, by what stands before it."""
    return before.count("{") <= before.count("}")


def refuse_reserved(role: str, names: Names, options: CompileOptions) -> None:
    """NotTranscribable with the declaration or the option, for what goes from one task to another
    or calls C as a handler."""
    if role == ROLE_OTHER:
        return
    told = next((flag for flag in options.cpu_flags if _OPTION.fullmatch(flag)), "")
    unit, elsewhere = (text if _SOME_VARIABLE.search(text) else "" for text in names.texts)
    found = [it for it in _VARIABLE.finditer(unit) if _outside(unit[: it.start()])]
    # What isn't preprocessed may have braces in two arms of an #if.
    found += [it for it in _VARIABLE.finditer(elsewhere) if not it.group()[0].isspace()]
    for match in found[:1]:
        told = told or f"{' '.join(match['words'].split())} in {match['register']}"
    if told:
        raise NotTranscribable(
            f"tasks and handlers share a register of the processor ('{told}'), and a guest's "
            "handlers have registers of their own: make it a variable in memory"
        )
