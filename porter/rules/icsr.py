"""SCB->ICSR: pending the context switch and the tick, and asking whether an interrupt runs."""

from __future__ import annotations

from collections.abc import Iterator

from porter.flow.barriers import barriers_after
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.expressions import bits_of, is_truth_test, masked, outside_parentheses
from porter.meaning.no_value import has_no_value
from porter.project.vectors import FIRST_IRQ, SYSTEM
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.c_tree import Node
from porter.source.edit import Edit

_WRITES = {
    28: b"virt_yield()",
    27: b"virt_vct_clear(FVM_VIRT_SWITCH)",
    26: b"virt_vct_trig(FVM_VIRT_TICK)",
    25: b"virt_vct_clear(FVM_VIRT_TICK)",
}
_READS = {
    1 << 28: b"virt_vct_pending(FVM_VIRT_SWITCH)",
    1 << 26: b"virt_vct_pending(FVM_VIRT_TICK)",
}
_ACTIVE, _LEAST = 0x1FF, 0x3F  # a part of an exception's number may be 0 in some handlers
_HEADER = "#define ICSR (*(volatile unsigned *)0xE000ED04)\n"


_REQUEST = (
    "what is written to ICSR isn't one known request: write virt_yield(), virt_vct_trig(vector) or "
    "virt_vct_clear(vector)"
)
_NO_COUNTERPART = "have no counterpart: whether a handler runs, virt_in_vct() tells"


class Icsr(Rule):
    """By address, so that every RTOS's own name for the register and the bit is understood."""

    id = "icsr"
    finds = "writes of PENDSVSET, PENDSVCLR, PENDSTSET, PENDSTCLR; tests of VECTACTIVE"
    becomes = "virt_yield(), virt_vct_trig/clear/pending(), virt_in_vct()"
    why = "the context switch and the tick are virtual vectors 0 and 1"
    samples = (
        Sample(
            _HEADER + "void f(void) { ICSR = 1u << 28; }",
            _HEADER + "void f(void) { virt_yield(); }",
        ),
        Sample(
            _HEADER + 'void f(void)\n{\n    ICSR = 1u << 28;\n    __asm volatile("dsb");\n'
            '    __asm volatile ( "isb" ::: "memory" );\n    __DSB();\n    g();\n    __DSB();\n}\n',
            _HEADER + "void f(void)\n{\n    virt_yield();\n    g();\n    __DSB();\n}\n",
        ),
        Sample(
            _HEADER + "int f(void) { return (ICSR & 0xFF) != 0; }",
            _HEADER + "int f(void) { return virt_in_vct() != 0; }",
        ),
        Sample(
            _HEADER + "int f(void) { return (unsigned char)((ICSR & (1u << 28)) >> 24); }",
            _HEADER + "int f(void) { return (unsigned char)"
            "(((uint32_t)virt_vct_pending(FVM_VIRT_SWITCH) << 28) >> 24); }",
        ),
        Sample(_HEADER + "int f(void) { return (ICSR & (5u << 26)) >> 24; }", "", escalates=True),
        Sample(_HEADER + "int f(void) { return ICSR & 0xFF; }", "", escalates=True),
        Sample(_HEADER + "void f(unsigned x) { ICSR = x; }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each access on its own."""
        for access in unit.accesses():
            if str(access.register) != "SCB->ICSR":
                continue
            if access.use == "write":
                yield self._write(unit, access)
            elif access.use == "read":
                yield self._read(unit, access)

    def _write(self, unit: Unit, access: Access) -> Verdict:
        value = access.value
        scope = access.context.scope
        number = unit.text.evaluator.number(value, scope) if value is not None else None
        calls = [_WRITES.get(bit) for bit in bits_of(number)] if number else []
        if access.operator not in (b"=", b"|=") or len(calls) != 1 or calls[0] is None:
            return self.escalated(access.site, _REQUEST)
        if not has_no_value(unit, access):
            return self.escalated(
                access.site, "ICSR is written inside an expression: make it a statement"
            )
        if access.statement is not None:
            for barrier in barriers_after(access.statement):
                unit.delete(access.context, barrier)
        edit = access.replaced(calls[0])
        return self.rewritten(access.site, "request to a system vector", edit)

    def _read(self, unit: Unit, access: Access) -> Verdict:
        """A bit of which the machine has a copy may be put to whatever use."""
        evaluator, scope = unit.text.evaluator, access.context.scope
        found = masked(access.place, evaluator, scope)
        if found is not None and found[1] in _READS:
            return self._bit(access, *found, is_truth_test(found[0], evaluator, scope))
        if found is None or not is_truth_test(found[0], evaluator, scope):
            return self.escalated(
                access.site,
                "more of ICSR is used than whether one of its fields is zero: ask virt_in_vct(), "
                "or virt_vct_pending(vector)",
            )
        node, mask = found
        if mask & ~_ACTIVE or not (mask & _LEAST == _LEAST or _tells(mask, unit)):
            return self.escalated(access.site, f"bits 0x{mask:08X} of ICSR {_NO_COUNTERPART}")
        return self._asks(access, outside_parentheses(node), b"virt_in_vct()")

    def _bit(self, access: Access, node: Node, mask: int, is_asked: bool) -> Verdict:
        if is_asked:
            return self._asks(access, outside_parentheses(node), _READS[mask])
        place = mask.bit_length() - 1
        return self._asks(access, node, b"(uint32_t)%s << %d" % (_READS[mask], place))

    def _asks(self, access: Access, node: Node, text: bytes) -> Verdict:
        edit = Edit(access.context.start(node), access.context.end(node), text)
        return self.rewritten(access.site, "asks the virtual machine", edit)


def _tells(mask: int, unit: Unit) -> bool:
    """Whether a part of an exception's number is 0 for none that the machine handles."""
    if unit.domain is None:
        return False
    lines = (FIRST_IRQ + it.irq for it in unit.domain.vectors if it.irq is not None)
    return all(number & mask for number in (*SYSTEM, *lines))
