"""Follows a thread from its first instruction, through every call, to a given system call."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from composer.verify.code.decode import LR, SP, Decoder
from composer.verify.code.effects import Next
from composer.verify.code.state import State, entered, merged
from composer.verify.code.step import Stepper
from composer.verify.code.values import Value, common

MAX_STATES = 5_000
_TURNS = 16
"""So often a place is come to with what is known exactly: a loop of more turns is followed with
what is the same in all of them."""
_NUMBER = 12  # r12 holds the number of a system call


@dataclass(frozen=True)
class SystemCall:
    """A system call with what is known of its number and first two arguments."""

    number: Value
    first: Value
    second: Value


@dataclass(frozen=True)
class Startup:
    """What happens before the last call: system calls in any order, and what went wrong."""

    calls: frozenset[SystemCall]
    reached: bool
    problems: tuple[str, ...]


def follow_startup(
    stepper: Stepper, decoder: Decoder, code: range, entry: int, last: int
) -> Startup:
    """All ways from `entry` until system call `last`; a trap or an endless
    loop may end a way before."""
    calls: set[SystemCall] = set()
    problems: list[str] = []
    reached = False
    seen: set[State] = set()
    visits: Counter[tuple[object, ...]] = Counter()
    known: dict[tuple[object, ...], State] = {}
    waiting = [entered(entry, ())]
    while waiting and not problems:
        state = waiting.pop()
        place = _place(state, code)
        visits[place] += state not in seen
        if visits[place] > _TURNS:
            state = merged(known.get(place, state), state, common)
            known[place] = state
        if state in seen:
            continue
        seen.add(state)
        if len(seen) > MAX_STATES:
            problems.append(f"too long to follow, at 0x{state.pc:08x}")
            break
        instruction = decoder.at(state.pc) if state.pc in code else None
        if instruction is None:
            problems.append(f"leaves its code at 0x{state.pc:08x}")
            break
        for way in stepper.step(state, instruction):
            if way.kind == "system-call":
                call = _system_call(way.state)
                calls.add(call)
                if call.number == last:
                    reached = True
                    continue
                waiting.append(way.state.put(0, None))
            elif way.kind not in ("trap", "halt"):
                after = _next(way)
                if after is None:
                    problems.append(f"branches to an unknown place at 0x{state.pc:08x}")
                    break
                waiting.append(after)
    return Startup(frozenset(calls), reached, tuple(problems))


def _place(state: State, code: range) -> tuple[object, ...]:
    """Where a state is: the instruction, and where the functions return to that are open."""
    values = (state.registers[LR], *(value for _, _, value in sorted(state.frame, key=_offset)))
    returns = (v for v in values if isinstance(v, int) and v & 1 and v & ~1 in code)
    return state.pc, state.registers[SP], *returns


def _offset(part: tuple[int, int, Value]) -> int:
    return part[0]


def _system_call(state: State) -> SystemCall:
    return SystemCall(state.registers[_NUMBER], state.registers[0], state.registers[1])


def _next(way: Next) -> State | None:
    """Where a way goes on; calls are entered, returns go back."""
    if way.kind == "go":
        return way.state
    if way.kind in ("call", "leave") and isinstance(way.target, int):
        state = way.state if way.kind == "call" else way.state.put(LR, None)
        return state.at(way.target & ~1)
    return None
