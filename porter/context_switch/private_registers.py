"""Registers that assembler functions agree on among themselves, and that no prototype tells.

C that stands in a callee's or a caller's place keeps to the procedure call standard and to nothing
else. So each value is followed: from a register at the function's beginning, or from one that a
call of C may have destroyed, through moves and the stack to an instruction that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from porter.context_switch.assemble import Assembled, Assembly
from porter.context_switch.codes import code_of
from porter.context_switch.lift_state import Signature
from porter.context_switch.object_file import Function
from porter.context_switch.register_state import State
from porter.context_switch.register_steps import Step
from porter.context_switch.result import NotTranscribable
from porter.source.source_file import ASM_SUFFIXES

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


class PrivateRegisters:
    """Looks at the functions of the project's assembler files."""

    def __init__(self, files: Iterable[Path], assembled: Assembled) -> None:
        self._files = [file for file in files if file.suffix.lower() in ASM_SUFFIXES]
        self._assembled = assembled
        self._text = cache(lambda file: file.read_bytes())

    def _mentioning(self, name: str) -> Iterable[tuple[Path, Assembly]]:
        for file in self._files:
            if name.encode() in self._text(file) and (found := self._assembled(file)) is not None:
                yield file, found

    def refuse_callee(self, name: str, prototype: Prototype) -> None:
        """NotTranscribable where a function takes more than its arguments or leaves registers
        changed that a call keeps."""
        signature = prototype(name)
        if signature is None or signature.unprototyped:
            return
        for file, assembly in self._mentioning(name):
            for function in assembly.object.functions:
                if name not in function.names:
                    continue
                flows = _Flows(assembly, prototype, "")
                if wrong := flows.beyond(function, signature):
                    raise NotTranscribable(
                        f"calls {name}() of {file.name}, which {wrong}: C calls it as it is "
                        "declared. Let it take what it needs as an argument and return its result, "
                        "or make one function of the two"
                    )

    def refuse_callers(self, name: str, prototype: Prototype) -> None:
        """NotTranscribable where assembler that stays goes on with registers of a function that
        becomes C."""
        for file, assembly in self._mentioning(name):
            flows = _Flows(assembly, prototype, name)
            for function in assembly.object.functions:
                if name in function.names or not _stays(assembly, function):
                    continue
                if lost := flows.lost(function):
                    raise NotTranscribable(
                        f"{function.name}() of {file.name}, which stays assembler, calls it and "
                        f"then reads {lost}, which C may change: let it save what it needs in "
                        f"{assembly.object.machine.calls.safe}, or write it in C too"
                    )


def _stays(assembly: Assembly, function: Function) -> bool:
    with suppress(NotTranscribable):
        return not code_of(assembly, function).needs_port()
    return False


class _Flows:
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
        left = flow.left or {}
        if signature.returns:
            read |= left.get(self._rules.arguments[0], frozenset())
        if wanted := sorted({name for name, by in read if name and not by} - given):
            return f"reads {' and '.join(wanted)} of its caller"
        changed = [name for name in sorted(self._rules.kept) if left.get(name, {(name, "")})
                   != {(name, "")}]  # fmt: skip
        return f"leaves {' and '.join(changed)} changed" if changed else ""

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
