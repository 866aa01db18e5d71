"""Supervisor calls: which function serves them, and what it may do."""

from __future__ import annotations

from collections.abc import Iterable

from porter.context_switch.result import (
    DISPATCHES,
    ROLE_CALL,
    ROLE_SVC,
    ROLE_SWITCH,
    TEMPLATES,
    NotTranscribable,
    SwitchPort,
)
from porter.project.vectors import FAULT_HANDLERS, SVC, Vectors


def serves_calls(role: str, names: Iterable[str], vectors: Vectors) -> bool:
    """Whether a transcribed function is what a supervisor call goes to: by its role, where nothing
    says that it serves other exceptions only, or as a switch of which something says it."""
    numbers = vectors.served_by(names)
    if role == ROLE_SWITCH:
        return SVC in numbers
    return role in (ROLE_SVC, ROLE_CALL) and (not numbers or SVC in numbers)


def unknown_svc(ports: Iterable[SwitchPort], vectors: Vectors) -> str:
    """Why a function that raises an SVC stays, where no transcribed function serves it."""
    serving = (it.name for it in ports if SVC in vectors.served_by([it.name]))
    handler = next((f"handler, {name}," for name in serving), "handler")
    return (
        f"raises an SVC whose {handler} isn't transcribed: nothing is known of what it does; "
        f"{TEMPLATES}/{DISPATCHES} shows what to write instead"
    )


class NoCall(NotTranscribable):
    """A handler that isn't known to serve supervisor calls, and looks like one that does."""


def refuse_no_call(role: str | None, names: tuple[str, ...], vectors: Vectors) -> None:
    """NoCall where something else than a supervisor call's handler asks which stack was in use:
    `virt_svc_frame()` is the frame of a call, whose PC isn't where an interrupt came. What
    serves a fault never runs."""
    if role != ROLE_CALL or FAULT_HANDLERS & set(names):
        return
    if vectors.served_by(names) != {SVC}:
        raise NoCall(
            "asks for the stack that was in use, which is understood only of a supervisor call's "
            "handler, and neither its name nor a vector table says that it is one and nothing "
            "else. An interrupt's handler finds the frame of the code that it interrupted at "
            "USR_REG->Reg.SP: hand that on in C; or let the name have SVC in it"
        )
