"""Where the values of registers go in functions of an object, to those that read them.

Each value is followed: from a register at the function's beginning, or from one that a call of C
may have destroyed, through moves and the stack to an instruction that reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass

from porter.context_switch.assemble import Assembly
from porter.context_switch.codes import code_of
from porter.context_switch.lift_state import Signature
from porter.context_switch.object_file import Function
from porter.context_switch.register_state import State
from porter.context_switch.register_steps import Step
from porter.context_switch.result import NotTranscribable

Prototype = Callable[[str], Signature | None]
Values = frozenset[tuple[str, str]]
"""What a register may hold: what another one had at the beginning, (register, ""), what a call of C
left in it, (register, function), or anything else, ("", "")."""

_ANY: Values = frozenset({("", "")})


_State = State[tuple[str, str]]


@dataclass(frozen=True)
class _Flow:
    """`read`: what some instruction reads; `left`: registers at the end, None if there is none."""

    read: Values
    left: dict[str, Values] | None


class RegisterFlow:
    """Follows the values through the functions of an object. `gone`: the one that becomes C."""

    def __init__(self, assembly: Assembly, prototype: Prototype, gone: str) -> None:
        self._assembly, self._prototype, self._gone = assembly, prototype, gone
        self._rules = assembly.object.machine.calls
        self._known: dict[str, _Flow | None] = {}

    def beyond(self, function: Function, signature: Signature) -> str:
        """What a function does that its declaration doesn't say; "" for nothing."""
        flow = self._of(function)
        if flow is None:
            return ""
        given = {*self._rules.arguments[: len(signature.parameters)], self._rules.link}
        read = flow.read
        if signature.returns:
            read |= (flow.left or {}).get(self._rules.arguments[0], frozenset())
        if wanted := {name for name, by in read if name and not by} - given:
            return f"reads {spans(wanted)} of its caller"
        changed = self._changed(flow)
        return f"leaves {spans(changed)} changed" if changed else ""

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

    def _changed(self, flow: _Flow) -> set[str]:
        left = flow.left or {}
        return {name for name in self._rules.kept if left.get(name, {(name, "")}) != {(name, "")}}

    def lost(self, function: Function) -> str:
        """Registers that a function reads behind a call of what becomes C."""
        flow = self._of(function)
        return " and ".join(sorted({name for name, by in flow.read if by})) if flow else ""

    def _of(self, function: Function) -> _Flow | None:
        """None while it is being looked at, and for what isn't understood."""
        if function.name not in self._known:
            self._known[function.name] = None
            with suppress(NotTranscribable):
                steps = code_of(self._assembly, function).steps()
                self._known[function.name] = self._followed(function, steps)
        return self._known[function.name]

    def _followed(self, function: Function, steps: dict[int, Step]) -> _Flow:
        rules = self._rules
        names = {*rules.arguments, *rules.destroyed, *rules.kept, rules.link}
        begin = _State({name: frozenset({(name, "")}) for name in names})
        states = {function.start: begin}
        waiting = [function.start]
        read: Values = frozenset()
        left: _State | None = None
        while waiting:
            address = waiting.pop()
            step = steps.get(address)
            if step is None:
                continue
            state, used = self._behind(states[address], step)
            read |= used
            if step.returns or step.leaves:
                left = state if left is None else left.joined(state)
            for place in step.following:
                joined = states[place].joined(state) if place in states else state
                if joined != states.get(place):
                    states[place] = joined
                    waiting.append(place)
        return _Flow(read, left.registers if left is not None else None)

    def _behind(self, state: _State, step: Step) -> tuple[_State, Values]:
        """The state behind an instruction, and what it reads."""
        before = state.registers
        used: Values = frozenset().union(*(before.get(name, frozenset()) for name in step.reads))
        now = state.behind(step, _ANY)
        if step.calls or step.leaves:
            used |= self._call(now, step)
        for name in step.writes & before.keys():
            now.registers[name] = _ANY
        return (state.joined(now) if step.maybe else now), used

    def _call(self, now: _State, step: Step) -> Values:
        """What a callee reads; the state becomes the one behind it."""
        rules, before = self._rules, dict(now.registers)
        callee = next(
            (it for it in self._assembly.object.functions if step.target in it.names), None
        )
        flow = self._of(callee) if callee is not None and step.target != self._gone else None
        if flow is not None:
            for name, values in (flow.left or {}).items():
                now.registers[name] = frozenset().union(
                    *(before[held] if held and not by else {(held, by)} for held, by in values)
                )
            wanted = {name for name, by in flow.read if name and not by}
            return frozenset().union(*(before[name] for name in wanted))
        signature = self._prototype(step.target) if step.target else None
        gone = bool(self._gone) and step.target == self._gone
        for name in rules.destroyed:
            now.registers[name] = frozenset({(name, self._gone)}) if gone else _ANY
        if signature is None:
            return frozenset()
        if signature.returns:
            now.registers[rules.arguments[0]] = _ANY
        taken = rules.arguments[: len(signature.parameters)]
        return frozenset().union(*(before[name] for name in taken))


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
