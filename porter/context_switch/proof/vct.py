"""VCT as a symbolic path of a start meets it: what runs for a supervisor call, and when."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from porter.context_switch.proof.image import RETURN, STATE
from porter.context_switch.proof.model import (
    CORE,
    ONCE,
    PENDING,
    SWITCH,
    TRIGGER,
    UNMASKED,
    VCT_ACT,
)
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.terms import Term, same, symbol

if TYPE_CHECKING:
    from porter.context_switch.proof.machine import Path


@dataclass(frozen=True)
class Visit:
    """What goes on behind VCT: the registers, and where: at `pc`, or by leaving through `exit`."""

    registers: dict[str, Term]
    pc: int
    events: int
    exit: Term | None = None


def served(path: Path, name: str, arguments: tuple[Term, ...]) -> bool:
    """Whether a call of the guest library is done with; it may lead into VCT."""
    if not path.model.goes_to_task or path.native:
        return False
    if name == ONCE:
        path.handler, path.owed = arguments[0], True
        path.store(STATE + PENDING, 1, 1)
    elif name != UNMASKED:
        return False
    if path.owed:
        masked = path.masks()[0]
        if not isinstance(masked, int):
            raise NotProved("pends a supervisor call under a mask that isn't known")
        if masked == 0:
            _enter(path)
    return True


def end(path: Path) -> None:
    """An original went to the task, on a stack that is one."""
    if path.native and path.model.goes_to_task and path.exit is not None:
        path.take_aligned(path.read("sp"))


def _enter(path: Path) -> None:
    if not isinstance(path.handler, int):
        raise NotProved("pends a supervisor call that nobody handles")
    path.owed = False
    path.visit = Visit(dict(path.registers), path.pc, len(path.events))
    path.store(STATE + VCT_ACT, 1, 1)
    path.registers |= {name: symbol(f"caller's {name}") for name in CORE}
    path.registers["lr"] = RETURN | 1
    path.pc = path.handler & ~1


def leave_by(path: Path, exit_: Term) -> None:
    """The call that led into VCT was the last thing that the start did."""
    if path.visit is not None:
        path.visit = replace(path.visit, exit=exit_)


def leave(path: Path) -> None:
    """VCT is done: the start goes on where a switch was requested, else the task runs."""
    visit = path.visit
    assert visit is not None
    kept = [same(path.read(name), symbol(f"caller's {name}")) for name in CORE]
    if not same(path.exit, RETURN | 1) or not all(kept):
        raise NotProved("doesn't come back as it should from what VCT runs")
    if not same(path.read("sp"), visit.registers["sp"]):
        raise NotProved("leaves words on the stack of VCT")
    path.store(STATE + VCT_ACT, 0, 1)
    path.registers, path.visit = dict(visit.registers), None
    path.pc, path.exit = visit.pc, visit.exit
    requests = [event for event in path.events[visit.events :] if event.name == TRIGGER]
    path.resumed = not any(same(event.arguments[0], SWITCH) for event in requests)
