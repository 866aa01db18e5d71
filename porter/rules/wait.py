"""WFI and WFE."""

from __future__ import annotations

from collections.abc import Iterator

from porter.rules.rule import Rule, Sample
from porter.rules.unit import Unit
from porter.rules.verdict import Verdict
from porter.sites.site import SiteKind
from porter.source.edit import Edit

_WAITS = frozenset({"__WFI", "__wfi", "__WFE", "__wfe"})


class Wait(Rule):
    """Sleeping until an interrupt."""

    id = "wait"
    finds = "__WFI(), __WFE()"
    becomes = "hyp_vct_wait()"
    why = "only the kernel may stop the core; the call ends when a vector of this machine is pended"
    samples = (
        Sample("void idle(void) { __WFI(); }", "void idle(void) { hyp_vct_wait(); }"),
        Sample("void f(void) { __SEV(); }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each call on its own."""
        for site in unit.pending(SiteKind.INTRINSIC):
            if site.what in ("__SEV", "__sev"):
                yield self.escalated(site, "the event that SEV sends has no counterpart")
            if site.what not in _WAITS:
                continue
            call = unit.call(site)
            if call is None:
                yield self.escalated(site, f"{site.what} is used otherwise than by a call")
                continue
            edit = Edit(call.start, call.end, b"hyp_vct_wait()")
            yield self.rewritten(site, "waits in the kernel", edit)
