"""WFI and WFE."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.deep_sleep import STANDBY, asks_standby
from porter.meaning.line_events import has_line_events
from porter.meaning.own_event import REASON, own_event
from porter.registers.line_events import LINE_EVENTS
from porter.rules.rule import Rule, Sample
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import Node, text_of
from porter.source.edit import Edit

_EVENTS = frozenset({"__SEV", "__sev"})
_WFE = re.compile(rb"__(?:WFE|wfe)\s*\(\s*\)\s*;")
_FOR_EVENTS = frozenset({"__WFE", "__wfe"})
_WAITS = frozenset({"__WFI", "__wfi", "__WFE", "__wfe"})
_TAKEN_BACK = "removed: an event sent to oneself and taken back"
_ICSR = "#define ICSR (*(volatile unsigned *)0xE000ED04)\n"


class Wait(Rule):
    """Sleeping until an interrupt."""

    id = "wait"
    finds = "__WFI(), __WFE()"
    becomes = "hyp_vct_wait()"
    why = "only the kernel may stop the core; the call ends when a vector of this machine is pended"
    samples = (
        Sample("void idle(void) { __WFI(); }", "void idle(void) { hyp_vct_wait(); }"),
        Sample("void f(void) { __SEV(); }", "", escalates=True),
        Sample(
            "void f(void)\n{\n    __SEV();\n    __WFE();\n    __WFE();\n}\n",
            "void f(void)\n{\n    hyp_vct_wait();\n}\n",
        ),
        Sample(
            _ICSR + "void f(void)\n{\n    ICSR = 1u << 28;\n    __WFE();\n    g();\n}\n",
            _ICSR + "void f(void)\n{\n    virt_yield();\n    g();\n}\n",
        ),
        Sample(
            _ICSR + "void f(void)\n{\n    ICSR = 1u << 28;\n    __WFI();\n}\n",
            _ICSR + "void f(void)\n{\n    virt_yield();\n    hyp_vct_wait();\n}\n",
        ),
        Sample(
            "#define PWR_CR (*(volatile unsigned *)0x40007000)\n"
            "void f(void) { PWR_CR |= 2; __WFI(); }",
            "",
            escalates=True,
        ),
        Sample(
            "#define EXTI_EMR (*(volatile unsigned *)0x40010404)\n"
            "void g(void) { EXTI_EMR |= 1 << 20; }\nvoid f(void) { __WFE(); }",
            "",
            escalates=True,
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each call on its own, but `__SEV(); __WFE();`, which only takes an old event away."""
        cleared: set[int] = set()
        for site in unit.pending(SiteKind.INTRINSIC):
            if site.what in _EVENTS:
                if (first := _next_wait(unit, site)) is None:
                    yield self.escalated(site, "the event that SEV sends has no counterpart")
                    continue
                cleared.add(first.start_byte)
                yield self._removed(unit, site)
            if site.what not in _WAITS:
                continue
            call = unit.call(site)
            if call is None:
                yield self.escalated(site, f"{site.what} is used otherwise than by a call")
                continue
            statement = _statement(unit, site)
            if statement is not None and statement.start_byte in cleared:
                yield self._removed(unit, site)
            elif site.what in _FOR_EVENTS and own_event(unit, site) is not None:
                yield self._removed(unit, site, REASON)
            elif site.what in _FOR_EVENTS and has_line_events(unit):
                yield self.escalated(site, LINE_EVENTS)
            elif asks_standby(unit, unit.context(site)):
                yield self.escalated(site, STANDBY)
            else:
                edit = Edit(call.start, call.end, b"hyp_vct_wait()")
                yield self.rewritten(site, "waits in the kernel", edit)

    def _removed(self, unit: Unit, site: Site, reason: str = _TAKEN_BACK) -> Verdict:
        context, statement = unit.context(site), _statement(unit, site)
        if context is not None and statement is not None:
            unit.delete(context, statement)
        return self.rewritten(site, reason)


def _statement(unit: Unit, site: Site) -> Node | None:
    """The statement that a call is all of."""
    context = unit.context(site)
    node = context.node_at(site.start, site.end) if context is not None else None
    call = node.parent if node is not None else None
    statement = call.parent if call is not None else None
    is_all = statement is not None and statement.type == "expression_statement"
    return statement if is_all else None


def _next_wait(unit: Unit, site: Site) -> Node | None:
    """The `__WFE();` right behind a `__SEV();`."""
    statement = _statement(unit, site)
    behind = statement.next_named_sibling if statement is not None else None
    while behind is not None and behind.type == "comment":
        behind = behind.next_named_sibling
    return behind if behind is not None and _WFE.fullmatch(text_of(behind)) else None
