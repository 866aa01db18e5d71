"""SysTick by its registers: LOAD, VAL and CTRL in one function are one set-up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.bits import zeros
from porter.meaning.called_with import called_with
from porter.meaning.expressions import bare, expanded
from porter.meaning.pauses import leads_to
from porter.meaning.tick_clock import (
    ENABLE,
    TICKINT,
    control_of,
    is_control,
    timing_of,
)
from porter.meaning.tick_rate import Rate, rate_of
from porter.meaning.tick_source import source_changed
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.c_tree import ancestors
from porter.source.edit import Edit
from porter.source.truth import binary

_PERIOD = 0xFF_FFFF  # of LOAD
_HEADER = (
    "#define CTRL (*(volatile unsigned *)0xE000E010)\n"
    "#define LOAD (*(volatile unsigned *)0xE000E014)\n"
    "#define VAL (*(volatile unsigned *)0xE000E018)\n"
)
_INSTEAD = {
    "SysTick->VAL": "; virt_cycles() measures time",
    "SysTick->CTRL": "; a machine has no COUNTFLAG to poll: to wait, ask virt_cycles(), which "
    "counts FVM_CLOCK_HZ a second, until it is so much further, or count the tick's calls",
}
_OTHER_PERIODS = (
    "each time another period is set, and a machine's tick has one rate: start it once by "
    "hyp_tick_set(hz) and count its calls until the next one that is wanted, or set a timer of the "
    "chip that the description grants the VM"
)


class TickRegister(Rule):
    """All or nothing a function: half a timer is worse than none."""

    id = "tick-register"
    finds = "SysTick->LOAD, VAL and CTRL written to start or stop a periodic tick"
    becomes = "hyp_tick_set(hz), hyp_tick_set(0)"
    why = "the timer is the kernel's; a machine has a tick at a rate"
    samples = (
        Sample(
            _HEADER + "void f(void)\n{\n    CTRL = 0;\n    VAL = 0;\n"
            "    LOAD = (168000000 / 1000) - 1;\n    CTRL = 7;\n}\n",
            _HEADER + "void f(void)\n{\n    hyp_tick_set(1000);\n}\n",
        ),
        Sample(
            _HEADER + "void f(void) { LOAD = 21000 - 1; CTRL = 3; }",
            _HEADER + "void f(void) { hyp_tick_set(1000); }",
        ),
        Sample(
            _HEADER + "void f(int on) { if (on) CTRL |= 3; else CTRL &= ~3u; }",
            _HEADER + "void f(int on) { if (on) hyp_tick_set(1000); else hyp_tick_set(0); }",
        ),
        Sample(
            _HEADER + "void f(void) { CTRL &= ~1u; }", _HEADER + "void f(void) { hyp_tick_set(0); }"
        ),
        Sample(
            _HEADER + "void f(void)\n{\n    CTRL = 0;\n    LOAD = 0;\n    VAL = 0;\n    g();\n}\n",
            _HEADER + "void f(void)\n{\n    hyp_tick_set(0);\n    g();\n}\n",
        ),
        Sample(
            _HEADER + "void f(void)\n{\n    LOAD = 167999;\n    CTRL |= 4;\n    CTRL |= 1;\n"
            "    CTRL |= 2;\n}\n",
            _HEADER + "void f(void)\n{\n    hyp_tick_set(1000);\n}\n",
        ),
        Sample(
            _HEADER + "void f(void)\n{\n    LOAD = 20999;\n    CTRL &= ~4u;\n    CTRL |= 3;\n}\n",
            _HEADER + "void f(void)\n{\n    hyp_tick_set(1000);\n}\n",
        ),
        Sample(
            _HEADER + "void f(int on)\n{\n    CTRL = 0;\n    if (!on)\n        return;\n"
            "    LOAD = 167999;\n    CTRL = 7;\n}\n",
            _HEADER + "void f(int on)\n{\n    hyp_tick_set(0);\n    if (!on)\n        return;\n"
            "    hyp_tick_set(1000);\n}\n",
        ),
        Sample(_HEADER + "void f(void) { CTRL &= ~4u; }", "", escalates=True),
        Sample(
            _HEADER + "void f(void)\n{\n    LOAD = 168000;\n    CTRL = 7;\n}\n",
            _HEADER + "void f(void)\n{\n    hyp_tick_set(1000);\n}\n",
        ),
        Sample(
            _HEADER + "void f(unsigned n) { CTRL &= ~1u; LOAD = n - 1; VAL = 0; CTRL |= 1; }",
            "",
            escalates=True,
        ),
        Sample(_HEADER + "unsigned f(void) { return VAL; }", "", escalates=True),
        Sample(_HEADER + "void f(void) { LOAD = 99; CTRL = 5; }", "", escalates=True),
        Sample(_HEADER + "void f(void) { CTRL = 0; LOAD = 99; }", "", escalates=True),
        Sample(_HEADER + "void f(int off) { if (off) CTRL = 0; LOAD = 0; }", "", escalates=True),
        Sample(_HEADER + "void f(void) { CTRL = 5; }", "", escalates=True),
        Sample(
            _HEADER + "void f(unsigned ms) { LOAD = ms * 168000u; CTRL = 7; }", "", escalates=True
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Group the accesses by function or macro."""
        groups: dict[int, list[Access]] = {}
        for access in unit.accesses():
            if access.register is not None and access.register.block == "SysTick":
                groups.setdefault(access.context.root.id, []).append(access)
        for accesses in groups.values():
            problem = self._problem(unit, accesses)
            if problem is None:
                yield from self._set_up(unit, accesses)
            else:
                for access in accesses:
                    yield self.escalated(access.site, problem)

    def _problem(self, unit: Unit, accesses: list[Access]) -> str | None:
        for access in accesses:
            name = str(access.register)
            if access.use != "write":
                if not _inside_write(access, accesses):
                    return f"{name} is read{_INSTEAD.get(name, '')}"
            elif access.statement is None:
                return f"{name} is written inside an expression"
            elif name == "SysTick->CTRL" and control_of(unit, access) is None:
                return "what is written to CTRL isn't known"
        starts = [a for a in accesses if self._switches(unit, a) == ENABLE]
        loads = _loads(unit, accesses)
        if len(loads) > 1 or (len(starts) > 1 and not _adds_up(starts)):
            return "the tick is set up more than once in one function"
        if loads and starts and not self._enables(unit, starts):
            return "TICKINT is set up, and ENABLE elsewhere: write hyp_tick_set(hz) there"
        if loads and starts and self._goes_on_otherwise(unit, loads[0], starts):
            return _OTHER_PERIODS
        if starts and not self._interrupts(unit, accesses):
            return "the timer runs without its interrupt: virt_cycles() measures time"
        if loads and not starts and not self._empties(unit, loads[0], accesses):
            return "LOAD is written, but the timer isn't started here"
        if loads and starts and not _always_before(loads[0], starts[-1]):
            return "LOAD is written under a condition, and else the rate is another one"
        if not starts and all(str(it.register) == "SysTick->VAL" for it in accesses):
            return "VAL begins a period anew, and a machine's tick goes on"
        if starts:
            rate = self._rate(unit, accesses, starts[-1])
            return (
                rate.unchecked_problem
                if rate is not None
                else "which rate the tick has isn't known"
            )
        return source_changed(unit, accesses)

    def _set_up(self, unit: Unit, accesses: list[Access]) -> Iterator[Verdict]:
        starts = [a for a in accesses if self._switches(unit, a) == ENABLE]
        start = starts[-1] if starts else None
        rate = self._rate(unit, accesses, start) if start is not None else None
        loads = _loads(unit, accesses)
        for access in accesses:
            whole, context = access.whole, access.context
            switch = self._switches(unit, access)
            if access is start and rate is not None:
                text = b"hyp_tick_set(%s)" % rate.text
            elif switch == 0 and not (loads and leads_to(access, start)):
                text = b"hyp_tick_set(0)"
            elif access.use == "write" and access.statement is not None:
                unit.remove_write(context, whole)
                unit.delete(context, access.statement)
                yield self.rewritten(access.site, "removed: part of the tick's set-up")
                continue
            else:
                yield self.rewritten(access.site, "part of the write it is read for")
                continue
            edit = Edit(context.start(whole), context.end(whole), text)
            if access is start and rate is not None:
                unit.facts.note_tick(access.site, rate.hz)
            yield self.rewritten(access.site, "the tick by its rate", edit)

    def _switches(self, unit: Unit, access: Access) -> int | None:
        """ENABLE for a write that starts the timer or its interrupt, 0 for one that stops it."""
        control = control_of(unit, access) if is_control(access) else None
        if control is None:
            return None
        if control.on & ENABLE or (control.on & TICKINT and not control.off & ENABLE):
            return ENABLE
        return 0 if control.off & (ENABLE | TICKINT) else None

    @staticmethod
    def _enables(unit: Unit, starts: list[Access]) -> bool:
        """Whether one of them makes the timer run, and not only its interrupt come."""
        controls = (control_of(unit, it) for it in starts)
        return any(control is not None and control.on & ENABLE for control in controls)

    def _goes_on_otherwise(self, unit: Unit, load: Access, starts: list[Access]) -> bool:
        """Whether a timer that another function set up goes on with a period of the moment."""
        if load.value is None or any(it.operator != b"|=" for it in starts):
            return False
        number = unit.text.evaluator.number(load.value, called_with(unit, load.context))
        return number is None and not any(
            control.on & TICKINT for it in starts if (control := control_of(unit, it)) is not None
        )

    def _empties(self, unit: Unit, load: Access, accesses: list[Access]) -> bool:
        """Whether LOAD becomes 0 where the timer is stopped anyway, as boot loaders leave it."""
        if load.value is None or load.operator != b"=":
            return False
        value = unit.text.evaluator.number(load.value, load.context.scope)
        stops = (it for it in accesses if self._switches(unit, it) == 0)
        return value == 0 and any(_always_before(stop, load) for stop in stops)

    def _interrupts(self, unit: Unit, accesses: list[Access]) -> bool:
        """Whether the running timer raises the tick; `|=` resumes what another function set up."""
        controls = [
            (access.operator, control)
            for access in accesses
            if str(access.register) == "SysTick->CTRL"
            and (control := control_of(unit, access)) is not None
        ]
        resumed = all(str(access.register) == "SysTick->CTRL" for access in accesses) and all(
            operator != b"=" or not control.on & ENABLE for operator, control in controls
        )
        return resumed or any(control.on & TICKINT for _, control in controls)

    def _rate(self, unit: Unit, accesses: list[Access], start: Access) -> Rate | None:
        load = next(iter(_loads(unit, accesses)), None)
        if load is None:  # resumed at the rate it had
            domain = unit.domain
            known = domain.tick_hz if domain is not None else None
            return Rate(b"%d" % known, hz=known) if known else None
        if load.value is None or load.operator != b"=":
            return None
        timing = timing_of(unit, accesses, start)
        if isinstance(timing, str):
            return Rate(b"", timing)
        evaluator, scope = unit.text.evaluator, called_with(unit, start.context)
        reload = expanded(load.value, evaluator)
        sides = binary(bare(reload), b"-")
        if sides is not None and evaluator.number(sides[1], scope) == 1:
            return rate_of(sides[0], evaluator, scope, timing)
        return rate_of(reload, evaluator, scope, timing, extra=1)


def _loads(unit: Unit, accesses: list[Access]) -> list[Access]:
    """The writes of LOAD; one that only empties it for the next one in the block, which then says
    all (`LOAD &= ~0xFFFFFF; LOAD |= n;`), is a part of that."""
    found = [it for it in accesses if str(it.register) == "SysTick->LOAD" and it.use == "write"]
    if len(found) != 2 or not _adds_up(found) or found[0].operator != b"&=":
        return found
    first, second = found
    if first.value is None:
        return found
    emptied = zeros(first.value, unit.text.evaluator, first.context.scope)
    return [replace(second, operator=b"=")] if emptied & _PERIOD == _PERIOD else found


def _adds_up(starts: list[Access]) -> bool:
    """Whether writes that start the timer or its interrupt do it bit by bit, one after the other
    in one block."""
    parents = {a.statement.parent.id for a in starts if a.statement and a.statement.parent}
    together = len(parents) == 1 and all(a.statement is not None for a in starts)
    return together and all(access.operator == b"|=" for access in starts[1:])


def _always_before(first: Access, second: Access) -> bool:
    """Whether one write is in the block of another, or in one around it."""
    block = first.statement.parent if first.statement is not None else None
    return block is None or second.statement is None or block in ancestors(second.statement)


def _inside_write(access: Access, accesses: list[Access]) -> bool:
    return any(
        other.use == "write"
        and other.whole.start_byte <= access.place.start_byte
        and access.place.end_byte <= other.whole.end_byte
        for other in accesses
    )
