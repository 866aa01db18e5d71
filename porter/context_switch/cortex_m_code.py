"""What is asked of a Cortex-M function's instructions, and how they become C."""

from __future__ import annotations

from dataclasses import replace

from porter.context_switch import decode, roles
from porter.context_switch.assemble import Assembly
from porter.context_switch.checks import (
    answers_in_frame,
    calls_by_registers,
    has_two_names,
    is_asked_for_masks,
    is_called_by_registers,
    is_part_alone,
    leaves_floats_to_parts,
    loses_no_write,
    owns_context,
    passes_words,
    reaches_devices,
    restores_nothing,
    returns_from_frame,
    returns_numbers,
    sets_stack_pointer,
    waits,
    waits_alone,
)
from porter.context_switch.code import Code
from porter.context_switch.draft import Draft
from porter.context_switch.entry_state import entry_state
from porter.context_switch.first_in_vct import first_in_vct
from porter.context_switch.first_task import First, split_first
from porter.context_switch.ir import Block, Exit, Program
from porter.context_switch.lift import Lifter
from porter.context_switch.lift_state import Signature
from porter.context_switch.object_file import Function
from porter.context_switch.register_steps import Step, within_section
from porter.context_switch.result import ROLE_START, ROLE_SVC, ROLE_SWITCH
from porter.context_switch.services import serves
from porter.context_switch.simplify import prepare_start, simplify
from porter.context_switch.structure import structure
from porter.context_switch.thumb_steps import thumb_steps

PRIVILEGED = frozenset({"msr", "mrs", "cpsid", "cpsie", "wfi", "wfe", "svc"})


class ArmCode(Code):
    """A function of a Cortex-M object."""

    checks = (
        sets_stack_pointer,
        passes_words,
        reaches_devices,
        has_two_names,
        calls_by_registers,
        is_called_by_registers,
        is_part_alone,
        leaves_floats_to_parts,
        loses_no_write,
        restores_nothing,
        waits,
        waits_alone,
        is_asked_for_masks,
        answers_in_frame,
        returns_from_frame,
        owns_context,
        returns_numbers,
    )
    _found: dict[int, decode.Instruction]

    def __init__(self, assembly: Assembly, function: Function) -> None:
        super().__init__(assembly, function)
        self._text = assembly.text
        self._found = decode.decode_all(assembly.object, function, assembly.text)

    @classmethod
    def privileged(cls, assembly: Assembly, function: Function) -> str:
        """The first such instruction."""
        found = decode.decode(assembly.object, function, assembly.text)
        return next((f"'{it.text}'" for it in found if it.name in PRIVILEGED), "")

    def decoded(self) -> str:
        """As Code says."""
        return "\n".join(f"{it.name} {it.detail}" for it in self._found.values())

    def role(self, is_handler: bool) -> str | None:
        """As Code says."""
        return roles.classify(list(self._found.values()), is_handler)

    def needs_port(self) -> bool:
        """As Code says."""
        return roles.needs_port(list(self._found.values()), self._unit, self._function.section)

    def touches_stack_pointers(self) -> bool:
        """As Code says."""
        return roles.touches_stack_pointers(list(self._found.values()))

    def loads_stack_pointer(self) -> bool:
        """As Code says."""
        return roles.loads_stack_pointer(list(self._found.values()))

    def never_a_guests(self) -> str:
        """As Code says."""
        found = list(self._found.values())
        if roles.reads_fault_status(found, self._unit, self._function.section):
            return "asks what fault there was, and the kernel takes every fault: take it out"
        if roles.sets_callers_stack(found):
            return "gives its caller another main stack, and a guest has none: take it out"
        return ""

    def entry_state(self) -> str:
        """As Code says."""
        return entry_state(list(self._found.values()), self._unit, self._function)

    def callees(self) -> set[str]:
        """Calls by bl."""
        found = set()
        section = self._function.section
        for instruction in self._found.values():
            if instruction.name == "bl" and instruction.operands:
                relocation = self._unit.relocation(section, instruction.address)
                target = getattr(instruction.operands[0], "value", None)
                known = None if target is None else self._unit.name_at(section, target)
                name = relocation.symbol if relocation is not None else known
                found |= {name} if name else set()
        return found

    def signature(self) -> Signature | None:
        """They don't say it."""

    def steps(self) -> dict[int, Step]:
        """As Code says."""
        found = decode.decode(self._unit, self._function, self._text)
        every = {it.address: it for it in found} | self._found
        steps = thumb_steps(self._unit, self._function, every)
        return within_section(self._unit, self._function, steps)

    def understood(self, draft: Draft) -> Draft:
        """As Code says. A start leaves to VCT what it does last."""
        role, name = draft.role, draft.function.name
        program = Lifter(
            self._unit, self._function, self._found, role, draft.signatures, draft.own
        ).lift()
        first = None
        if role == ROLE_START:
            prepare_start(program)
            first = first_in_vct(program, name) or split_first(program, name)
            if first is not None and first.before:
                first = self._simplified(first, draft)
        volatiles = draft.names.project.volatiles
        simplify(program, role, volatiles.holds, role == ROLE_SWITCH, serves(draft.signatures))
        return replace(draft, nodes=structure(program), first=first)

    def _simplified(self, first: First, draft: Draft) -> First:
        """With what it begins with as nodes."""
        program = Program(0, {0: Block([*first.before], Exit(()))})
        simplify(program, ROLE_SVC, draft.names.project.volatiles.holds)
        return replace(first, statements=(*structure(program), *first.statements), before=())
