"""SysTick_Config(cycles)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.flow.fixed_clock import VARIABLE
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.called_with import called_with
from porter.meaning.core_clocks import by_variable
from porter.meaning.expressions import bare, expanded, source
from porter.meaning.tick_rate import Timing, rate_of
from porter.meaning.tick_source import timing_of_config
from porter.registers.intrinsics import TICK
from porter.rules.rule import Rule, Sample
from porter.sites.context import Context
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import PARENTHESES, Node, parse_expression, text_of
from porter.source.declared import parameter_names
from porter.source.edit import Edit
from porter.source.evaluate import Evaluator, no_scope
from porter.source.truth import binary


class TickConfig(Rule):
    """The CMSIS way to start the tick; like it, hyp_tick_set returns 0 when all is well."""

    id = "tick-config"
    finds = "SysTick_Config(cycles)"
    becomes = "hyp_tick_set(hz)"
    why = "the tick is a virtual vector at a rate, whatever the clock"
    samples = (
        Sample(
            "extern unsigned SystemCoreClock;\n"
            "void f(void) { SysTick_Config(SystemCoreClock / 1000); }",
            "extern unsigned SystemCoreClock;\nvoid f(void) { hyp_tick_set(1000); }",
        ),
        Sample(
            "int f(unsigned cycles) { return SysTick_Config(cycles); }",
            "int f(unsigned cycles) { return hyp_tick_set(FVM_CLOCK_HZ / (cycles)); }",
        ),
        Sample("void f(void) { SysTick_Config(168000); }", "void f(void) { hyp_tick_set(1000); }"),
        Sample("void f(unsigned cycles) { (void)SysTick_Config(cycles); }", "", escalates=True),
        Sample("void f(void) { SysTick_Config(7); }", "", escalates=True),
        Sample(
            "void f(void) { if (0 != SysTick_Config(168000) && g()) { h(); } }",
            "void f(void) { if (0 != hyp_tick_set(1000) && g()) { h(); } }",
        ),
        Sample("void f(void) { if (1 == SysTick_Config(168000)) { h(); } }", "", escalates=True),
        Sample("void f(void) { SysTick_Config(72000); }", "", escalates=True),
        Sample(
            "int f(void) { if (SysTick_Config(clock_freq() / 1000)) { return 1; } return 0; }",
            "",
            escalates=True,
        ),
        Sample(
            "unsigned SysCtlClockGet(void), count;\n"
            "int f(unsigned us) { count = us * (SysCtlClockGet() / 1000000); "
            "return SysTick_Config(count); }",
            "",
            escalates=True,
        ),
        Sample(
            "unsigned SysCtlClockGet(void);\n"
            "void f(void) { SysTick_Config(SysCtlClockGet() / 1000); }",
            "unsigned SysCtlClockGet(void);\nvoid f(void) { hyp_tick_set(1000); }",
        ),
        Sample(
            "extern unsigned SystemCoreClock;\n#define CTRL (*(volatile unsigned *)0xE000E010)\n"
            "void f(void) { SysTick_Config(SystemCoreClock / 8000); CTRL &= ~4u; }",
            "extern unsigned SystemCoreClock;\n#define CTRL (*(volatile unsigned *)0xE000E010)\n"
            "void f(void) { hyp_tick_set(1000); }",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each call on its own."""
        for site in unit.pending(SiteKind.INTRINSIC):
            if site.what not in TICK:
                continue
            call = unit.call(site)
            node = parse_expression(call.arguments[0]) if call and call.arguments else None
            if call is None or node is None:
                yield self.escalated(site, f"{site.what} is used otherwise than by a call")
                continue
            context = unit.context(site)
            scope = called_with(unit, context) if context is not None else no_scope
            timing = timing_of_config(unit, context, site.start)
            if isinstance(timing, str):
                yield self.escalated(site, timing)
                continue
            rate = rate_of(node, unit.text.evaluator, scope, timing)
            problem = _called_with(unit, context, node)
            looked_at = _is_looked_at(context, site)
            problem = problem or (rate.problem if looked_at else rate.unchecked_problem)
            problem = problem or _unknown_clock(unit, node)
            problem = problem or _kept_count(unit, context, node)
            problem = problem or _compared(unit.text.evaluator, context, site)
            if problem is not None:
                yield self.escalated(site, problem)
                continue
            edit = Edit(call.start, call.end, b"hyp_tick_set(%s)" % rate.text)
            unit.facts.note_tick(site, rate.hz)
            yield self.rewritten(site, "the tick by its rate", edit)


def _called_with(unit: Unit, context: Context | None, cycles: Node) -> str | None:
    """What is wrong with the cycles that a wrapper passes on: a call may give the old chip's."""
    names = parameter_names(context.root) if context is not None else []
    if context is None or text_of(bare(cycles)) not in names:
        return None
    index = names.index(text_of(bare(cycles)))
    for call in unit.calls_of(context.name):
        node = parse_expression(call.arguments[index]) if index < len(call.arguments) else None
        evaluator = call.text.evaluator
        if node is None or evaluator.number(node) is None:
            continue
        timing = Timing(unit.domain, unit.old_clock)
        rate = rate_of(node, evaluator, no_scope, timing)
        if rate.problem is not None:
            return (
                f"{context.name}({source(node).decode('latin-1')}) in {call.place}: {rate.problem}"
            )
    return None


def _unknown_clock(unit: Unit, cycles: Node) -> str | None:
    """What is wrong with cycles that are part of what a function says which isn't here: that is a
    clock of the old chip's."""
    quotient = binary(expanded(cycles, unit.text.evaluator), b"/")
    dividend = bare(quotient[0]) if quotient is not None else None
    callee = dividend.child_by_field_name("function") if dividend is not None else None
    if dividend is None or callee is None or by_variable(text_of(dividend)) == VARIABLE:
        return None
    if unit.text.evaluator.call_text(dividend) is not None:
        return None
    name = text_of(callee)
    if unit.sources_have(re.compile(rb"\b%s\s*\([^;{}()]*\)\s*\{" % re.escape(name))):
        return None
    return (
        f"{name.decode('latin-1')}() isn't here, and what it says is a clock of the old chip's: "
        "write hyp_tick_set(hz)"
    )


def _kept_count(unit: Unit, context: Context | None, cycles: Node) -> str | None:
    """What is wrong with a number of cycles that a variable has: of a parameter, calls say it."""
    node = bare(cycles)
    scope = context.scope if context is not None else no_scope
    if node.type != "identifier" or unit.text.evaluator.number(node, scope) is not None:
        return None
    if context is not None and text_of(node) in parameter_names(context.root):
        return None
    if by_variable(text_of(expanded(node, unit.text.evaluator))) != text_of(node):
        return None
    return (
        f"how many cycles {text_of(node).decode('latin-1')} is, and of which clock, is only known "
        "while running: write hyp_tick_set(hz)"
    )


def _compared(evaluator: Evaluator, context: Context | None, site: Site) -> str | None:
    """What is wrong with a comparison of the result with anything but 0."""
    inner, outer = _user(context, site)
    if outer is None or outer.type not in ("binary_expression", "switch_statement"):
        return None
    sides = [outer.child_by_field_name(it) for it in ("left", "right")]
    other = next((it for it in sides if it is not None and it != inner), None)
    operator = outer.child_by_field_name("operator")
    sign = text_of(operator) if operator is not None else b""
    is_zero = other is not None and evaluator.number(other) == 0
    if sign in (b"&&", b"||") or (sign in (b"==", b"!=") and is_zero):
        return None
    return (
        f"{site.what} returns 1 where it fails, and hyp_tick_set(hz) a negative number: compare "
        "with 0"
    )


def _is_looked_at(context: Context | None, site: Site) -> bool:
    """Whether the code uses what the call returns."""
    _, user = _user(context, site)
    return user is not None and user.type != "expression_statement"


def _user(context: Context | None, site: Site) -> tuple[Node | None, Node | None]:
    """A call with casts and parentheses around it, and what is around that."""
    node = context.node_at(site.start, site.end) if context is not None else None
    inner = node.parent if node is not None else None
    outer = inner.parent if inner is not None else None
    while outer is not None and outer.type in PARENTHESES | {"cast_expression"}:
        inner, outer = outer, outer.parent
    return inner, outer
