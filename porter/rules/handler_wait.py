"""Waits in interrupt handlers for what another interrupt brings."""

from __future__ import annotations

from collections.abc import Iterator

from porter.flow.statements import LOOPS, condition_of
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.rules.rule import Revision, Sample
from porter.sites.site import Site
from porter.source.c_tree import ancestors
from porter.source.values import Number

_WAITS = b"hyp_vct_wait"


class HandlerWait(Revision):
    """Handlers of a machine run one after the other: the interrupt waits for this one to end."""

    id = "handler-wait"
    finds = "a wait for an interrupt in a loop of an interrupt handler, or of what one calls"
    becomes = "itself"
    why = "vectors don't nest, so what the loop waits for never comes"
    samples = (
        Sample(
            "volatile int woken;\nvoid USB_IRQHandler(void) { while (!woken) { __WFI(); } }\n"
            "int main(void) { for (;;) { } }",
            "",
            escalates=True,
        ),
        Sample(
            "void Fault(void) { for (;;) { __WFI(); } }\nvoid USB_IRQHandler(void) { Fault(); }\n"
            "int main(void) { for (;;) { } }",
            "void Fault(void) { for (;;) { hyp_vct_wait(); } }\n"
            "void USB_IRQHandler(void) { Fault(); }\nint main(void) { for (;;) { } }",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Rewritten waits whose loop may end."""
        for site, verdict in list(unit.verdicts.items()):
            if verdict.status is not Status.REWRITTEN:
                continue
            if not any(_WAITS in edit.replacement for edit in verdict.edits):
                continue
            handler = unit.handler_around(site)
            if handler is not None and _waits_for_something(unit, site):
                yield self.escalated(
                    site,
                    f"{handler} leads here, and while it runs no other interrupt of this machine "
                    "is served: what the loop waits for never comes; wait in main's loop or a task",
                )


def _waits_for_something(unit: Unit, site: Site) -> bool:
    """Whether a loop around a site ends by something that it asks."""
    context = unit.context(site)
    node = context.node_at(site.start, site.end) if context is not None else None
    if context is None or node is None:
        return False
    for loop in ancestors(node):
        condition = condition_of(loop) if loop.type in LOOPS else None
        if condition is not None:
            value = unit.text.evaluator.value(condition, context.scope)
            if not isinstance(value, Number):
                return True
    return False
