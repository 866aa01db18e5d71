"""The NVIC by its registers."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.expressions import (
    bare,
    bits_of,
    is_truth_test,
    masked,
    outside_parentheses,
    same_text,
    single_bit_of,
    source,
    word_of,
)
from porter.meaning.priority_probe import probes
from porter.rules.nvic_call import WAITS, in_loop_condition, not_granted
from porter.rules.removed import remove_accesses
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.c_tree import Node, index_of, text_of
from porter.source.edit import Edit
from porter.source.truth import binary
from porter.source.values import Number, Place

_SET = {"ISER": "NVIC_EnableIRQ", "ICER": "NVIC_DisableIRQ", "ISPR": "NVIC_SetPendingIRQ",
        "ICPR": "NVIC_ClearPendingIRQ", "STIR": "NVIC_SetPendingIRQ"}  # fmt: skip
_CALLS = {
    "NVIC_EnableIRQ": b"hyp_irq_ena(%s)",
    "NVIC_DisableIRQ": b"hyp_irq_dis(%s)",
    "NVIC_SetPendingIRQ": b"virt_vct_trig(fvm_virt_of_irq(%s))",
    "NVIC_ClearPendingIRQ": b"virt_vct_clear(fvm_virt_of_irq(%s))",
}
_HEADER = (
    "#define ISER ((volatile unsigned *)0xE000E100)\n"
    "#define IP ((volatile unsigned char *)0xE000E400)\n"
)


class NvicRegister(Rule):
    """The idioms that every NVIC driver uses to go from an interrupt number to a bit."""

    id = "nvic-register"
    finds = "writes to ISER, ICER, ISPR, ICPR, IP and STIR for one interrupt number"
    becomes = "hyp_irq_ena/dis(line), virt_vct_trig/clear/prio(fvm_virt_of_irq(line))"
    why = "the NVIC belongs to the kernel; a machine has virtual vectors of its own"
    samples = (
        Sample(
            _HEADER + "void f(unsigned n) { ISER[n >> 5] = 1u << (n & 0x1F); }",
            _HEADER + "void f(unsigned n) { hyp_irq_ena(n); }",
        ),
        Sample(
            _HEADER + "void f(void) { ISER[1] = 1u << 5; }",
            _HEADER + "void f(void) { hyp_irq_ena(37); }",
        ),
        Sample(
            _HEADER + "void f(unsigned n, unsigned p) { IP[n] = p << 4; }",
            _HEADER + "void f(unsigned n, unsigned p) { virt_vct_prio(fvm_virt_of_irq(n), p); }",
        ),
        Sample(_HEADER + "void f(unsigned n) { ISER[n] = 0xFFFFFFFF; }", "", escalates=True),
        Sample(_HEADER + "unsigned f(void) { return ISER[0]; }", "", escalates=True),
        Sample("void f(void) { *(volatile unsigned *)0xE000E180 |= 1u << 6; }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Writes one by one; priority probes as a whole."""
        accesses = [a for a in unit.accesses() if a.register and a.register.block == "NVIC"]
        probing = probes(accesses, unit)
        yield from remove_accesses(
            self, unit, probing, "only looks how many priority bits there are", waits_end=False
        )
        for access in accesses:
            if access in probing or access.register is None:
                continue
            if access.use == "write" and access.statement is not None:
                yield self._write(unit, access, access.register.name)
            elif access.use == "read":
                yield self._read(unit, access)
            else:
                yield self.escalated(access.site, f"{access.register} is used in an expression")

    def _write(self, unit: Unit, access: Access, name: str) -> Verdict:
        if access.operator == b"|=" and name in ("ICER", "ISPR", "ICPR"):
            return self.escalated(
                access.site, f"{access.register} |= also writes back what reads as 1: use ="
            )
        if unit.reads_within_macro(access):
            return self.escalated(
                access.site, "the macro also reads a register for the value: write out what it does"
            )
        if _begins_within(unit, access):
            return self.escalated(
                access.site,
                f"{access.register} by an array that doesn't begin with line 0",
            )
        line = self._priority_line(unit, access) if name == "IP" else self._lines(unit, access)
        if line is None or access.value is None:
            return self.escalated(
                access.site, f"which interrupt {access.register} means isn't known"
            )
        function = "NVIC_SetPriority" if name == "IP" else _SET.get(name, "")
        calls: list[bytes] = []
        for text in line:
            number = unit.text.evaluator.text(text, access.context.scope)
            known = number.value if isinstance(number, Number) else None
            if (problem := not_granted(unit, function, known)) is not None:
                return self.escalated(access.site, problem)
            if name == "IP":
                priority = self._priority(unit, access, access.value)
                raw = unit.text.evaluator.number(access.value, access.context.scope)
                if isinstance(number, Number):
                    unit.facts.note_priority(access.site, number.value, raw, 0)
                calls.append(b"virt_vct_prio(fvm_virt_of_irq(%s), %s)" % (text, priority))
            else:
                calls.append(_CALLS[function] % text)
        text = calls[0] if len(calls) == 1 else b"{ " + b"; ".join(calls) + b"; }"
        context = access.context
        end = context.end(access.whole)
        if len(calls) > 1 and access.statement is not None:
            end = context.end(access.statement)
        return self.rewritten(
            access.site, "by interrupt number", Edit(context.start(access.whole), end, text)
        )

    def _lines(self, unit: Unit, access: Access) -> list[bytes] | None:
        """The interrupt numbers of a write to a bit register."""
        register, value = access.register, access.value
        evaluator, scope = unit.text.evaluator, access.context.scope
        if register is None or value is None or access.operator not in (b"=", b"|="):
            return None
        if register.name == "STIR":
            return [source(value)]
        if register.name not in _SET:
            return None
        number = evaluator.number(value, scope)
        if register.offset is not None and number is not None:
            if number == 0xFFFF_FFFF or not number:
                return None
            return [b"%d" % (register.offset * 8 + bit) for bit in bits_of(number)]
        line = single_bit_of(value, evaluator, scope)
        index = _index(access.place)
        if line is None or index is None:
            return None
        word = word_of(index, evaluator, scope)
        return [source(line)] if word is not None and same_text(word, line) else None

    @staticmethod
    def _priority_line(unit: Unit, access: Access) -> list[bytes] | None:
        register = access.register
        place = unit.text.evaluator.value(access.place, access.context.scope)
        is_byte = isinstance(place, Place) and place.type.size == 1
        if register is None or access.operator != b"=" or not is_byte:
            return None  # a word holds the priorities of four
        if register.offset is not None:
            return [b"%d" % register.offset] if register.offset >= 0 else None
        index = _index(access.place)
        return [source(bare(index))] if index is not None else None

    @staticmethod
    def _priority(unit: Unit, access: Access, value: Node) -> bytes:
        """The priority as NVIC_SetPriority takes it: without the bits that don't exist."""
        evaluator, scope = unit.text.evaluator, access.context.scope
        unused = unit.priority_shift
        number = evaluator.number(value, scope)
        if number is not None:
            return b"%d" % ((number & 0xFF) >> unused)
        node = bare(value)
        if (kept := binary(node, b"&")) and evaluator.number(kept[1], scope) == 0xFF:
            node = bare(kept[0])
        shifted = binary(node, b"<<")
        if shifted is not None and evaluator.number(shifted[1], scope) == unused:
            return source(bare(shifted[0]))
        return b"(%s) >> %d" % (source(value), unused)

    def _read(self, unit: Unit, access: Access) -> Verdict:
        """A test of one pending bit."""
        evaluator, scope = unit.text.evaluator, access.context.scope
        register = access.register
        found = masked(access.place, evaluator, scope)
        if (
            register is not None
            and register.name in ("ISPR", "ICPR")
            and register.offset is not None
            and found is not None
            and is_truth_test(found[0], evaluator, scope)
            and found[1].bit_count() == 1
        ):
            line = register.offset * 8 + found[1].bit_length() - 1
            if (problem := not_granted(unit, "NVIC_GetPendingIRQ", line)) is not None:
                return self.escalated(access.site, problem)
            node = outside_parentheses(found[0])
            if in_loop_condition(node):
                return self.escalated(access.site, WAITS)
            text = b"virt_vct_pending(fvm_virt_of_irq(%d))" % line
            edit = Edit(access.context.start(node), access.context.end(node), text)
            return self.rewritten(access.site, "asks the virtual vector", edit)
        return self.escalated(access.site, f"{register} is read; a machine has no such register")


def _index(place: Node) -> Node | None:
    """The index of an array element."""
    node = bare(place)
    if node.type == "subscript_expression" and b"[" in text_of(node):
        return index_of(node)
    return None


def _begins_within(unit: Unit, access: Access) -> bool:
    """Whether an unknown index counts from another register than the first of its kind."""
    if access.register is None or access.register.offset is not None:
        return False
    place = unit.text.evaluator.value(access.place, access.context.scope)
    if not isinstance(place, Place) or place.address is None:
        return False
    first = unit.registers.space.identify(place.address)
    return first is not None and first.offset != 0
