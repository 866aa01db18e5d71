"""What is asked of an RV32 function's instructions, and how they become C."""

from __future__ import annotations

from dataclasses import replace

from porter.context_switch.assemble import Assembly
from porter.context_switch.checks import (
    answers_in_frame,
    calls_by_registers,
    has_two_names,
    is_asked_for_masks,
    is_called_by_registers,
    owns_context,
    passes_words,
    reaches_devices,
    restores_nothing,
    returns_numbers,
    sets_stack_pointer,
    waits,
)
from porter.context_switch.code import Code
from porter.context_switch.draft import Draft
from porter.context_switch.lift_state import Signature
from porter.context_switch.object_file import Function
from porter.context_switch.register_steps import Step, within_section
from porter.context_switch.result import ROLE_START
from porter.context_switch.riscv import decode, roles
from porter.context_switch.riscv.blocks import join_blocks
from porter.context_switch.riscv.causes import refuse_causes
from porter.context_switch.riscv.devices import check_devices
from porter.context_switch.riscv.first_task import in_vct
from porter.context_switch.riscv.lift import Lifter
from porter.context_switch.riscv.parameters import parameters_read
from porter.context_switch.riscv.register_steps import steps
from porter.context_switch.simplify import simplify
from porter.context_switch.structure import structure


class RiscvCode(Code):
    """A function of an RV32 object."""

    checks = (
        sets_stack_pointer,
        passes_words,
        reaches_devices,
        has_two_names,
        calls_by_registers,
        is_called_by_registers,
        restores_nothing,
        waits,
        is_asked_for_masks,
        answers_in_frame,
        owns_context,
        returns_numbers,
    )
    _found: dict[int, decode.Instruction]

    def __init__(self, assembly: Assembly, function: Function) -> None:
        super().__init__(assembly, function)
        self._found = decode.decode_all(assembly.object, function, assembly.text)

    @classmethod
    def privileged(cls, assembly: Assembly, function: Function) -> str:
        """Which one it is, nobody is told."""
        return "a privileged instruction" if cls(assembly, function).needs_port() else ""

    def decoded(self) -> str:
        """As Code says: where a macro makes several, their texts are no macro's."""
        return "\n".join(it.text for it in self._found.values())

    def role(self, is_handler: bool) -> str | None:
        """mret says of a handler what it is."""
        return roles.classify(self._found.values())

    def needs_port(self) -> bool:
        """What begins with a jump to another function, as a table of a vectored mtvec does, has
        nothing of its own."""
        found = list(self._found.values())
        needs = roles.is_privileged(found) or roles.touches_system(found)
        return needs and not self._only_jumps()

    def _only_jumps(self) -> bool:
        first = self._found[self._function.start]
        target = decode.branch_target(self._unit, self._function.section, first)
        return first.name == "jal" and first.rd == 0 and target in self._others()

    def _others(self) -> set[int | None]:
        """Where other functions of the section begin; None is one of another file."""
        section = self._function.section
        starts = {it.start for it in self._unit.functions if it.section == section}
        return {None, *starts} - {self._function.start}

    def touches_stack_pointers(self) -> bool:
        """A handler says what it is by mret."""
        return self.role(is_handler=False) is not None

    def loads_stack_pointer(self) -> bool:
        """A trap has no stack of its own: every handler does, and says so by its CSRs."""
        return False

    def never_a_guests(self) -> str:
        """As Code says."""
        return ""

    def entry_state(self) -> str:
        """A trap's entry leaves nothing but CSRs."""
        return ""

    def callees(self) -> set[str]:
        """Every call has a relocation."""
        return set()

    def signature(self) -> Signature | None:
        """The arguments that it reads; a result can't be told, so there is none."""
        return parameters_read(self._unit, self._function.section, self._found)

    def steps(self) -> dict[int, Step]:
        """As Code says."""
        found = steps(self._unit, self._function, self._found)
        return within_section(self._unit, self._function, found)

    def understood(self, draft: Draft) -> Draft:
        """As Code says. All of a start runs in VCT."""
        role, project = draft.role, draft.names.project
        program = Lifter(
            self._unit, self._function, self._found, role, draft.signatures, draft.own
        ).lift()
        simplify(program, role, project.volatiles.holds)
        check_devices(program)
        join_blocks(program)
        nodes = structure(program)
        refuse_causes(nodes, project.units)
        if role != ROLE_START:
            return replace(draft, nodes=nodes)
        first, nodes = in_vct(nodes, draft.function.name, draft.own)
        return replace(draft, nodes=nodes, first=first)
