"""The NVIC by its registers."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.computed_line import ComputedAccess
from porter.meaning.expressions import (
    bare,
    bits_of,
    is_truth_test,
    mask_around,
    number_of,
    outside_parentheses,
    source,
)
from porter.meaning.line_priority import priority_of, starts_from_zero
from porter.meaning.no_value import has_no_value
from porter.meaning.priority_probe import probes
from porter.rules.nvic_call import WAITS, in_loop_condition, not_granted
from porter.rules.removed import remove_accesses
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.sites.objects import TRANSPARENT
from porter.source.c_tree import arguments_of, text_of
from porter.source.edit import Edit
from porter.source.truth import binary
from porter.source.values import Place

_SET = {"ISER": "NVIC_EnableIRQ", "ICER": "NVIC_DisableIRQ", "ISPR": "NVIC_SetPendingIRQ",
        "ICPR": "NVIC_ClearPendingIRQ", "STIR": "NVIC_SetPendingIRQ"}  # fmt: skip
_WORDS = {"ISER": 0xE000_E100, "ICER": 0xE000_E180, "ISPR": 0xE000_E200, "ICPR": 0xE000_E280}
_CALLS = {
    "NVIC_EnableIRQ": b"hyp_irq_ena(%s)",
    "NVIC_DisableIRQ": b"hyp_irq_dis(%s)",
    "NVIC_SetPendingIRQ": b"virt_vct_trig(fvm_virt_of_irq(%s))",
    "NVIC_ClearPendingIRQ": b"virt_vct_clear(fvm_virt_of_irq(%s))",
}
_FILLS = frozenset({"memset", "memcpy", "memmove", "bzero"})  # what their first argument leads to
_HEADER = (
    "#define ISER ((volatile unsigned *)0xE000E100)\n"
    "#define IP ((volatile unsigned char *)0xE000E400)\n"
)
_BLOCK = (
    "struct nvic { unsigned ISER[192]; volatile unsigned char IP[240]; };\n"
    "#define NVIC ((struct nvic *)0xE000E100)\n"
    "#define COUNT(a) (sizeof(a) / sizeof((a)[0]))\n"
)


class NvicRegister(Rule):
    """However a driver goes from an interrupt's number to a register and a bit of it."""

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
            _HEADER + "void f(unsigned n) { ISER[1] = 1u << (n - 32); }",
            _HEADER + "void f(unsigned n) { hyp_irq_ena((n - 32) + 32); }",
        ),
        Sample(
            _HEADER + "#define ON(i) (ISER[(i) / 32] = 1u << ((i) & 31))\nvoid f(void) { ON(37); }",
            _HEADER + "#define ON(i) (hyp_irq_ena(i))\nvoid f(void) { ON(37); }",
        ),
        Sample(
            _HEADER
            + "#define ON(i) (ISER[(i) / 32] = 1u << ((i) & 31))\nint f(void) { return ON(37); }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "void f(unsigned n, unsigned p) { IP[n] = p << 4; }",
            _HEADER + "void f(unsigned n, unsigned p) { virt_vct_prio(fvm_virt_of_irq(n), p); }",
        ),
        Sample(
            _BLOCK + "void f(void) { for (unsigned n = 0; n < COUNT(NVIC->IP); n++) "
            "{ NVIC->IP[n] = 0xF0; } }",
            _BLOCK + "void f(void) { for (unsigned n = 0; n < COUNT(NVIC->IP); n++) "
            "{ virt_vct_prio(fvm_virt_of_irq(n), 15); } }",
        ),
        Sample(
            _BLOCK + "#define FIRST(a) ((a)[0] + sizeof(a))\n"
            "unsigned f(void) { return FIRST(NVIC->IP); }",
            "",
            escalates=True,
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
        replaced: list[Edit] = []
        for access in accesses:
            start = access.context.start(access.place)
            if access in probing or any(it.start <= start < it.end for it in replaced):
                continue  # a read goes with the write that needs it
            verdict = self._judge(unit, access)
            if verdict is not None:
                replaced += verdict.edits
                yield verdict

    def _judge(self, unit: Unit, access: Access) -> Verdict | None:
        if access.use == "write" and has_no_value(unit, access) and access.register is not None:
            return self._write(unit, access, access.register.name)
        if access.use == "read":
            return self._read(unit, access)
        if access.use == "address":
            return self._filled(access)
        return self.escalated(access.site, f"{access.register} is used in an expression")

    def _filled(self, access: Access) -> Verdict | None:
        """What a function of C's library fills, many lines at once; None for other addresses."""
        writer = _writer(access)
        if writer is None or access.register is None:
            return None
        name = access.register.name
        call = _CALLS[_SET[name]] if name in _SET else b"virt_vct_prio(fvm_virt_of_irq(%s), level)"
        return self.escalated(
            access.site,
            f"{writer}() writes {access.register} for many lines at once: call "
            f"{(call % b'line').decode()} for each line that it is about",
        )

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
        if name == "IP":
            return self._priority(unit, access)
        lines = self._lines(unit, access)
        if lines is None:
            return self.escalated(
                access.site, f"which interrupt {access.register} means isn't known"
            )
        function = _SET.get(name, "")
        calls: list[bytes] = []
        for text in lines:
            known = number_of(text, unit.text.evaluator, access.context.scope)
            if (problem := not_granted(unit, function, known)) is not None:
                return self.escalated(access.site, problem)
            calls.append(_CALLS[function] % text)
        context = access.context
        edit = access.replaced(b", ".join(calls))
        if len(calls) > 1 and access.statement is None:
            return self.escalated(
                access.site, f"{access.register} for several lines inside an expression"
            )
        if len(calls) > 1 and access.statement is not None and context.kind != "macro":
            text = b"{ " + b"; ".join(calls) + b"; }"
            edit = Edit(context.start(access.whole), context.end(access.statement), text)
        return self.rewritten(access.site, "by interrupt number", edit)

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
        if register.offset is not None:
            sides = binary(bare(value), b"<<")
            if sides is None or evaluator.number(sides[0], scope) != 1:
                return None
            first = b" + %d" % (register.offset * 8) if register.offset else b""
            shift = source(bare(sides[1]))
            return [b"(%s)%s" % (shift, first) if first else shift]
        computed = ComputedAccess(access, value, unit.variables, evaluator)
        line = computed.line(_WORDS[register.name])
        return [line] if line is not None else None

    def _priority(self, unit: Unit, access: Access) -> Verdict:
        """One line's byte of IPR."""
        found = priority_of(unit, access)
        if found is None:
            return self.escalated(access.site, "which interrupt gets which priority isn't known")
        if found.adds and not starts_from_zero(unit, access, found):
            return self.escalated(
                access.site,
                "adds bits to the priority that the line has, and a machine's can't be read: clear "
                "it before, or use =",
            )
        scope = access.context.scope
        line, level = (
            number_of(it, unit.text.evaluator, scope) for it in (found.line, found.priority)
        )
        if (problem := not_granted(unit, "NVIC_SetPriority", line)) is not None:
            return self.escalated(access.site, problem)
        if line is not None:
            unit.facts.note_priority(access.site, line, level, unit.priority_shift)
        text = b"virt_vct_prio(fvm_virt_of_irq(%s), %s)" % (found.line, found.priority)
        return self.rewritten(access.site, "by interrupt number", access.replaced(text))

    def _read(self, unit: Unit, access: Access) -> Verdict:
        """A test of one pending bit."""
        evaluator, scope = unit.text.evaluator, access.context.scope
        found = mask_around(access.place)
        name = access.register.name if access.register is not None else ""
        line = None
        if name in ("ISPR", "ICPR") and found and is_truth_test(found[0], evaluator, scope):
            computed = ComputedAccess(access, found[1], unit.variables, evaluator)
            line = computed.line(_WORDS[name])
        if line is None or found is None:
            reason = f"{access.register} is read; a machine has no such register"
            return self.escalated(access.site, reason)
        known = number_of(line, evaluator, scope)
        if (problem := not_granted(unit, "NVIC_GetPendingIRQ", known)) is not None:
            return self.escalated(access.site, problem)
        node = outside_parentheses(found[0])
        if in_loop_condition(node):
            return self.escalated(access.site, WAITS)
        text = b"virt_vct_pending(fvm_virt_of_irq(%s))" % line
        edit = Edit(access.context.start(node), access.context.end(node), text)
        return self.rewritten(access.site, "asks the virtual vector", edit)


def _writer(access: Access) -> str | None:
    """The function of C's library that writes where the address leads that it is given."""
    node = access.whole
    while node.parent is not None and node.parent.type in TRANSPARENT:
        node = node.parent
    call = node.parent.parent if node.parent is not None else None
    function = call.child_by_field_name("function") if call is not None else None
    if call is None or function is None or arguments_of(call)[:1] != [node]:
        return None
    name = text_of(function).decode("latin-1")
    return name if name.removeprefix("__builtin_") in _FILLS else None


def _begins_within(unit: Unit, access: Access) -> bool:
    """Whether an unknown index counts from another register than the first of its kind."""
    if access.register is None or access.register.offset is not None:
        return False
    place = unit.text.evaluator.value(access.place, access.context.scope)
    if not isinstance(place, Place) or place.address is None:
        return False
    first = unit.registers.space.identify(place.address)
    return first is not None and first.offset != 0
