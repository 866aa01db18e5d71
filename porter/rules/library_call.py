"""Calls of libraries that aren't in the tree, where a person has to say what becomes of them."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.libraries.expanded import RULE
from porter.rules.rule import Rule, Sample
from porter.sites.site import SiteKind


class LibraryCall(Rule):
    """Of other calls the body stands in the text that rules see: see `porter/libraries`."""

    id = RULE
    finds = "functions of well-known libraries that mask, sleep, reset or serve lines"
    becomes = "itself"
    why = "what they do has no counterpart, or more than one; the data on the library says what"
    samples = (
        Sample(
            "#include <libopencm3/cm3/nvic.h>\nvoid f(void) { nvic_enable_irq(37); }",
            "#include <libopencm3/cm3/nvic.h>\nvoid f(void) { hyp_irq_ena(37); }",
        ),
        Sample(
            "#include <libopencm3/cm3/cortex.h>\nvoid f(void) { CM_ATOMIC_BLOCK() { g(); } }",
            "",
            escalates=True,
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each for the reason that the data gives."""
        for site in unit.pending(SiteKind.CALL):
            yield self.escalated(site, unit.found.asked[site.start])
