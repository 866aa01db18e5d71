"""The two machines behind one interface: what is asked of a function's instructions."""

from __future__ import annotations

from typing import Generic, TypeVar

from porter.context_switch import decode, lift, roles
from porter.context_switch.assemble import Assembly
from porter.context_switch.entry_state import entry_state
from porter.context_switch.ir import Program
from porter.context_switch.lift_state import Signature
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.riscv import decode as riscv_decode
from porter.context_switch.riscv import lift as riscv_lift
from porter.context_switch.riscv import roles as riscv_roles
from porter.context_switch.riscv.machine import RV32
from porter.context_switch.riscv.parameters import parameters_read

Instruction = TypeVar("Instruction", decode.Instruction, riscv_decode.Instruction)


class _Code(Generic[Instruction]):
    """A function's instructions, by address, whatever the machine."""

    def __init__(self, unit: ObjectFile, function: Function, found: dict[int, Instruction]) -> None:
        self._unit, self._function = unit, function
        self._found: dict[int, Instruction] = found
        self.count = len(found)

    def texts(self) -> tuple[tuple[int, str], ...]:
        """As their author wrote them, by bytes from the function's start."""
        start = self._function.start
        return tuple((address - start, it.text) for address, it in self._found.items())

    def reached(self, start: int, end: int) -> list[int]:
        """Where they stand between two addresses."""
        return [address for address in self._found if start <= address < end]

    def covered(self) -> set[int]:
        """Addresses of all their halfwords."""
        return {place for it in self._found.values() for place in range(it.address, it.next, 2)}


class ArmCode(_Code[decode.Instruction]):
    """A function of a Cortex-M object."""

    def __init__(self, assembly: Assembly, function: Function) -> None:
        unit = assembly.object
        super().__init__(unit, function, decode.decode_all(unit, function, assembly.text))

    def role(self, is_handler: bool) -> str | None:
        """What the function is; None for one that the transcriber has nothing to do with.
        `is_handler`: it is known to serve an exception."""
        return roles.classify(list(self._found.values()), is_handler)

    def needs_port(self) -> bool:
        """Whether it does what a guest can't."""
        return roles.needs_port(list(self._found.values()), self._unit, self._function.section)

    def touches_stack_pointers(self) -> bool:
        """Whether no other part of the porter may understand it."""
        return roles.touches_stack_pointers(list(self._found.values()))

    def loads_stack_pointer(self) -> bool:
        """Whether it goes on, on a stack that it got from memory."""
        return roles.loads_stack_pointer(list(self._found.values()))

    def never_a_guests(self) -> str:
        """Why no guest has a function like this; "" where nothing is known to say so."""
        found = list(self._found.values())
        if roles.reads_fault_status(found, self._unit, self._function.section):
            return "asks what fault there was, and the kernel takes every fault: take it out"
        if roles.sets_callers_stack(found):
            return "gives its caller another main stack, and a guest has none: take it out"
        return ""

    def entry_state(self) -> str:
        """What of it uses what an exception's entry leaves; "" for nothing."""
        return entry_state(list(self._found.values()), self._unit, self._function)

    def callees(self) -> set[str]:
        """Functions that it calls by bl."""
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
        """What it takes, as far as its instructions say."""
        return None

    def lift(self, role: str, signatures: dict[str, Signature], own: Signature) -> Program:
        """The function in the small language."""
        unit, function = self._unit, self._function
        return lift.Lifter(unit, function, self._found, role, signatures, own).lift()


class RiscvCode(_Code[riscv_decode.Instruction]):
    """A function of an RV32 object."""

    def __init__(self, assembly: Assembly, function: Function) -> None:
        unit = assembly.object
        super().__init__(unit, function, riscv_decode.decode_all(unit, function, assembly.text))

    def role(self, is_handler: bool) -> str | None:
        """As ArmCode's; mret says of a handler what it is."""
        return riscv_roles.classify(self._found.values())

    def needs_port(self) -> bool:
        """As ArmCode's. What begins with a jump to another function, as a table of a vectored
        mtvec does, has nothing of its own."""
        found = list(self._found.values())
        needs = riscv_roles.is_privileged(found) or riscv_roles.touches_system(found)
        return needs and not self._only_jumps()

    def _only_jumps(self) -> bool:
        first = self._found[self._function.start]
        target = riscv_decode.branch_target(self._unit, self._function.section, first)
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
        """As ArmCode's."""
        return ""

    def callees(self) -> set[str]:
        """Every call has a relocation."""
        return set()

    def signature(self) -> Signature | None:
        """The arguments that it reads; a result can't be told, so there is none."""
        return parameters_read(self._unit, self._function.section, self._found)

    def lift(self, role: str, signatures: dict[str, Signature], own: Signature) -> Program:
        """The function in the small language."""
        unit, function = self._unit, self._function
        return riscv_lift.Lifter(unit, function, self._found, role, signatures, own).lift()


def code_of(assembly: Assembly, function: Function) -> ArmCode | RiscvCode:
    """A function's code; NotTranscribable where its bytes aren't understood."""
    return (RiscvCode if assembly.object.machine is RV32 else ArmCode)(assembly, function)
