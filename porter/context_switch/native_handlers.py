"""Handlers that stay as they are, since no instruction of theirs is privileged."""

from __future__ import annotations

from contextlib import suppress

from porter.context_switch.assemble import Assembly
from porter.context_switch.code import Code
from porter.context_switch.codes import code_of
from porter.context_switch.object_file import Function
from porter.context_switch.result import ON_MAIN_STACK, NotTranscribable
from porter.context_switch.resumers import Resumers, is_handler
from porter.project.vectors import CMSIS_HANDLER, Vectors


def native_problem(
    assembly: Assembly, function: Function, vectors: Vectors, resumers: Resumers
) -> str:
    """Why a handler would do something else in VCT; "" for any other function."""
    code = code_of(assembly, function)
    named = any(map(CMSIS_HANDLER.fullmatch, function.names))
    if not named and not is_handler(function.names, vectors):
        return ""
    if text := code.entry_state():
        return (
            f"'{text}' uses EXC_RETURN or the frame on the main stack, and a virtual handler finds "
            "neither: the guest's library calls it, on VCT's own stack. What was interrupted is in "
            "USR_REG->Reg, a supervisor call's frame in virt_svc_frame()"
        )
    helper = resumers.moving_main_stack(_called(assembly, code))
    return f"calls {helper}(), which {ON_MAIN_STACK}" if helper else ""


def _called(assembly: Assembly, code: Code) -> frozenset[str]:
    """Functions that it calls, and those that these do, of the same file."""
    found: set[str] = set()
    waiting = code.callees()
    while waiting:
        found |= waiting
        further: set[str] = set()
        for function in assembly.object.functions:
            if waiting & set(function.names):
                with suppress(NotTranscribable):
                    further |= code_of(assembly, function).callees()
        waiting = further - found
    return frozenset(found)
