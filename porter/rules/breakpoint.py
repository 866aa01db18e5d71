"""Breakpoints in the text of a program."""

from __future__ import annotations

from collections.abc import Iterator

from porter.asm.breakpoints import BREAKPOINTS, SEMIHOSTING, why_breakpoint
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.registers.intrinsics import BREAKPOINT, SEMIHOSTING_CALL
from porter.rules.rule import Rule, Sample
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import parse_expression
from porter.source.evaluate import no_scope
from porter.source.inline_asm import CONSTANTS


class Breakpoint(Rule):
    """No debugger is attached to the chip: nobody takes the stop or the call."""

    id = "breakpoint"
    finds = "bkpt, ebreak, __BKPT() and their like: stops for a debugger, and semihosting"
    becomes = "itself"
    why = "without a debugger they are a fault, by which the machine is restarted"
    samples = (
        Sample('void f(void) { __asm volatile("bkpt #0"); }', "", escalates=True),
        Sample('void f(void) { __asm("BKPT 0xAB" ::: "memory"); }', "", escalates=True),
        Sample("void f(void) { __BKPT(0); }", "", escalates=True),
        Sample("void f(void) { __breakpoint(1); }", "", escalates=True),
        Sample('void f(void) { __asm volatile("ebreak"); }', "", escalates=True),
        Sample('void f(void) { __asm(".short 0xbe00"); }', "", escalates=True),
        Sample('#define HALT(n) __asm("bkpt " #n)\nvoid f(void) { HALT(1); }', "", escalates=True),
        Sample(
            '#define __BKPT(value) __asm volatile ("bkpt "#value)\n',
            '#define __BKPT(value) __asm volatile ("bkpt "#value)\n',
        ),
        Sample(
            'static void stop(void) { __asm("bkpt 0"); }\nint main(void) { for (;;) { } }',
            'static void stop(void) { __asm("bkpt 0"); }\nint main(void) { for (;;) { } }',
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each on its own, whatever else its statement does."""
        for site in unit.pending():
            if site.kind is SiteKind.INTRINSIC and site.what in BREAKPOINT | SEMIHOSTING_CALL:
                yield self.escalated(site, why_breakpoint(None, (), _code_of_call(unit, site)))
            elif site.kind is SiteKind.ASM and site.what.split(" ")[0] in BREAKPOINTS:
                yield self.escalated(site, self._why(unit, site))

    @staticmethod
    def _why(unit: Unit, site: Site) -> str:
        statement = unit.found.asm[site]
        stop = next((it for it in statement.instructions if str(it) == site.what), None)
        given = [it.text for it in statement.inputs if it.constraint in CONSTANTS]
        is_call = any(_value(unit, site, text) == SEMIHOSTING for text in given)
        code = SEMIHOSTING if is_call else None
        return why_breakpoint(stop, statement.instructions, code)


def _code_of_call(unit: Unit, site: Site) -> int | None:
    if site.what in SEMIHOSTING_CALL:
        return SEMIHOSTING
    call = unit.call(site)
    return _value(unit, site, call.arguments[0]) if call is not None and call.arguments else None


def _value(unit: Unit, site: Site, text: bytes) -> int | None:
    node = parse_expression(text)
    context = unit.context(site)
    scope = context.scope if context is not None else no_scope
    return unit.text.evaluator.number(node, scope) if node is not None else None
