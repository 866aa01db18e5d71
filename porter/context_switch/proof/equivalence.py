"""Second oracle: what original and port leave behind, compared for all states at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import z3

from porter.context_switch.proof import idle, task_terms
from porter.context_switch.proof.effort import Effort
from porter.context_switch.proof.idle_loop import loop_of
from porter.context_switch.proof.image import RETURN, TOP, Image
from porter.context_switch.proof.machine import Path
from porter.context_switch.proof.model import (
    BLOCK_WORDS,
    CONTEXT,
    CORE,
    FPU,
    MASKS,
    USR_REG,
    Model,
    kept,
)
from porter.context_switch.proof.paths import Explorer, opposite
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.returns import ELSEWHERE, may_go_elsewhere
from porter.context_switch.proof.task_terms import unequal as _unequal
from porter.context_switch.proof.terms import Term, Truth, bits, symbol, truth

_SHOWN = ("PSP", "EXC_RETURN", *CORE)

Difference = tuple[str, Truth]  # what differs, and when
OTHER_CALLS: list[Difference] = [("the calls", True)]


def equivalent(original: Image, ported: Image, model: Model) -> int:
    """How many paths the original has; on each the port does the same in every state. Raises
    NotProved with a counterexample, or where the solver or this interpreter gives up."""
    effort = Effort()
    natives = Explorer(original, model, True, effort).paths()
    ports = Explorer(ported, model, False, effort).paths()
    compare_all(natives, ports, _differences, effort)
    return len(natives) + (_behind(original, ported, model, natives, effort) if model.waits else 0)


def _behind(
    original: Image, ported: Image, model: Model, before: list[Path], effort: Effort
) -> int:
    """The same of what comes behind a wait."""
    _, head = loop_of(original, model)
    constants = idle.constants_of(before)
    while True:
        start = idle.behind_the_wait(original, model, head, constants)
        natives = Explorer(original, model, True, effort, [start]).paths()
        if any(it.waits for it in natives):
            after = idle.constants_of(natives)
            kept = {name: value for name, value in constants.items() if after.get(name) == value}
        else:
            kept = constants
        if kept == constants:
            break
        constants = kept
    start = idle.behind_the_wait(ported, model, None, {})
    ports = Explorer(ported, model, False, effort, [start]).paths()
    compare_all(natives, ports, _differences, effort)
    return len(natives)


def compare_all(
    natives: Sequence[Path],
    ports: Sequence[Path],
    differences: Callable[[Any, Any], list[Difference]],
    effort: Effort,
    shown: Sequence[str] = _SHOWN,
) -> None:
    """All pairs of paths that have a state in common; NotProved for the first that differ.
    `shown` names what a counterexample starts with."""
    for native in natives:
        twins = [port for port in ports if _same_way(native, port)]
        for port in twins or _not_apart(native, ports):
            pair = native, port
            if not twins:  # each knows what the other's way says
                pair = native.under(port.decided), port.under(native.decided)
            found = [it for it in differences(*pair) if it[1] is not False]
            _refute(*pair, found, effort, shown)


def _not_apart(native: Path, ports: Sequence[Path]) -> list[Path]:
    """Those that aren't taken under literally the opposite of a condition."""
    opposites = [opposite(condition) for condition in native.decided]
    return [
        port
        for port in ports
        if not any(one.eq(other) for one in opposites for other in port.decided)
    ]


def _same_way(native: Path, port: Path) -> bool:
    """Whether two paths are taken under literally the same conditions: then no other pair of
    theirs has a state in common."""
    if len(native.decided) != len(port.decided):
        return False
    return all(any(one.eq(other) for other in port.decided) for one in native.decided)


def _refute(
    native: Path, port: Path, found: list[Difference], effort: Effort, shown: Sequence[str]
) -> None:
    if not found:
        return
    solver: Any = z3.Solver()
    solver.add(*native.conditions, *port.decided)
    solver.add(z3.Or([when for _, when in found]))
    result = effort.check(solver)
    if result == z3.unknown:
        raise NotProved("not proved for all states: the solver gave up")
    if result == z3.sat:
        raise NotProved(_counterexample(solver.model(), found, shown))


def _differences(native: Path, port: Path) -> list[Difference]:
    """All that could differ between two paths."""
    model = native.model
    if native.waits or port.waits:
        return _at_wait(native, port)
    found = memory_differences(native, port)
    if found == OTHER_CALLS:
        return found
    if model.goes_to_task:
        found += _first_switch(native, port)
    if native.ended or port.ended:
        return found
    if port.resumed:
        return [*found, *task_terms.differences(native, port)]
    if model.returns:
        found.append(("the result", _unequal(native.read("r0"), port.read("r0"))))
    if model.is_part:
        found += _part(native, port)
    else:
        found += _context(native, port) if model.is_handler else _returned(native)
    return [*found, *_returned(port), *_block(port)]


def _at_wait(native: Path, port: Path) -> list[Difference]:
    """What a port leaves that lets USR wait where the original does."""
    if not (native.waits and port.waits):
        return [("who waits", True)]
    port.ended = True
    found = memory_differences(native, port)
    if found == OTHER_CALLS:
        return found
    last = port.events[-1]
    found.append(("a variable behind virt_idle()", port.variables.differs(last.variables, "name")))
    found.append(("memory behind virt_idle()", port.memory.differs(last.memory, "place")))
    for name in FPU:  # as they are then they stay: the library's context has no FPU state
        word = port.block[USR_REG + 4 * CONTEXT.index(name)]
        found.append((f"{name} where it waits", _unequal(native.read(name), word)))
    return [*found, *_returned(port), *_block(port)]


def memory_differences(native: Path, port: Path) -> list[Difference]:
    """What is in no register: calls, memory and masks."""
    model = native.model
    found: list[Difference] = []
    if [event.name for event in native.events] != [event.name for event in port.events]:
        return OTHER_CALLS
    for number, (one, other) in enumerate(zip(native.events, port.events, strict=True), 1):
        where = f"at call {number} ({one.name}())"
        for index, pair in enumerate(zip(one.arguments, other.arguments, strict=True)):
            found.append((f"{where} argument {index}", _unequal(*pair)))
        theirs = other.variables.without(port.image.own)
        found.append((f"a variable {where}", one.variables.differs(theirs, f"name {number}")))
        found.append((f"memory {where}", one.memory.differs(other.memory, f"place {number}")))
        if model.sees_masks_at(one.name) and not other.in_vct:
            found += _masks(where, one.masks, other.masks)
    if native.ended or port.ended:
        found.append(("the end", native.ended != port.ended))
        return [*found, *_alignment(native, port)]
    free = task_terms.free(native) if port.resumed else None
    variables = port.variables.without(port.image.own)
    found.append(("a variable at the end", native.variables.differs(variables, "variable")))
    found.append(("memory at the end", native.memory.differs(port.memory, "place", free)))
    found += _masks("at the end", native.masks(), port.masks())
    return [*found, *_alignment(native, port)]


def _first_switch(native: Path, port: Path) -> list[Difference]:
    """Whether both go to the task themselves; the mark in PSP of a start that doesn't."""
    if task_terms.goes_to_task(native) != port.resumed:
        return [("who goes to the task", True)]
    mark = native.read("sp" if native.on_psp else "PSP")
    return [] if port.resumed else [("PSP", _unequal(mark, task_terms.usr(port, "PSP")))]


def _alignment(native: Path, port: Path) -> list[Difference]:
    """What the port takes for granted and the original doesn't."""
    owed = [it for it in port.aligned if not any(map(it.eq, native.aligned))]
    return [("the alignment of an access", truth(z3.Not(condition))) for condition in owed]


def _context(native: Path, port: Path) -> list[Difference]:
    """Registers of the task that is resumed."""
    ends = [native.read(name) for name in (*CORE,)]
    ends += [
        native.exit,
        native.stack_of(native.exit, native.read("PSP")),
        *(native.read(name) for name in FPU),
    ]
    words = [port.block[USR_REG + 4 * index] for index in range(len(CONTEXT))]
    found = [(name, _unequal(*pair)) for name, *pair in zip(CONTEXT, ends, words, strict=True)]
    found.append((ELSEWHERE, may_go_elsewhere(native.exit)))
    return [*found, ("the original's own stack", _unequal(native.read("sp"), TOP))]


def _part(native: Path, port: Path) -> list[Difference]:
    """What a part of the handlers leaves: the task's PSP and S16-S31; the rest is its caller's."""
    ends = {name: symbol(name) for name in CONTEXT}
    ends |= {name: native.read(name) for name in ("PSP", *FPU)}
    found = [
        (name, _unequal(word, port.block[USR_REG + 4 * index]))
        for index, (name, word) in enumerate(ends.items())
    ]
    found += [(f"{name} of the caller", _unequal(native.read(name), symbol(name))) for name in CORE]
    found.append(("the return address", _unequal(native.exit, RETURN | 1)))
    return [*found, ("the stack", _unequal(native.read("sp"), TOP))]


def _returned(path: Path) -> list[Difference]:
    """What a C function owes its caller."""
    caller = "caller's " if path.model.runs_in_vct else ""
    owed = [(name, symbol(caller + name)) for name in CORE]
    owed += [(name, symbol((caller if path.model.is_part else "") + name)) for name in FPU]
    found = [(f"{name} of the caller", _unequal(path.read(name), word)) for name, word in owed]
    found.append(("the return address", _unequal(path.exit, RETURN | 1)))
    return [*found, ("the stack", _unequal(path.read("sp"), TOP))]


def _block(port: Path) -> list[Difference]:
    """fvm_state outside the masks; outside USR_REG too where no task is resumed."""
    words = [port.block[4 * index] for index in range(BLOCK_WORDS)]
    before = [symbol(f"fvm_state[{index}]") for index in range(BLOCK_WORDS)]
    pairs = zip(kept(words), kept(before), strict=True)
    found = [("fvm_state", _unequal(word, old)) for word, old in pairs]
    if not port.model.runs_in_vct:
        marked = ("PSP",) if port.model.goes_to_task else ()
        found += [
            ("USR_REG", _unequal(words[USR_REG // 4 + index], symbol(name)))
            for index, name in enumerate(CONTEXT)
            if name not in marked
        ]
    assert MASKS == 0
    return found


def _masks(where: str, one: tuple[Term, Term], other: tuple[Term, Term]) -> list[Difference]:
    names = ("PRIMASK", "BASEPRI")
    return [
        (f"{name} {where}", truth((bits(first) != 0) != (bits(second) != 0)))
        for name, first, second in zip(names, one, other, strict=True)
    ]


def _counterexample(model: Any, found: list[Difference], shown: Sequence[str]) -> str:
    what = next(
        what for what, when in found
        if when is True or z3.is_true(model.eval(when, model_completion=True))
    )  # fmt: skip
    values = " ".join(
        f"{name} = {model.eval(symbol(name), model_completion=True).as_long():#x}" for name in shown
    )
    return f"{what} differs (z3), from {values}"
