"""States that lead where no random one did, from what z3 says of the conditions on the way.

A condition between two words of memory (the end of a ring, two tasks' times) hardly ever holds by
chance. The states only choose what is tried: what both sides make of them the emulator says.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import z3

from porter.context_switch.proof.effort import Effort
from porter.context_switch.proof.image import ARENA, DATA, PAGE, Image
from porter.context_switch.proof.machine import SCRATCH, Path
from porter.context_switch.proof.model import CORE, CPACR, FPU, Model
from porter.context_switch.proof.paths import Explorer
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.states import EXC_RETURNS, ON_PSP, State
from porter.context_switch.proof.terms import bits, split, symbol

_FOR_A_PATH = 2_000_000  # of Effort's resources
_ROOM = 256  # bytes on both sides of where a pointer leads: frames are built there
_SEEDS = (0, 1, 3, 15)  # what else the state holds: with and without FPU access, flags, constants


def guided(original: Image, model: Model, constants: tuple[int, ...]) -> Iterator[State]:
    """Some states for each path of the original; none where its paths aren't understood."""
    effort = Effort()
    try:
        paths = Explorer(original, model, True, effort).paths()
        for path in paths:
            if (found := _solved(path, effort)) is not None:
                for seed in _SEEDS:
                    state = State(seed, model, original.variables, constants)
                    _put(found, path, state)
                    yield state
    except NotProved:
        return


def _solved(path: Path, effort: Effort) -> Any:
    """Values with which the path is taken, and pointers lead to memory; None if there are none."""
    solver: Any = z3.Solver()
    solver.add(*path.conditions)
    allowed = {*EXC_RETURNS}
    if path.model.may_be_called_on_msp:
        allowed |= {value & ~ON_PSP for value in EXC_RETURNS}
    solver.add(z3.Or([symbol("EXC_RETURN") == value for value in sorted(allowed)]))
    for _, address in path.touched:
        if isinstance(address, int):
            continue
        begin, end = _memory_of(path, address)
        solver.add(z3.UGE(bits(address), begin), z3.ULT(bits(address), end))
    found = effort.check(solver, _FOR_A_PATH)
    return solver.model() if found == z3.sat else None


def _memory_of(path: Path, address: Any) -> tuple[int, int]:
    """Where an address may be: begin and end."""
    if _is_variable(path, address):
        return DATA, DATA + 4 * path.image.variables
    return ARENA + _ROOM, ARENA + PAGE - _ROOM


def _is_variable(path: Path, address: Any) -> bool:
    return DATA <= split(address)[1] < DATA + 4 * path.image.variables


def _put(values: Any, path: Path, state: State) -> None:
    """What the path asks for, into a state; the rest of it stays as it is."""

    def word(name: str, otherwise: int) -> int:
        found = values[symbol(name).decl()]
        return otherwise if found is None else int(found.as_long())

    state.core = [word(name, old) for name, old in zip(CORE, state.core, strict=True)]
    state.fpu = [word(name, old) for name, old in zip(FPU, state.fpu, strict=True)]
    state.scratch = [word(name, old) for name, old in zip(SCRATCH, state.scratch, strict=True)]
    state.psp = word("PSP", state.psp)
    state.msp = word("MSP", state.msp)
    state.exc_return = word("EXC_RETURN", state.exc_return)
    state.cpacr = word(f"system {CPACR:#x}", state.cpacr)
    masks = (word(name, old) for name, old in zip(("PRIMASK", "BASEPRI"), state.masks, strict=True))
    state.masks = tuple(it & 1 for it in masks)
    for number in range(path.calls):
        effect = state.effect(number)
        effect.give(word(f"result {number + 1}", effect.scratch[0]))
        effect.stack = word(f"PSP {number + 1}", effect.stack)
    for calls, address in path.touched:
        if not isinstance(address, int) or _is_variable(path, address):
            _put_word(values, path, state, calls, address)


def _put_word(values: Any, path: Path, state: State, calls: int, address: Any) -> None:
    """A word of memory as it is behind so many calls."""
    place = values.eval(bits(address), model_completion=True).as_long() & ~3
    variable = _is_variable(path, address)
    kind = "variables" if variable else "memory"
    content = z3.Array(f"{kind} {calls}" if calls else kind, z3.BitVecSort(32), z3.BitVecSort(32))
    if values[content.decl()] is None:
        return
    value = values.eval(z3.Select(content, z3.BitVecVal(place, 32))).as_long()
    packed = struct.pack("<I", value)
    if not variable and calls:
        state.effect(calls - 1).words.append((place, value))
    elif variable:
        owner: Any = state.effect(calls - 1) if calls else state
        offset = place - DATA
        owner.variables = owner.variables[:offset] + packed + owner.variables[offset + 4 :]
    else:
        offset = place - ARENA
        state.arena = state.arena[:offset] + packed + state.arena[offset + 4 :]
