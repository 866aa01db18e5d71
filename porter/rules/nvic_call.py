"""NVIC_*: the interrupt controller by its CMSIS functions."""

from __future__ import annotations

from collections.abc import Iterator

from porter.flow.statements import LOOPS, condition_of, is_pure
from porter.judging.unit import Call, Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule, Sample
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import Node, ancestors
from porter.source.edit import Edit
from porter.source.values import Number

_BY_LINE = {"NVIC_EnableIRQ": "hyp_irq_ena", "NVIC_DisableIRQ": "hyp_irq_dis"}
WITHOUT_DOMAIN = "needs a virt_id: give the domain file that compose wrote with --domain"
_BY_VECTOR = {
    "NVIC_SetPendingIRQ": "virt_vct_trig",
    "NVIC_ClearPendingIRQ": "virt_vct_clear",
    "NVIC_GetPendingIRQ": "virt_vct_pending",
    "NVIC_SetPriority": "virt_vct_prio",
}
_NO_SUB_PRIORITY = 3  # the highest PRIGROUP that leaves four bits of a priority to preemption
_SYSTEM_VECTORS = {-2: "FVM_VIRT_SWITCH", -1: "FVM_VIRT_TICK", -5: "FVM_VIRT_SVC"}


_OF_THE_CORE = (
    "of the core, which is no line: hyp_tick_set(hz) starts the machine's tick, virt_yield() "
    "requests a switch"
)


class NvicCall(Rule):
    """Lines by number go to the kernel, pending and priority to the virtual vector."""

    id = "nvic-call"
    finds = "NVIC_EnableIRQ and the other NVIC_ functions of CMSIS"
    becomes = "hyp_irq_ena/dis(line), virt_vct_trig/clear/pending/prio(fvm_virt_of_irq(line))"
    why = "the NVIC belongs to the kernel; a machine has virtual vectors of its own"
    samples = (
        Sample(
            "void f(void) { NVIC_EnableIRQ(37); NVIC_SetPriority(37, 6); }",
            "void f(void) { hyp_irq_ena(37); virt_vct_prio(fvm_virt_of_irq(37), 6); }",
        ),
        Sample(
            "void f(void) { NVIC_SetPendingIRQ(37); }",
            "void f(void) { virt_vct_trig(fvm_virt_of_irq(37)); }",
        ),
        Sample("void f(void) { NVIC_SystemReset(); }", "void f(void) { hyp_reboot(); }"),
        Sample(
            "void f(void) {\n    NVIC_SetPriorityGrouping(3);\n    g();\n}",
            "void f(void) {\n    g();\n}",
        ),
        Sample(
            "void f(void) {\n    NVIC_SetPriority(-1, NVIC_EncodePriority("
            "NVIC_GetPriorityGrouping(), 1, 0));\n    g();\n}",
            "void f(void) {\n    g();\n}",
        ),
        Sample("int f(void) { return NVIC_GetActive(37); }", "", escalates=True),
        Sample("void f(void) { NVIC_EnableIRQ(99); }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each call on its own."""
        for site in unit.pending(SiteKind.INTRINSIC):
            if not site.what.removeprefix("__").startswith("NVIC_"):
                continue
            call = unit.call(site)
            if call is None:
                yield self.escalated(site, f"{site.what} is used otherwise than by a call")
            else:
                yield self._call(unit, site, call, site.what.removeprefix("__"))

    def _call(self, unit: Unit, site: Site, call: Call, name: str) -> Verdict:
        def replace(text: bytes, reason: str) -> Verdict:
            return self.rewritten(site, reason, Edit(call.start, call.end, text))

        if name == "NVIC_SystemReset":
            return replace(b"hyp_reboot()", "restarts this machine only")
        if name == "NVIC_SetPriorityGrouping":
            return take_out(self, unit, site, call, "virtual priorities have no sub-priority")
        if name == "NVIC_GetPriorityGrouping":
            if (set_up := self._sub_priorities(unit)) is not None:
                return self.escalated(site, set_up)
            return replace(b"0U", "virtual priorities have no sub-priority")
        if name not in _BY_LINE and name not in _BY_VECTOR:
            return self.escalated(site, f"{name} has no counterpart in a virtual machine")
        if not call.arguments:
            return self.escalated(site, f"{name} without an interrupt number")
        line = call.arguments[0]
        number = number_of_exception(unit, site, line)
        if name == "NVIC_GetPendingIRQ" and self._waits(unit, site, call):
            return self.escalated(site, WAITS)
        if number is not None and number < 0:
            return self._system_vector(unit, site, call, name, number)
        if number is not None and number < unit.registers.space.own_lines:
            return self.escalated(site, f"{name} of exception {number} {_OF_THE_CORE}")
        if (problem := not_granted(unit, name, number)) is not None:
            return self.escalated(site, problem)
        if name in _BY_LINE:
            return replace(b"%s(%s)" % (_BY_LINE[name].encode(), line), "the kernel owns the line")
        if name == "NVIC_SetPriority" and number is not None and len(call.arguments) == 2:
            priority = number_of_exception(unit, site, call.arguments[1])
            unit.facts.note_priority(site, number, priority, unit.priority_shift)
        rest = b"".join(b", " + argument for argument in call.arguments[1:])
        text = b"%s(fvm_virt_of_irq(%s)%s)" % (_BY_VECTOR[name].encode(), line, rest)
        return replace(text, "on the virtual vector of the line")

    def _system_vector(self, unit: Unit, site: Site, call: Call, name: str, number: int) -> Verdict:
        vector = _SYSTEM_VECTORS.get(number)
        if name == "NVIC_SetPriority":
            reason = "system vectors have a fixed order: supervisor call, tick, switch"
            return take_out(self, unit, site, call, reason)
        if vector is None or name not in _BY_VECTOR:
            return self.escalated(site, f"{name} of system exception {number + 16}")
        text = b"%s(%s)" % (_BY_VECTOR[name].encode(), vector.encode())
        return self.rewritten(site, "on the system vector", Edit(call.start, call.end, text))

    @staticmethod
    def _sub_priorities(unit: Unit) -> str | None:
        """Why what is encoded by the grouping means something else without one: with sub-priorities
        a level of preemption 1 isn't priority 1, as which others may be numbered."""
        for setter in ("NVIC_SetPriorityGrouping", "__NVIC_SetPriorityGrouping"):
            for call in unit.calls_of(setter):
                value = call.text.evaluator.text(b"".join(call.arguments[:1]))
                if isinstance(value, Number) and value.value > _NO_SUB_PRIORITY:
                    return (
                        f"priorities are encoded by grouping {value.value} ({call.place}), and "
                        "virtual ones have no sub-priority: write each as a number, in the order "
                        "in which they shall preempt"
                    )
        return None

    @staticmethod
    def _waits(unit: Unit, site: Site, call: Call) -> bool:
        context = unit.context(site)
        node = context.node_at(call.start, call.end) if context is not None else None
        return node is None or in_loop_condition(node)


def take_out(rule: Rule, unit: Unit, site: Site, call: Call, reason: str) -> Verdict:
    """Takes a call out, with its statement if that is all of it."""
    context = unit.context(site)
    node = context.node_at(call.start, call.end) if context is not None else None
    parent = node.parent if node is not None else None
    arguments = node.child_by_field_name("arguments") if node is not None else None
    if arguments is None or not is_pure(arguments, unit.text.evaluator):
        return rule.escalated(site, f"what {site.what} is given has effects; {reason}")
    if context is not None and parent is not None and parent.type == "expression_statement":
        unit.delete(context, parent)
        return rule.rewritten(site, f"removed: {reason}")
    return rule.rewritten(site, f"removed: {reason}", Edit(call.start, call.end, b"(void)0"))


def number_of_exception(unit: Unit, site: Site, text: bytes) -> int | None:
    """Which exception an argument says, as CMSIS numbers them; None where that isn't known."""
    context = unit.context(site)
    evaluator = unit.text.evaluator
    value = evaluator.text(text, context.scope) if context else evaluator.text(text)
    if value is None:  # its header may be missing
        return unit.registers.space.exception_named(text.strip().decode("latin-1"))
    return value.value if isinstance(value, Number) else None


WAITS = (
    "waits until a line is pending, which one that is closed never is for a machine: open the line "
    "and look at what its handler notes"
)


def in_loop_condition(node: Node) -> bool:
    """Whether an expression decides how long a loop goes on."""
    for parent in ancestors(node):
        if parent.type in LOOPS:
            condition = condition_of(parent)
            return condition is not None and (
                condition.start_byte <= node.start_byte and node.end_byte <= condition.end_byte
            )
        if parent.type.endswith("_statement"):
            return False
    return False


def not_granted(unit: Unit, name: str, number: int | None) -> str | None:
    """Why an NVIC function can't be served for a line (None: number unknown); None if it can."""
    domain = unit.domain
    if domain is None:
        if name in _BY_VECTOR:
            return WITHOUT_DOMAIN
        return None
    if number is not None and domain.vector_of_irq(number) is None:
        return f"interrupt {number} is not in the description of {domain.name}"
    return None
