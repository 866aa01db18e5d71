"""Stack pointers, CONTROL, caches, the protection unit and the trace port by CMSIS functions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.asm.effects import ONLY_FPCA, WHY_CONTROL
from porter.context_switch.result import FAKES_A_FRAME, TEMPLATES
from porter.flow.statements import sole_call
from porter.judging.unit import Call, Unit
from porter.judging.verdict import Verdict
from porter.meaning.expressions import masked, outside_parentheses
from porter.registers.intrinsics import CACHE, CONTROL_READ, MPU, STACK_POINTERS, TRACE
from porter.rules.rule import Rule, Sample
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import Node, text_of
from porter.source.edit import Edit
from porter.source.values import Number

_STACKS = (
    "stack pointers belong to the context switch: take this out; what starts another program here "
    "needs a domain for it"
)
_OF_TASKS = frozenset({"__get_PSP", "__set_PSP"})
_FRAME = (
    f"{_STACKS}: in VCT the task's is USR_REG->Reg.SP; where interrupts push a frame of their own "
    f"making, or a handler drops one, {TEMPLATES}/{FAKES_A_FRAME} shows what to write instead"
)
_NPRIV = 1  # of CONTROL
_WHOLE_CACHE = frozenset(name for name in CACHE if not name.endswith("_by_Addr"))


class SystemCall(Rule):
    """What a machine has no counterpart for, and what the kernel does for it."""

    id = "system-call"
    finds = "__set_MSP() and its like, __get_CONTROL(), SCB_*Cache*(), ARM_MPU_*(), ITM_SendChar()"
    becomes = (
        "hyp_putc() for ITM_SendChar(), USR_REG->Reg.SP, virt_npriv(); whole-cache calls go, and "
        "so does CONTROL where all that is done with it is to clear FPCA"
    )
    why = "stacks, caches and the protection unit belong to the kernel"
    samples = (
        Sample("void f(int c) { ITM_SendChar(c); }", "void f(int c) { hyp_putc(c); }"),
        Sample(
            "int f(int c) { return ITM_SendChar(c); }",
            "int f(int c) { return (hyp_putc(c), c); }",
        ),
        Sample("int f(char *p) { return ITM_SendChar(*p++); }", "", escalates=True),
        Sample(
            "void f(void)\n{\n    SCB_EnableICache();\n    g();\n}\n",
            "void f(void)\n{\n    g();\n}\n",
        ),
        Sample("void f(unsigned x) { __set_MSP(x); }", "", escalates=True),
        Sample("int f(void) { return (__get_CONTROL() & 2) != 0; }", "", escalates=True),
        Sample("void f(void) { ARM_MPU_Disable(); }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each call on its own."""
        for site in unit.pending(SiteKind.INTRINSIC):
            if site.what == "__get_PSP" and unit.serves_calls(unit.context(site)):
                yield self._stack(unit, site)
            elif site.what == "__set_PSP" and unit.serves_calls(unit.context(site)):
                yield self._set_stack(unit, site)
            elif (edits := _of_fpu_in_use(unit, site)) is not None:
                yield self.rewritten(site, ONLY_FPCA, *edits)
            elif site.what == "__set_CONTROL" and not unit.may_set_psp():
                yield self._control(unit, site)
            elif site.what in STACK_POINTERS:
                yield self.escalated(site, _FRAME if site.what in _OF_TASKS else _STACKS)
            elif site.what in CONTROL_READ:
                yield self._asks_control(unit, site)
            elif site.what in MPU:
                yield self.escalated(site, "the kernel owns the MPU; describe the memory instead")
            elif site.what in CACHE | TRACE:
                yield self._call(unit, site)

    def _control(self, unit: Unit, site: Site) -> Verdict:
        """PSP as the stack pointer, where nobody but handlers gives that a value: so this runs in a
        handler, where the bit does nothing, or in a task, and only privilege is meant."""
        call, context = unit.call(site), unit.context(site)
        if call is None or context is None or len(call.arguments) != 1:
            return self.escalated(site, _STACKS)
        value = unit.text.evaluator.text(call.arguments[0])
        if not isinstance(value, Number) or value.value not in (2, 3):
            return self.escalated(site, _STACKS)
        node = context.node_at(call.start, call.end)
        statement = node.parent if node is not None else None
        if statement is None or sole_call(statement) is None:
            return self.escalated(site, _STACKS)
        if unit.asks_control():
            edit = Edit(call.start, call.end, b"virt_npriv_set(%s)" % call.arguments[0])
            return self.rewritten(site, "kept for who asks for nPRIV", edit)
        unit.delete(context, statement)
        return self.rewritten(site, "removed: a machine's tasks have the rights that it has")

    def _asks_control(self, unit: Unit, site: Site) -> Verdict:
        """nPRIV is what the project's C wrote there."""
        call, context = unit.call(site), unit.context(site)
        if call is not None and context is not None and unit.sees_control():
            node = context.node_at(call.start, call.end)
            evaluator = unit.text.evaluator
            found = masked(node, evaluator, context.scope) if node is not None else None
            if found is not None and found[1] == _NPRIV:
                asked = outside_parentheses(found[0])
                edit = Edit(context.start(asked), context.end(asked), b"virt_npriv()")
                return self.rewritten(site, "asks for what was written to nPRIV", edit)
        return self.escalated(site, WHY_CONTROL)

    def _stack(self, unit: Unit, site: Site) -> Verdict:
        """That of the code that made the supervisor call."""
        call = unit.call(site)
        if call is None:
            return self.escalated(site, _FRAME)
        edit = Edit(call.start, call.end, b"USR_REG->Reg.SP")
        return self.rewritten(site, "the stack pointer of who made the supervisor call", edit)

    def _set_stack(self, unit: Unit, site: Site) -> Verdict:
        """That on which whoever made the call goes on, where the start of the OS has put that code
        on PSP: else it would stay on MSP, and this would do nothing yet."""
        call, context = unit.call(site), unit.context(site)
        node = context.node_at(call.start, call.end) if call and context is not None else None
        statement = node.parent if node is not None else None
        if call is None or statement is None or sole_call(statement) is None:
            return self.escalated(site, _FRAME)
        if not unit.puts_callers_on_psp():
            return self.escalated(
                site,
                f"{_STACKS}: who makes the supervisor call may be on MSP, and would go on there; "
                "a guest goes on with the frame that this names. Let the function that starts the "
                "OS put its caller on PSP first, or let the switch's handler resume the first task",
            )
        text = b"USR_REG->Reg.SP = (uint32_t)(%s)" % b", ".join(call.arguments)
        edit = Edit(call.start, call.end, text)
        return self.rewritten(site, "where who made the supervisor call goes on", edit)

    def _putc(self, unit: Unit, site: Site, call: Call) -> Verdict:
        """A character for the log. The original returns it, hyp_putc doesn't."""
        if unit.domain is not None and not unit.domain.writes_log:
            return self.escalated(
                site,
                f"{unit.domain.name} may not write into the log: give its <vm> "
                'log="write" in the description, or take the call out',
            )
        character = call.arguments[0]
        text = b"hyp_putc(%s)" % character
        context = unit.context(site)
        node = context.node_at(call.start, call.end) if context is not None else None
        if node is None or not _is_for_its_effect(node):
            if re.fullmatch(rb"\w+|'\\?.'", character) is None:
                return self.escalated(
                    site, "its result, the character, is used: keep that in a variable first"
                )
            text = b"(%s, %s)" % (text, character)
        return self.rewritten(site, "into the system's log", Edit(call.start, call.end, text))

    def _call(self, unit: Unit, site: Site) -> Verdict:
        call = unit.call(site)
        if call is not None and site.what == "ITM_SendChar" and call.arguments:
            return self._putc(unit, site, call)
        context = unit.context(site)
        if call is None or context is None or site.what not in _WHOLE_CACHE:
            return self.escalated(site, f"{site.what} has no counterpart in a virtual machine")
        node = context.node_at(call.start, call.end)
        statement = node.parent if node is not None else None
        if statement is None or sole_call(statement) is None:
            return self.escalated(site, f"{site.what} is used in an expression")
        unit.delete(context, statement)
        return self.rewritten(site, "removed: the kernel sets up the caches")


def _of_fpu_in_use(unit: Unit, site: Site) -> tuple[Edit, ...] | None:
    """CONTROL read or written where all of the project does that for FPCA alone."""
    if site.what not in ("__get_CONTROL", "__set_CONTROL") or unit.control_asked(site.what):
        return None
    if unit.is_deleted(site.start, site.end):
        return ()
    call, context = unit.call(site), unit.context(site)
    if call is None or context is None:
        return None
    if site.what == "__get_CONTROL":
        return (Edit(call.start, call.end, b"0"),)
    node = context.node_at(call.start, call.end)
    statement = node.parent if node is not None else None
    if statement is not None and sole_call(statement) is not None:
        unit.delete(context, statement)
    else:  # all of a macro's body
        unit.deletions.add(Edit(call.start, call.end, b"((void)0)"))
    return ()


def _is_for_its_effect(call: Node) -> bool:
    """A statement of its own, maybe cast to void."""
    parent = call.parent
    if parent is not None and parent.type == "cast_expression":
        kind = parent.child_by_field_name("type")
        parent = parent.parent if kind is not None and text_of(kind) == b"void" else None
    return parent is not None and parent.type == "expression_statement"
