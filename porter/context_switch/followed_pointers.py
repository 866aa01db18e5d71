"""Whether an assembler function follows a pointer that it fetched from memory.

A task's saved stack pointer is behind a pointer to its block: who got that pointer fetches once,
who knows a variable by name fetches twice. What is accessed through the result may be a frame. So
each value is followed, through calculations, the stack and functions of the same file, with the
number of words that were fetched on the way to it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache

from porter.context_switch.assemble import Assembly
from porter.context_switch.c_flow import CUnits
from porter.context_switch.call_registers import FLAGS
from porter.context_switch.codes import code_of
from porter.context_switch.cortex_m import CORTEX_M
from porter.context_switch.decode import decode_all
from porter.context_switch.memory_steps import MemoryStep, memory_step
from porter.context_switch.object_file import Function
from porter.context_switch.register_state import State
from porter.context_switch.register_steps import Step

Value = tuple[str, int]
"""Where a pointer came from, and how many words were fetched on the way: the name of a variable,
"" for whoever called or was called, or a number."""
Registers = dict[str, frozenset[Value]]

_NUMBER = "an address"
PLACE: frozenset[Value] = frozenset({(_NUMBER, 0)})
_GIVEN: frozenset[Value] = frozenset({("", 0)})
_FETCHED: frozenset[Value] = frozenset({("", 1)})
_MOST = 2
_CALLS = CORTEX_M.calls  # elsewhere no yield makes a frame
_ENTRY: Registers = {f"r{number}": _GIVEN for number in range(13)} | {"lr": PLACE, FLAGS: PLACE}


class FollowedPointers:
    """Looks at functions of one object. `holds`: whether a variable has a stack pointer in
    itself, or a block with one."""

    def __init__(self, assembly: Assembly, units: CUnits, holds: Callable[[str], bool]) -> None:
        self._assembly, self._units, self._holds = assembly, units, cache(holds)
        self._active: set[str] = set()
        self._code = cache(self._decoded)

    def found(
        self, function: Function, given: Mapping[str, frozenset[Value]] | None = None
    ) -> tuple[str, str] | None:
        """Where a pointer came from that is followed to what may be a frame, and the instruction.
        `given`: what registers hold at the beginning, if that is known. NotTranscribable for
        bytes that are no instruction."""
        found, _ = self._followed(function, _ENTRY | dict(given or {}))
        return found

    def _decoded(self, function: Function) -> tuple[dict[int, Step], dict[int, MemoryStep]]:
        unit = self._assembly.object
        steps = code_of(self._assembly, function).steps()
        code = decode_all(unit, function, self._assembly.text)
        return steps, {place: memory_step(unit, function, it) for place, it in code.items()}

    def _followed(
        self, function: Function, registers: Registers
    ) -> tuple[tuple[str, str] | None, Registers]:
        """With what registers hold at the end."""
        steps, code = self._code(function)
        states = {function.start: State(registers)}
        waiting, left = [function.start], dict[str, frozenset[Value]]()
        found: dict[int, tuple[str, str]] = {}
        while waiting:
            address = waiting.pop()
            step = steps.get(address)
            if step is None:
                continue
            now, origin = self._behind(states[address], step, code[address])
            if origin is not None:
                found[address] = origin
            if step.returns or step.leaves:
                left = {name: held | left.get(name, held) for name, held in now.registers.items()}
            for place in step.following:
                joined = states[place].joined(now, _GIVEN) if place in states else now
                if joined != states.get(place):
                    states[place] = joined
                    waiting.append(place)
        return (found[min(found)] if found else None), left

    def _behind(
        self, state: State[Value], step: Step, memory: MemoryStep
    ) -> tuple[State[Value], tuple[str, str] | None]:
        """The state behind an instruction, and what it follows."""
        before, now = state.registers, state.behind(step, _GIVEN)
        origin = self._may_be_saved(_held(before, memory.bases))
        found = None if origin is None else (origin, memory.text)
        if step.calls or step.leaves:
            return now, self._called(now, step, memory) or found
        moved = {name for _, name in step.loads}
        for name in (step.writes | set(memory.fetched)) & before.keys() - moved:
            now.registers[name] = _written(name, before, step, memory)
        return (state.joined(now, _GIVEN) if step.maybe else now), found

    def _called(self, now: State[Value], step: Step, memory: MemoryStep) -> tuple[str, str] | None:
        """What a callee follows, or may; the state becomes the one behind it."""
        callee = self._own(step.target, memory.calls)
        found: tuple[str, str] | None = None
        if callee is not None and callee.name not in self._active:
            self._active.add(callee.name)
            found, left = self._followed(callee, now.registers)
            self._active.discard(callee.name)
            now.registers = left or now.registers
            return found
        for place, name in enumerate(_CALLS.arguments if callee is None else ()):
            is_taken = name not in step.reads and self._takes(step.target, place)
            origin = self._may_be_saved(now.registers[name]) if is_taken else None
            found = found or (None if origin is None else (origin, memory.text))
        now.registers |= dict.fromkeys(_CALLS.destroyed, _GIVEN)
        return found

    def _own(self, name: str, place: int | None) -> Function | None:
        """A function of this object by its name, or what begins at a place, which may have no
        name that others know."""
        functions = self._assembly.object.functions
        known = next((it for it in functions if name in it.names or name == it.name), None)
        if place is None or known is None or known.start == place:
            return known
        return replace(known, name=f"{name}+{place:#x}", start=place, names=())

    def _takes(self, callee: str, place: int) -> bool:
        """Whether a function elsewhere may read an argument; "": nobody knows which it is."""
        name = callee.encode()
        known = self._units.definitions(name) if callee else []
        return not known or bool(self._units.parameter_uses(name, place))

    def _may_be_saved(self, values: frozenset[Value]) -> str | None:
        """From where a pointer was fetched that may be a saved stack pointer."""
        for origin, fetched in sorted(values):
            if fetched >= _MOST or (fetched and (origin == "" or self._holds(origin))):
                return origin or "what it is given"
        return None


def _held(registers: Registers, names: Collection[str]) -> frozenset[Value]:
    return frozenset().union(*(registers.get(name, frozenset()) for name in names))


def _written(name: str, before: Registers, step: Step, memory: MemoryStep) -> frozenset[Value]:
    """What an instruction leaves in a register."""
    if name in memory.fetched:
        behind = _held(before, memory.bases) or _GIVEN
        return frozenset((origin, min(fetched + 1, _MOST)) for origin, fetched in behind)
    if name in memory.bases:  # moved on
        return before[name]
    if memory.symbol is not None:
        return frozenset({(memory.symbol, 0)})
    if memory.is_number:
        return PLACE
    return _held(before, step.reads - {FLAGS}) or (_FETCHED if memory.is_float else PLACE)
