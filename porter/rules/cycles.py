"""DWT->CYCCNT: the cycle counter."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.bits import ones, zeros
from porter.meaning.cycle_limit import old_cycles
from porter.meaning.pauses import leads_to
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.edit import Edit

_HEADER = (
    "#define CTRL (*(volatile unsigned *)0xE0001000)\n"
    "#define CYCCNT (*(volatile unsigned *)0xE0001004)\n"
)


class Cycles(Rule):
    """Reads are calls. A write that zeroes the counter where it is switched on, once and with no
    read beside it, means nothing: later reads are compared with one another."""

    id = "cycles"
    finds = "reads of DWT->CYCCNT, and its reset where the counter is switched on"
    becomes = "virt_cycles()"
    why = "the counter is the kernel's, runs always and is shared"
    samples = (
        Sample(
            _HEADER + "unsigned f(void) { return CYCCNT; }",
            _HEADER + "unsigned f(void) { return virt_cycles(); }",
        ),
        Sample(
            _HEADER + "void f(void)\n{\n    CYCCNT = 0;\n    CTRL |= 1;\n    g();\n}\n",
            _HEADER + "void f(void)\n{\n    g();\n}\n",
        ),
        Sample(
            _HEADER + "unsigned f(void) { CTRL |= 1; CYCCNT = 0; g(); return CYCCNT; }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "void f(void) { CTRL |= 1; CYCCNT = 0; }\nint main(void) { for (;;) f(); }",
            "",
            escalates=True,
        ),
        Sample(_HEADER + "void f(void) { CTRL &= ~1u; }", "", escalates=True),
        Sample(
            _HEADER + "void f(void)\n{\n    CTRL &= ~1u;\n    CTRL |= 1;\n    g();\n}\n",
            _HEADER + "void f(void)\n{\n    g();\n}\n",
        ),
        Sample(
            _HEADER + "void f(unsigned n) { CYCCNT = 0; while (CYCCNT < n) { } }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "void f(void) { unsigned t = CYCCNT; while (CYCCNT - t < 7200) { } }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "#define MHZ (SystemCoreClock / 1000000u)\nextern unsigned SystemCoreClock;\n"
            "void f(unsigned us) { unsigned t = CYCCNT; while (CYCCNT - t < us * MHZ) { } }",
            _HEADER + "#define MHZ (SystemCoreClock / 1000000u)\nextern unsigned SystemCoreClock;\n"
            "void f(unsigned us) { unsigned t = virt_cycles(); "
            "while (virt_cycles() - t < us * MHZ) { } }",
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Function by function: a reset matters to reads next to it."""
        accesses = [a for a in unit.accesses() if a.register is not None]
        counter = [a for a in accesses if str(a.register) == "DWT->CYCCNT"]
        starts = {a.context.root.id for a in accesses if str(a.register) == "DWT->CTRL"}
        written = {a.context.root.id for a in counter if a.use == "write"}
        both = written & {a.context.root.id for a in counter if a.use != "write"}
        controls = [a for a in accesses if str(a.register) == "DWT->CTRL" and a.use == "write"]
        for access in controls:
            again = (other for other in controls if _switches(unit, other) == 1)
            if _switches(unit, access) == 0 and not any(leads_to(access, it) for it in again):
                yield self.escalated(
                    access.site,
                    "the counter stops here, and virt_cycles() goes on: add up differences",
                )
        for access in counter:
            function = access.context.root.id
            yield self._one(unit, access, function in starts, function in both)

    def _one(self, unit: Unit, access: Access, is_start: bool, is_compared: bool) -> Verdict:
        if access.use == "read" and not is_compared:
            if (why := old_cycles(unit, access)) is not None:
                return self.escalated(access.site, why)
            whole = access.whole
            edit = Edit(access.context.start(whole), access.context.end(whole), b"virt_cycles()")
            return self.rewritten(access.site, "the kernel reads the counter", edit)
        if access.use == "write" and not is_compared and (why := unit.why_again(access)):
            return self.escalated(
                access.site,
                f"the counter is set at run time ({why}); use differences of virt_cycles()",
            )
        if access.use == "write" and is_start and not is_compared and access.statement is not None:
            unit.remove_write(access.context, access.whole)
            unit.delete(access.context, access.statement)
            return self.rewritten(access.site, "removed: the counter runs always")
        return self.escalated(
            access.site, "the counter is set and then compared; use differences of virt_cycles()"
        )


def _switches(unit: Unit, access: Access) -> int | None:
    """1 for a write of DWT->CTRL that surely starts the counter (CYCCNTENA), 0 for one that stops
    it."""
    if access.value is None:
        return None
    evaluator, scope = unit.text.evaluator, access.context.scope
    if access.operator in (b"=", b"|=") and ones(access.value, evaluator, scope) & 1:
        return 1
    stops = access.operator in (b"=", b"&=") and zeros(access.value, evaluator, scope) & 1
    return 0 if stops else None
