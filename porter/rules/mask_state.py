"""Saving, restoring and asking the masks by CMSIS functions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.asm.translate import which_bits
from porter.flow.statements import enclosing_statement, is_pure, sole_call
from porter.judging.unit import Call, Unit
from porter.judging.verdict import Verdict
from porter.meaning.exception_question import answer
from porter.meaning.expressions import (
    is_computed_with,
    is_truth_test,
    masked,
    number_of,
    outside_parentheses,
)
from porter.meaning.mask_level import kept
from porter.registers.intrinsics import (
    BASEPRI_RAISE,
    BASEPRI_READ,
    BASEPRI_WRITE,
    FAULT_MASK,
    IN_INTERRUPT,
    MASK_READ,
    MASK_SET,
    MASK_WRITE,
)
from porter.rules.rule import Rule, Sample
from porter.sites.context import Context
from porter.sites.site import Site, SiteKind
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import Node, outermost, text_of
from porter.source.edit import Edit
from porter.source.evaluate import Evaluator, no_scope

_NOISE = re.compile(rb"//|\\|#")  # what a line of its own ends, or begins with
_BARRIERS = frozenset({b"__DSB", b"__ISB", b"__DMB", b"__NOP"})


class MaskState(Rule):
    """A read that the mask follows at once is one operation: save. Else it is a question."""

    id = "mask-state"
    finds = "__get_PRIMASK(), __set_PRIMASK(x), __get/set_BASEPRI(x), __get_IPSR()"
    becomes = "virt_int_save/restore/query/mask/unmask(), virt_in_vct(), virt_in_svc()"
    why = "MRS and MSR of the masks read 0 and do nothing in unprivileged code"
    samples = (
        Sample(
            "unsigned f(void)\n{\n    unsigned old = __get_PRIMASK();\n\n    __disable_irq();\n"
            "    return old;\n}\n",
            "unsigned f(void)\n{\n    unsigned old = virt_int_save(VIRT_PRIMASK);\n\n"
            "    return old;\n}\n",
        ),
        Sample(
            "unsigned f(void) { unsigned a = __get_PRIMASK(), b = g(); __disable_irq(); "
            "return a + b; }",
            "unsigned f(void) { unsigned a = virt_int_query(VIRT_PRIMASK), b = g(); "
            "virt_int_mask(VIRT_PRIMASK); return a + b; }",
        ),
        Sample(
            "void f(unsigned old) { __set_PRIMASK(old); }",
            "void f(unsigned old) { virt_int_restore(VIRT_PRIMASK, old); }",
        ),
        Sample(
            "void f(void) { __set_BASEPRI(5 << 4); g(); __set_BASEPRI(0); }",
            "void f(void) { virt_int_mask(VIRT_BASEPRI); g(); virt_int_unmask(VIRT_BASEPRI); }",
        ),
        Sample(
            "int f(void) { return __get_PRIMASK() != 0; }",
            "int f(void) { return virt_int_query(VIRT_PRIMASK) != 0; }",
        ),
        Sample(
            "int f(void) { if (__get_IPSR() != 0) { return 1; } return 0; }",
            "int f(void) { if (virt_in_vct() != 0) { return 1; } return 0; }",
        ),
        Sample(
            "int f(void) { return (__get_IPSR() & 0x1FFU) > 0U; }",
            "int f(void) { return virt_in_vct() > 0U; }",
        ),
        Sample(
            "enum { SVCall_IRQn = -5 };\n"
            "int f(void) { return ((int)__get_IPSR() == ((int)SVCall_IRQn + 16)); }",
            "enum { SVCall_IRQn = -5 };\nint f(void) { return (virt_in_svc() != 0); }",
        ),
        Sample(
            "int f(void) { return 11 != (__get_IPSR() & 0x1FF) && g(); }",
            "int f(void) { return virt_in_svc() == 0 && g(); }",
        ),
        Sample("int f(void) { return (__get_IPSR() & 0xFF) == 11; }", "", escalates=True),
        Sample("int f(void) { return __get_IPSR() == 14; }", "", escalates=True),
        Sample("int f(int n) { return __get_IPSR() == n; }", "", escalates=True),
        Sample("int f(void) { return __get_IPSR(); }", "", escalates=True),
        Sample(
            "int f(void) { unsigned old = __get_BASEPRI(); return old != 0; }",
            "int f(void) { unsigned old = virt_int_query(VIRT_BASEPRI); return old != 0; }",
        ),
        Sample("int f(void) { return __get_BASEPRI() == 0x40; }", "", escalates=True),
        Sample(
            "int f(void) { unsigned old = __get_BASEPRI(); return old < 0x80; }",
            "",
            escalates=True,
        ),
        Sample("void f(void) { __disable_fault_irq(); }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each call on its own, save with the mask that follows it."""
        masks = [site for site in unit.pending(SiteKind.INTRINSIC) if site.what in MASK_SET]
        for site in list(unit.pending(SiteKind.INTRINSIC)):
            if site.what in FAULT_MASK:
                yield self._fault(unit, site)
                continue
            known = MASK_READ | MASK_WRITE | BASEPRI_READ | BASEPRI_WRITE | BASEPRI_RAISE
            if site.what not in known | IN_INTERRUPT:
                continue
            call = unit.call(site)
            if call is None:
                yield self.escalated(site, f"{site.what} is used otherwise than by a call")
            elif site.what in IN_INTERRUPT:
                yield self._in_interrupt(unit, site, call)
            elif site.what in MASK_READ:
                yield from self._read(unit, site, call, masks)
            elif site.what in BASEPRI_READ:
                yield self._threshold(unit, site, call)
            else:
                yield self._write(unit, site, call)

    def _replace(self, site: Site, call: Call, text: bytes, reason: str) -> Verdict:
        return self.rewritten(site, reason, Edit(call.start, call.end, text))

    def _read(self, unit: Unit, site: Site, call: Call, masks: list[Site]) -> Iterator[Verdict]:
        follows = _mask_after(unit, site, masks)
        if follows is None:
            yield self._replace(site, call, b"virt_int_query(VIRT_PRIMASK)", "asks the mask")
            return
        mask, statement = follows
        context = unit.context(site)
        if context is not None:
            unit.delete(context, statement)
        yield self._replace(site, call, b"virt_int_save(VIRT_PRIMASK)", "saves and masks")
        yield self.rewritten(mask, "part of the save above it")

    def _threshold(self, unit: Unit, site: Site, call: Call) -> Verdict:
        """What was read may be asked for, kept, handed on and written back."""
        context = unit.context(site)
        node = context.node_at(call.start, call.end) if context is not None else None
        if context is not None and node is not None:
            for use in (node, *_uses_of_kept(unit, context, node)):
                if is_computed_with(use, unit.text.evaluator, context.scope):
                    return self._level_matters(site, _shown(use))
        if compared := unit.level_compared(context):
            return self._level_matters(site, compared)
        return self._replace(site, call, b"virt_int_query(VIRT_BASEPRI)", "asks the mask")

    def _level_matters(self, site: Site, where: str) -> Verdict:
        return self.escalated(
            site,
            f"the level of BASEPRI is used, '{where}': a machine's mask is set or not; ask only "
            "whether it is 0, or keep the level beside the mask",
        )

    def _write(self, unit: Unit, site: Site, call: Call) -> Verdict:
        if len(call.arguments) != 1:
            return self.escalated(site, f"{site.what} without a value")
        w = b"VIRT_PRIMASK" if site.what in MASK_WRITE else b"VIRT_BASEPRI"
        context = unit.context(site)
        scope = context.scope if context is not None else no_scope
        number = number_of(call.arguments[0], unit.text.evaluator, scope)
        if number is None:
            if site.what in BASEPRI_RAISE:
                return self.escalated(site, "a threshold that only rises and isn't constant")
            words = b" ".join(token.text for token in lex_fragment(call.arguments[0]))
            plain = b" ".join(call.arguments[0].split())
            text = b"virt_int_restore(%s, %s)" % (w, words if _NOISE.search(plain) else plain)
            return self._replace(site, call, text, "restores the mask")
        level = number & 1 if w == b"VIRT_PRIMASK" else kept(unit, number)
        if level is None:
            return self.escalated(site, which_bits(number))
        if w == b"VIRT_BASEPRI":
            unit.facts.note_threshold(level)
        name = b"mask" if level else b"unmask"
        if site.what in BASEPRI_RAISE and name == b"unmask":
            return self.escalated(site, "raising the threshold to 0 does nothing")
        return self._replace(site, call, b"virt_int_%s(%s)" % (name, w), f"{name.decode()}s")

    def _in_interrupt(self, unit: Unit, site: Site, call: Call) -> Verdict:
        context = unit.context(site)
        node = context.node_at(call.start, call.end) if context is not None else None
        if context is not None and node is not None and site.what == "__get_IPSR":
            part = masked(node, unit.text.evaluator, context.scope)
            question = part[0] if part is not None and part[1] & 0xF else node
            if is_truth_test(question, unit.text.evaluator, context.scope):
                question = outside_parentheses(question) if question is not node else node
                start, end = context.start(question), context.end(question)
                edit = Edit(start, end, b"virt_in_vct()")
                return self.rewritten(site, "asks whether an interrupt runs", edit)
            if (found := answer(node, unit.text.evaluator, context)) is not None:
                edit = Edit(context.start(found[0]), context.end(found[0]), found[1])
                return self.rewritten(site, "asks whether a supervisor call is served", edit)
        return self.escalated(site, "the number of the running interrupt is used")

    def _fault(self, unit: Unit, site: Site) -> Verdict:
        call = unit.call(site)
        if call is not None and site.what in ("__enable_fault_irq", "__enable_fiq"):
            context = unit.context(site)
            node = context.node_at(call.start, call.end) if context is not None else None
            statement = node.parent if node is not None else None
            if context is not None and statement is not None and sole_call(statement) is not None:
                unit.delete(context, statement)
                return self.rewritten(site, "removed: faults are never masked")
            return self._replace(site, call, b"(void)0", "removed: faults are never masked")
        return self.escalated(site, "a machine can't hold off faults; is masking all meant?")


def _mask_after(unit: Unit, site: Site, masks: list[Site]) -> tuple[Site, Node] | None:
    """The mask call that is the next statement after the one that keeps what was read."""
    context = unit.context(site)
    node = context.node_at(site.start, site.end) if context is not None else None
    statement = enclosing_statement(node) if node is not None else None
    if context is None or statement is None or not _keeps(statement, node, unit.text.evaluator):
        return None
    if unit.is_cut_off(context, statement):
        return None
    following = statement.next_named_sibling
    while following is not None and (following.type == "comment" or _is_barrier(following)):
        following = following.next_named_sibling
    if following is None or sole_call(following) is None:
        return None
    start, end = context.start(following), context.end(following)
    mask = next((mask for mask in masks if start <= mask.start and mask.end <= end), None)
    if (
        mask is None
        or unit.call(mask) is None
        or unit.text.lexed.directives_within(site.start, mask.start)
    ):
        return None  # they may stand under different conditions, or code between them
    return mask, following


def _uses_of_kept(unit: Unit, context: Context, call: Node) -> list[Node]:
    """Reads of the local variable that a call's result is stored in, if it is."""
    parent = outermost(call).parent
    if parent is None or context.tree is not unit.variables.tree:
        return []
    field = {"init_declarator": "declarator", "assignment_expression": "left"}.get(parent.type)
    target = parent.child_by_field_name(field) if field is not None else None
    if target is None or target.type != "identifier":
        return []
    variable = unit.variables.resolve(target)
    if variable is None or variable.function is None:
        return []
    return [use for use in unit.variables.uses(variable) if use != target]


def _shown(node: Node) -> str:
    """The expression around it."""
    node = outermost(node)
    return " ".join(text_of(node.parent or node).decode("latin-1").split())[:60]


def _keeps(statement: Node, call_name: Node | None, evaluator: Evaluator) -> bool:
    """Whether storing the result of a call is all that a statement does from then on."""
    call = call_name.parent if call_name is not None else None
    parent = outermost(call).parent if call is not None else None
    if parent is None:
        return False
    if parent.type == "init_declarator":
        behind = parent.next_named_sibling
        while behind is not None and is_pure(behind, evaluator):
            behind = behind.next_named_sibling
        return parent.parent == statement and behind is None
    return parent.type == "assignment_expression" and parent.parent == statement


def _is_barrier(statement: Node) -> bool:
    call = sole_call(statement)
    function = call.child_by_field_name("function") if call is not None else None
    return function is not None and text_of(function) in _BARRIERS
