"""Stack pointers, CONTROL, caches, the protection unit and the trace port by CMSIS functions."""

from __future__ import annotations

from collections.abc import Iterator

from porter.context_switch.result import FAKES_A_FRAME, TEMPLATES
from porter.flow.statements import sole_call
from porter.rules.rule import Rule, Sample
from porter.rules.unit import Unit
from porter.rules.verdict import Verdict
from porter.sites.intrinsics import CACHE, MPU, STACK_POINTERS, TRACE
from porter.sites.site import Site, SiteKind
from porter.source.edit import Edit

_STACKS = "stack pointers belong to the context switch"
_OF_TASKS = frozenset({"__get_PSP", "__set_PSP"})
_FRAME = (
    f"{_STACKS}: in VCT the task's is USR_REG->Reg.SP; where interrupts push a frame of their own "
    f"making, or a handler drops one, {TEMPLATES}/{FAKES_A_FRAME} shows what to write instead"
)
_WHOLE_CACHE = frozenset(name for name in CACHE if not name.endswith("_by_Addr"))


class SystemCall(Rule):
    """What a machine has no counterpart for, and what the kernel does for it."""

    id = "system-call"
    finds = "__set_MSP() and its like, SCB_*Cache*(), ARM_MPU_*(), ITM_SendChar()"
    becomes = "hyp_putc() for ITM_SendChar(); whole-cache calls go"
    why = "stacks, caches and the protection unit belong to the kernel"
    samples = (
        Sample("void f(int c) { ITM_SendChar(c); }", "void f(int c) { hyp_putc(c); }"),
        Sample(
            "void f(void)\n{\n    SCB_EnableICache();\n    g();\n}\n",
            "void f(void)\n{\n    g();\n}\n",
        ),
        Sample("void f(unsigned x) { __set_MSP(x); }", "", escalates=True),
        Sample("void f(void) { ARM_MPU_Disable(); }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each call on its own."""
        for site in unit.pending(SiteKind.INTRINSIC):
            if site.what in STACK_POINTERS:
                yield self.escalated(site, _FRAME if site.what in _OF_TASKS else _STACKS)
            elif site.what in MPU:
                yield self.escalated(site, "the kernel owns the MPU; describe the memory instead")
            elif site.what in CACHE | TRACE:
                yield self._call(unit, site)

    def _call(self, unit: Unit, site: Site) -> Verdict:
        call = unit.call(site)
        if call is not None and site.what == "ITM_SendChar" and call.arguments:
            text = b"hyp_putc(%s)" % call.arguments[0]
            return self.rewritten(site, "to the system's console", Edit(call.start, call.end, text))
        context = unit.context(site)
        if call is None or context is None or site.what not in _WHOLE_CACHE:
            return self.escalated(site, f"{site.what} has no counterpart in a virtual machine")
        node = context.node_at(call.start, call.end)
        statement = node.parent if node is not None else None
        if statement is None or sole_call(statement) is None:
            return self.escalated(site, f"{site.what} is used in an expression")
        unit.delete(context, statement)
        return self.rewritten(site, "removed: the kernel sets up the caches")
