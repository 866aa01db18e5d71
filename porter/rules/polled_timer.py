"""SysTick as a clock that code looks at: without its interrupt, or besides it for COUNTFLAG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.meaning.cycle_limit import old_cycles
from porter.meaning.expressions import masked
from porter.meaning.load_clock import counts_as_before, load_clock
from porter.meaning.no_value import has_no_value
from porter.meaning.tick_clock import CLKSOURCE, NO_REFERENCE, TICKINT, control_of, is_control
from porter.meaning.vendor import is_stm32
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.c_tree import Node, outermost, text_of
from porter.source.edit import Edit

_POLLED = "by the cycle counter"
_FLAG = "COUNTFLAG once a tick"
_ONE_TICK = "ask virt_cycles() here, which counts FVM_CLOCK_HZ a second, or count the tick's calls"
_COUNTFLAG = 1 << 16
_READS = {"LOAD": b"virt_systick_load()", "VAL": b"virt_systick_val()",
          "CTRL": b"virt_systick_ctrl()"}  # fmt: skip
_HEADER = (
    "#define CTRL (*(volatile unsigned *)0xE000E010)\n"
    "#define LOAD (*(volatile unsigned *)0xE000E014)\n"
    "#define VAL (*(volatile unsigned *)0xE000E018)\n"
    "extern unsigned SystemCoreClock;\n"
)
_HANDLER = "void SysTick_Handler(void) { g(); }\n"
_MAIN = "int main(void) { for (;;) f(1); }\n"
_INSIDE = "{} is written inside an expression: make it a statement"


class PolledTimer(Rule):
    """All accesses of a program that never lets the timer interrupt; where it does, COUNTFLAG."""

    id = "polled-timer"
    finds = "SysTick's registers in a program that runs the timer without its interrupt, COUNTFLAG"
    becomes = "virt_systick_ctrl(), virt_systick_val(), ..., virt_tick_ctrl(hz, FVM_CLOCK_HZ)"
    why = "the timer is the kernel's; how far another would have counted, the cycle counter tells"
    samples = (
        Sample(
            _HEADER + "void f(unsigned us)\n{\n    LOAD = us * (SystemCoreClock / 1000000) - 1;\n"
            "    VAL = 0;\n    CTRL = 5;\n    while ((CTRL & 0x10000) == 0) { }\n"
            "    CTRL &= ~1u;\n}\n" + _MAIN,
            _HEADER + "void f(unsigned us)\n{\n"
            "    virt_systick_set_load(us * (SystemCoreClock / 1000000) - 1, FVM_CLOCK_HZ, "
            "FVM_CLOCK_HZ);\n    virt_systick_set_val(0);\n    virt_systick_set_ctrl(5);\n"
            "    while ((virt_systick_ctrl() & 0x10000) == 0) { }\n"
            "    virt_systick_set_ctrl(virt_systick_ctrl() & (~1u));\n}\n" + _MAIN,
        ),
        Sample(
            _HEADER + "unsigned f(int n) { return LOAD - VAL; }\n" + _MAIN,
            _HEADER + "unsigned f(int n) { return virt_systick_load() - virt_systick_val(); }\n"
            + _MAIN,
        ),
        Sample(
            _HEADER + _HANDLER + "void f(int ms) { volatile unsigned t = CTRL; (void)t;\n"
            "    while (ms) { if (CTRL & 0x10000) ms--; } }\n" + _MAIN,
            _HEADER + _HANDLER + "void f(int ms) { volatile unsigned t = "
            "virt_tick_ctrl(1000, FVM_CLOCK_HZ); (void)t;\n"
            "    while (ms) { if (virt_tick_ctrl(1000, FVM_CLOCK_HZ) & 0x10000) ms--; } }\n"
            + _MAIN,
        ),
        Sample(_HEADER + "void f(int n) { if ((LOAD = n)) g(); }\n" + _MAIN, "", escalates=True),
    )  # fmt: skip

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Access by access."""
        accesses = [
            access
            for access in unit.accesses()
            if access.register is not None
            and access.register.block == "SysTick"
            and access.register.name in _READS
        ]
        if unit.polls_timer and not any(_lets_interrupt(unit, it) for it in accesses):
            for access in accesses:
                if access.use == "write":
                    yield self._write(unit, access, accesses)
                elif access.use == "read":
                    yield self._read(unit, access, accesses)
            return
        told = unit.domain.tick_hz if unit.domain is not None else None
        if not told:
            return
        text = b"virt_tick_ctrl(%d, FVM_CLOCK_HZ)" % told
        for access in accesses:
            if str(access.register) == "SysTick->CTRL" and _asks_flag(unit, access):
                yield self.rewritten(access.site, _FLAG, _over(access, text))

    def _read(self, unit: Unit, access: Access, accesses: Sequence[Access]) -> Verdict:
        if any(it.use == "write" and _is_within(access, it) for it in accesses):
            return self.rewritten(access.site, "part of the write it is read for")
        if not counts_as_before(unit, accesses) and (why := old_cycles(unit, access)) is not None:
            return self.escalated(access.site, why)
        return self.rewritten(access.site, _POLLED, _over(access, _call(access)))

    def _write(self, unit: Unit, access: Access, accesses: Sequence[Access]) -> Verdict:
        name = access.register.name if access.register is not None else ""
        if (
            access.value is None
            or not has_no_value(unit, access)
            or access.operator not in _BECOMES
        ):
            return self.escalated(access.site, _INSIDE.format(access.register))
        control = control_of(unit, access) if name == "CTRL" else None
        takes = access.operator == b"=" if control is None else control.off & CLKSOURCE
        if name == "CTRL" and takes and not is_stm32(unit):
            return self.escalated(access.site, NO_REFERENCE)
        value = _with_calls(access, accesses)
        if sign := _BECOMES[access.operator]:
            value = b"%s %s (%s)" % (_call(access), sign, value)
        given = b""
        if name == "LOAD":
            clock, problem = load_clock(unit, access)
            if problem:
                return self.escalated(access.site, problem)
            given = b", %s, FVM_CLOCK_HZ" % clock.encode()
        call = b"virt_systick_set_%s(%s%s)" % (name.lower().encode(), value, given)
        return self.rewritten(access.site, _POLLED, access.replaced(call))


def judge_polled(docket: Docket) -> None:
    """A timer that one file polls can't be the one whose interrupt another starts."""
    verdicts = [it for it in docket.verdicts() if it.status is Status.REWRITTEN]
    rewritten = {it.site for it in verdicts}
    starts = [tick.site for one in docket.facts for tick in one.ticks if tick.site in rewritten]
    if not starts:
        return
    files = {port.file.name: port.file for port in docket.ports.values()}
    place = f"{starts[0].file}:{files[starts[0].file].line(starts[0].start)}"
    reason = f"the timer is polled here, and {place} starts it with its interrupt: {_ONE_TICK}"
    polled = (it.site for it in verdicts if it.rule == PolledTimer.id and it.reason != _FLAG)
    docket.withdraw({it: Verdict(it, Status.ESCALATED, PolledTimer.id, reason) for it in polled})


_BECOMES = {b"=": b"", b"|=": b"|", b"&=": b"&", b"^=": b"^"}


def _lets_interrupt(unit: Unit, access: Access) -> bool:
    control = control_of(unit, access) if is_control(access) else None
    return control is not None and bool(control.on & TICKINT)


def _call(access: Access) -> bytes:
    return _READS[access.register.name] if access.register is not None else b""


def _over(access: Access, text: bytes) -> Edit:
    whole = access.whole
    return Edit(access.context.start(whole), access.context.end(whole), text)


def _is_within(access: Access, write: Access) -> bool:
    """Whether a register is read for the value of a write."""
    value = write.value
    return (
        value is not None
        and access.context.root == write.context.root
        and value.start_byte <= access.whole.start_byte
        and access.whole.end_byte <= value.end_byte
    )


def _with_calls(write: Access, accesses: Sequence[Access]) -> bytes:
    """The source of a value with calls for what is read for it."""
    assert write.value is not None
    text, begin = text_of(write.value), write.value.start_byte
    inside = [it for it in accesses if it.use == "read" and _is_within(it, write)]
    for it in sorted(inside, key=lambda it: -it.whole.start_byte):
        start, end = it.whole.start_byte - begin, it.whole.end_byte - begin
        text = text[:start] + _call(it) + text[end:]
    return text


def _asks_flag(unit: Unit, access: Access) -> bool:
    """Whether nothing but COUNTFLAG matters of a read, or nothing at all."""
    if access.use != "read" or access.context.tree is not unit.variables.tree:
        return False
    if _is_dropped(access.whole) or _asks_bit(unit, access.whole, access):
        return True
    parent = outermost(access.whole).parent
    if parent is None or parent.type != "init_declarator":
        return False
    name = parent.child_by_field_name("declarator")
    variable = unit.variables.resolve_web(name) if name is not None else None
    if variable is None or variable.function is None:
        return False
    return all(
        _is_dropped(use) or _asks_bit(unit, use, access) for use in unit.variables.uses(variable)
    )


def _asks_bit(unit: Unit, node: Node, access: Access) -> bool:
    found = masked(node, unit.text.evaluator, access.context.scope)
    return found is not None and found[1] == _COUNTFLAG


def _is_dropped(value: Node) -> bool:
    """Whether nobody takes a value: `CTRL;`, `(void)t;`."""
    parent = outermost(value).parent
    return parent is not None and parent.type == "expression_statement"
