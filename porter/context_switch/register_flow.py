"""Where the values of registers go in functions of an object, to those that read them.

Each value is followed: from a register at the function's beginning, or from one that a call of C
may have destroyed, through moves and the stack to an instruction that reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from porter.context_switch.argument_words import ArgumentWords, no_words
from porter.context_switch.assemble import Assembly
from porter.context_switch.codes import code_of
from porter.context_switch.lift_state import Signature
from porter.context_switch.object_file import Function
from porter.context_switch.register_state import State
from porter.context_switch.register_steps import Step
from porter.context_switch.result import NotTranscribable
from porter.context_switch.unreached_code import is_computed, taken_inside, unreached

Prototype = Callable[[str], Signature | None]
Values = frozenset[tuple[str, str]]
"""What a register may hold: what another one had at the beginning, (register, ""), what a call of C
left in it, (register, function), or anything else, ("", "")."""

_ANY: Values = frozenset({("", "")})


_State = State[tuple[str, str]]


@dataclass(frozen=True)
class _Flow:
    """`read`: what some instruction reads; `left`: registers at the end, None if there is none;
    `looks_up`: it may reach what its caller has on the stack; `above`: how many bytes of that it
    takes for its own."""

    read: Values
    left: dict[str, Values] | None
    looks_up: bool
    above: int


class RegisterFlow:
    """Follows the values through the functions of an object. `gone`: the one that becomes C;
    `words`: of the arguments that C takes."""

    def __init__(
        self, assembly: Assembly, prototype: Prototype, gone: str, words: ArgumentWords = no_words
    ) -> None:
        self._assembly, self._prototype, self._gone = assembly, prototype, gone
        self._words = words
        self._rules = assembly.object.machine.calls
        self._known: dict[tuple[str, int], _Flow | None] = {}
        self._why: dict[str, str] = {}

    def beyond(self, function: Function, signature: Signature) -> str:
        """What a function does that its declaration doesn't say; "" for nothing."""
        flow = self._of(function)
        if flow is None:
            return self.misunderstood(function)
        given = {*self._rules.arguments[: len(signature.parameters)], self._rules.link}
        read = flow.read
        if signature.returns:
            read |= (flow.left or {}).get(self._rules.arguments[0], frozenset())
        if wanted := {name for name, by in read if name and not by} - given:
            return f"reads {spans(wanted)} of its caller"
        if changed := self._changed(flow):
            return f"leaves {spans(changed)} changed"
        return "reads what its caller has on the stack" if flow.above else ""

    def of_callers(
        self, function: Function, own: Collection[str] = (), said: Collection[str] = ()
    ) -> str | None:
        """What a function does with registers that its caller counts on; "" for nothing, None where
        its instructions aren't understood. `own`: registers that aren't the caller's, `said`: whose
        change the caller knows of."""
        flow = self._of(function)
        if flow is None:
            return None
        left = flow.left or {}
        told = [left[it] for it in self._rules.results if it in left]
        values = flow.read.union(*told)
        reads = {name for name, by in values if not by} & self._rules.kept - {*own}
        changed = self._changed(flow) - {*own, *said}
        found = (("reads", reads), ("changes", changed))
        return " and ".join(f"{what} {spans(names)}" for what, names in found if names)

    def misunderstood(self, function: Function) -> str:
        """Why nothing is known of a function, for a person; "" where something is."""
        why = self._why.get(function.name)
        return f"has instructions that aren't understood ({why})" if why else ""

    def _changed(self, flow: _Flow) -> set[str]:
        left = flow.left or {}
        return {name for name in self._rules.kept if left.get(name, {(name, "")}) != {(name, "")}}

    def lost(self, function: Function) -> str:
        """Registers that a function reads behind a call of what becomes C."""
        flow = self._of(function)
        return " and ".join(sorted({name for name, by in flow.read if by})) if flow else ""

    def _of(self, function: Function) -> _Flow | None:
        """None while it is being looked at, and for what isn't understood."""
        key = function.name, function.start
        if key not in self._known:
            self._known[key] = None
            try:
                steps = code_of(self._assembly, function).steps()
                self._known[key] = self._followed(function, steps)
            except NotTranscribable as reason:
                self._why[function.name] = str(reason)
        return self._known[key]

    def _followed(self, function: Function, steps: dict[int, Step]) -> _Flow:
        rules = self._rules
        names = {*rules.arguments, *rules.destroyed, *rules.kept, rules.link}
        begin = _State({name: frozenset({(name, "")}) for name in names})
        states: dict[int, _State] = {}
        waiting: list[int] = []
        read: Values = frozenset()
        left: _State | None = None
        jumping: _State | None = None
        looks_up, above = False, 0
        hidden = sorted(unreached(self._assembly, function, steps))
        taken = taken_inside(self._assembly, function, steps)

        def enter(place: int, state: _State) -> None:
            joined = states[place].joined(state, _ANY) if place in states else state
            if joined != states.get(place):
                states[place] = joined
                waiting.append(place)

        enter(function.start, begin)
        while waiting:
            address = waiting.pop()
            if (step := steps.get(address)) is not None:
                if step.calculates:
                    raise NotTranscribable("jumps to an address that it calculates")
                state, used = self._behind(states[address], step)
                read |= used
                above = max(above, self._above(states[address], step))
                looks_up = looks_up or state.shown or above > 0
                looks_up = looks_up or (state.depth is None and bool(step.saves or step.loads))
                if step.returns or step.leaves:
                    left = state if left is None else left.joined(state, _ANY)
                if is_computed(step):
                    jumping = state if jumping is None else jumping.joined(state, _ANY)
                for place in step.following:
                    enter(place, state)
            if not waiting:  # who else goes somewhere: a jump by a register, or somebody else
                further = next((it for it in hidden if it not in states), None)
                for place in taken if further is None else (further,):
                    enter(place, begin if jumping is None else jumping)
        return _Flow(read, left.registers if left is not None else None, looks_up, above)

    def _behind(self, state: _State, step: Step) -> tuple[_State, Values]:
        """The state behind an instruction, and what it reads."""
        before = state.registers
        used: Values = frozenset().union(*(before.get(name, frozenset()) for name in step.reads))
        now = state.behind(step, _ANY)
        if state.depth is None and (step.saves or step.loads):
            # Any word of the stack, or of what isn't the stack.
            used |= self._counted(before[name] for _, name in step.saves if name in before)
            used |= self._counted(state.stack.values())
        if step.calls or step.leaves:
            used |= self._counted(self._handed(now, step)) | self._call(now, step)
        if now.shown:
            used |= self._counted(now.stack.values())
        for name in step.writes & before.keys():
            now.registers[name] = _ANY
        return (state.joined(now, _ANY) if step.maybe else now), used

    def _counted(self, words: Iterable[Values]) -> Values:
        """Of what lies on a stack that others see, what they can't have: padding is no harm."""
        held: Values = frozenset().union(*words)
        return frozenset((name, by) for name, by in held if by or name in self._rules.kept)

    def _called(self, step: Step) -> Function | None:
        """What a step calls in this object, also what begins no function there."""
        functions = self._assembly.object.functions
        found = next((it for it in functions if step.target in it.names), None)
        if found is None or step.place is None:
            return found
        around = self._assembly.object.function_at(found.section, step.place) or found
        return replace(around, start=step.place)

    def _call(self, now: _State, step: Step) -> Values:
        """What a callee reads; the state becomes the one behind it."""
        rules, before = self._rules, dict(now.registers)
        callee = self._called(step)
        gone = bool(self._gone) and step.target == self._gone and step.place is None
        flow = self._of(callee) if callee is not None and not gone else None
        if flow is not None:
            now.shown = now.shown or flow.looks_up
            for name, values in (flow.left or {}).items():
                now.registers[name] = frozenset().union(
                    *(before[held] if held and not by else {(held, by)} for held, by in values)
                )
            wanted = {name for name, by in flow.read if name and not by}
            return frozenset().union(*(before[name] for name in wanted))
        signature = self._prototype(step.target) if step.target else None
        for name in rules.destroyed:
            now.registers[name] = frozenset({(name, self._gone)}) if gone else _ANY
        if signature is None:
            return frozenset()
        if signature.returns:
            now.registers[rules.arguments[0]] = _ANY
        taken = rules.arguments[: len(signature.parameters)]
        return frozenset().union(*(before[name] for name in taken))

    def _handed(self, now: _State, step: Step) -> Iterator[Values]:
        """What lies on the stack where a callee takes it for arguments."""
        size, low = self._on_stack(step), now.depth
        for place, held in now.stack.items() if size else ():
            if low is None or low <= place < low + size:
                yield held

    def _on_stack(self, step: Step) -> int:
        """Bytes of arguments that a callee finds on the stack."""
        if not (step.calls or step.leaves):
            return 0
        callee = self._called(step)
        if callee is None:
            return 4 * max(0, self._words(step.target) - len(self._rules.arguments))
        flow = self._of(callee)
        return flow.above if flow is not None else 0

    def _above(self, state: _State, step: Step) -> int:
        """Bytes on the stack in front of where it was at the function's beginning that a step has,
        as far as that is known."""
        if state.depth is None:
            return 0
        behind = state.behind(step, _ANY).depth if step.calls or step.leaves else None
        places = [state.depth + place + 4 for place, _ in (*step.saves, *step.loads)]
        places += [behind + self._on_stack(step)] if behind is not None else []
        return max((0, *places))


def spans(registers: Iterable[str]) -> str:
    """Registers for a person, neighbours together: `r4 and s16-s31`."""
    found: list[list[str]] = []
    for name in sorted(registers, key=_place):
        kind, number = _place(name)
        if found and number and _place(found[-1][-1]) == (kind, number - 1):
            found[-1].append(name)
        else:
            found.append([name])
    told = [f"{run[0]}-{run[-1]}" if len(run) > 2 else " and ".join(run) for run in found]
    return " and ".join(told)


def _place(register: str) -> tuple[str, int]:
    number = re.search(r"\d+$", register)
    return (register[: number.start()], int(number[0])) if number else (register, 0)
