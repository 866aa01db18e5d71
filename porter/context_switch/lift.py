"""Control flow: from a list of instructions to a program of the small language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter.context_switch import lift_bits, lift_carry, lift_data, lift_memory, lift_system
from porter.context_switch.arm_relocations import (
    R_ARM_THM_CALL,
    R_ARM_THM_JUMP8,
    R_ARM_THM_JUMP11,
    R_ARM_THM_JUMP24,
)
from porter.context_switch.decode import Immediate, Instruction, Register, branch_target
from porter.context_switch.ir import (
    KEPT,
    SCRATCH,
    SCRATCH_FPU,
    Assign,
    Branch,
    Call,
    Condition,
    Const,
    Exit,
    Expr,
    Jump,
    Note,
    Origin,
    Resume,
    Symbol,
    Terminator,
    Undefined,
    Var,
    Verbatim,
)
from porter.context_switch.lift_blocks import BlockLifter, Convention
from porter.context_switch.lift_state import KIND_RESULT, LiftState, Signature
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.result import (
    ANOTHER_WAY,
    DISPATCHES,
    ROLE_CALL,
    ROLE_OTHER,
    ROLE_PART,
    ROLE_START,
    ROLE_SWITCH,
    NotTranscribable,
)
from porter.context_switch.services import SERVICE, serves
from porter.context_switch.structure import INVERSE

_BRANCH_RELOCATIONS = (R_ARM_THM_CALL, R_ARM_THM_JUMP24, R_ARM_THM_JUMP11, R_ARM_THM_JUMP8)
_SIMPLE: dict[str, Callable[[LiftState, Instruction], None]] = {
    **dict.fromkeys(("mov", "movs", "movw"), lift_data.move),
    "movt": lift_data.move_top,
    **dict.fromkeys(
        (
            *("add", "addw", "sub", "subw", "rsb", "mul"),
            *("and", "orr", "eor", "bic", "orn", "lsl", "lsr", "asr"),
        ),
        lift_data.arithmetic,
    ),
    **dict.fromkeys(("adc", "sbc"), lift_carry.with_carry),
    **dict.fromkeys(("mla", "mls"), lift_data.multiply_and_add),
    "mvn": lift_data.invert,
    **dict.fromkeys(("uxtb", "uxth", "sxtb", "sxth"), lift_bits.extend),
    **dict.fromkeys(("ubfx", "sbfx"), lift_bits.extract),
    **dict.fromkeys(("bfi", "bfc"), lift_bits.insert),
    "clz": lift_bits.count_zeros,
    **dict.fromkeys(("cmp", "tst", "teq"), lift_data.compare),
    **dict.fromkeys(("ldr", "ldrb", "ldrh", "ldrsb", "ldrsh"), lift_memory.load),
    **dict.fromkeys(("str", "strb", "strh"), lift_memory.store),
    **dict.fromkeys(("ldrd", "strd"), lift_memory.double),
    **dict.fromkeys(("ldm", "ldmdb", "stm", "stmdb"), lift_memory.multiple),
    **dict.fromkeys(("vldmia", "vldmdb", "vstmia", "vstmdb"), lift_memory.multiple),
    **dict.fromkeys(("push", "pop", "vpush", "vpop"), lift_memory.stack_transfer),
    "mrs": lift_system.read_special,
    "msr": lift_system.write_special,
    **dict.fromkeys(("cpsid", "cpsie"), lift_system.change_state),
    **dict.fromkeys(("dsb", "isb", "dmb"), lift_system.barrier),
    "clrex": lift_system.clear_exclusive,
    **dict.fromkeys(("nop", "wfi", "wfe", "sev", "yield"), lift_system.nothing),
    "svc": lift_system.supervisor_call,
}


_CONVENTION = Convention(
    arguments=SCRATCH[:4],
    saved={number: f"r{number}" for number in range(4, 12)},
    destroyed=(*SCRATCH, "lr", *SCRATCH_FPU),
)


class Lifter(BlockLifter):
    """Lifts one function. A block's key is twice its address, and one more for instructions that
    run under a condition of their own."""

    def __init__(
        self,
        unit: ObjectFile,
        function: Function,
        instructions: dict[int, Instruction],
        role: str,
        signatures: dict[str, Signature],
        own: Signature,
    ) -> None:
        state = LiftState(unit, function, role, signatures)
        state.carries = any(it.name in ("adc", "sbc") for it in instructions.values())
        super().__init__(state, function.start * 2, own, _CONVENTION)
        self._at = instructions
        targets = map(self._inner_target, instructions.values())
        self._leaders = {target for target in targets if target is not None}
        self._it: Origin = ()

    def _enter(self) -> None:
        self._state.emit(Assign((), "lr", Var("LR")))
        if self._state.plain:
            self._enter_from_c()

    def _block(self, key: int) -> Terminator:
        address = key // 2
        return self._predicated(self._at[address]) if key % 2 else self._run(address)

    def _run(self, address: int) -> Terminator:
        """A block from an address up to its end."""
        start = address
        while True:
            if address != start and address in self._leaders:
                return Jump(address * 2)
            instruction = self._at.get(address)
            if instruction is None:
                raise NotTranscribable(f"runs on into data at +{address:#x}")
            self._state.current = ((address, instruction.text),)
            if instruction.name == "it":
                self._it = self._state.current
            elif instruction.condition and instruction.name != "b":
                origin, self._it = self._it, ()
                condition = self._condition(instruction.condition)
                after = self._group(instruction)[-1].next
                opposite = 1 if self._opposite(instruction) else 0
                return Branch(condition, address * 2 + 1, after * 2 + opposite, origin)
            elif (end := self._control(instruction)) is not None:
                return end
            elif instruction.name not in ("bl", "blx"):
                self._plain(instruction)
            address = instruction.next

    def _predicated(self, first: Instruction) -> Terminator:
        """The block of instructions that run under one condition of an IT."""
        for instruction in self._group(first):
            self._state.current = ((instruction.address, instruction.text),)
            end = self._control(instruction)
            if end is not None:
                return end
            if instruction.name not in ("bl", "blx"):
                self._plain(instruction)
        opposite = self._opposite(first)
        return Jump(self._group(opposite or first)[-1].next * 2)

    def _opposite(self, first: Instruction) -> Instruction | None:
        """The first of those instructions, right behind a group, that run where it doesn't."""
        last = self._group(first)[-1]
        following = self._at.get(last.next)
        if (
            following is None
            or following.condition != INVERSE.get(first.condition)
            or following.address in self._leaders
            or following.name == "b"
            or last.sets_flags
            or last.name in ("bl", "blx", "bx", "b")
        ):
            return None
        return following

    def _group(self, first: Instruction) -> list[Instruction]:
        """A predicated instruction and those behind it under the same condition."""
        group = [first]
        while True:
            last, following = group[-1], self._at.get(group[-1].next)
            if (
                following is None
                or following.condition != first.condition
                or following.address in self._leaders
                or following.name == "b"
                or last.sets_flags
                or last.name in ("bl", "blx", "bx", "b")
            ):
                return group
            group.append(following)

    def _plain(self, instruction: Instruction) -> None:
        handler = _SIMPLE.get(instruction.name)
        if handler is None:
            macro = "" if instruction.name in instruction.text.lower() else instruction.name
            within = f" ({macro} {instruction.detail})" if macro else ""
            raise NotTranscribable(f"instruction '{instruction.text}'{within} is not known")
        handler(self._state, instruction)

    def _condition(self, code: str) -> Condition:
        return Condition(code, Var("flag_kind"), Var("flag_a"), Var("flag_b"))

    def _control(self, instruction: Instruction) -> Terminator | None:
        """What ends a block, calls included: None where the block goes on."""
        state, origin = self._state, self._state.current
        match instruction.name:
            case "b":
                return self._branch(instruction)
            case "cbz" | "cbnz":
                target = self._inner_target(instruction)
                if target is None:
                    raise NotTranscribable(f"'{instruction.text}' leaves the function")
                value = state.read(instruction.registers()[0])
                code = "eq" if instruction.name == "cbz" else "ne"
                condition = Condition(code, Const(KIND_RESULT), value, Const(0))
                return Branch(condition, target * 2, instruction.next * 2, origin)
            case "blx" if self._goes_to_task(instruction):
                return self._return(instruction.registers()[0])
            case "bl" | "blx":
                return None if self._call_by(instruction) else self._never()
            case "bx":
                return self._return(instruction.registers()[0])

            case "mov" if instruction.registers()[:1] == ("pc",):
                return self._return(instruction.registers()[1])
            case "pop" if instruction.registers()[-1] == "pc":
                lift_memory.pop(state, instruction.registers())
                return self._return("lr")
            case "ldm" if instruction.registers()[0] == "sp" and instruction.writeback:
                if instruction.registers()[-1] == "pc":
                    lift_memory.pop(state, instruction.registers()[1:])
                    return self._return("lr")
            case "svc":
                self._plain(instruction)
                return Exit(origin) if state.role == ROLE_START else None
        return None

    def _goes_to_task(self, instruction: Instruction) -> bool:
        """Whether a start calls what it got as the task's entry."""
        state = self._state
        registers = instruction.registers()
        return (
            state.role == ROLE_START
            and bool(registers)
            and (not isinstance(state.known.get(registers[0]), Symbol))
        )

    def _branch(self, instruction: Instruction) -> Terminator:
        state = self._state
        target = self._inner_target(instruction)
        if target is None:
            relocation = state.unit.relocation(state.function.section, instruction.address)
            if relocation is None or instruction.condition:
                raise NotTranscribable(f"'{instruction.text}' leaves the function")
            return self._tail_call(relocation.symbol)
        if instruction.condition:
            origin, self._it = (*self._it, *state.current), ()
            condition = self._condition(instruction.condition)
            return Branch(condition, target * 2, instruction.next * 2, origin)
        if target == instruction.address:
            if state.role == ROLE_SWITCH:
                raise NotTranscribable(f"'{instruction.text}' never ends")
            return self._never()
        state.emit(Note(state.current, ""))
        return Jump(target * 2)

    def _inner_target(self, instruction: Instruction) -> int | None:
        """Where a branch goes on in this function, or in one that it ends with and that C doesn't
        know by itself."""
        state = self._state
        target = branch_target(state.unit, state.function, instruction)
        if target is None or target not in self._at:
            return None
        name = state.unit.name_at(state.function.section, target)
        inside = state.function.start <= target < state.function.end
        ends = state.plain or state.role == ROLE_CALL  # with another function
        known = ends and name in state.signatures and not instruction.condition
        return None if known and not inside else target

    def _return(self, register: str) -> Terminator:
        state = self._state
        known = state.known.get(state.variable(register))
        if isinstance(known, Symbol):
            return self._tail_call(known.name)
        if state.role == ROLE_START and register != "lr":
            stack = Var("sp" if state.on_task_stack else "SP")
            state.emit(Resume(state.current, state.read(register), stack))
            return Exit(())
        self._go_on_at(state.read(register))
        return self._exit()

    def _go_on_at(self, place: Expr) -> None:
        """Where the original goes on: a plain function only to its caller."""
        self._state.assign(f"{KEPT}LR" if self._state.plain else "LR", place)

    def _tail_call(self, name: str) -> Terminator:
        self._go_on_at(Var("lr"))
        return self._exit() if self._call(name) else self._never()

    def _never(self) -> Terminator:
        """Nothing comes behind this."""
        self._state.emit(Verbatim(self._state.current, "for (;;)"))
        return Exit(())

    def _exit(self) -> Terminator:
        state = self._state
        if state.on_task_stack and state.role == ROLE_START:
            raise NotTranscribable(ANOTHER_WAY)
        if state.depth != 0:
            raise NotTranscribable("returns with words left on the handler's own stack")
        if state.role not in (ROLE_OTHER, ROLE_PART):
            return Exit(state.current)
        return self._leave_to_c()

    def _call_by(self, instruction: Instruction) -> bool:
        """Call what an instruction calls; whether that comes back."""
        state = self._state
        relocation = state.unit.relocation(state.function.section, instruction.address)
        if relocation is not None and relocation.kind in _BRANCH_RELOCATIONS and relocation.symbol:
            return self._call(relocation.symbol)
        target = instruction.operands[0]
        name: str | None = None
        if isinstance(target, Immediate):
            name = state.unit.name_at(state.function.section, target.value)
        elif isinstance(target, Register):
            known = state.known.get(state.variable(target.name))
            name = known.name if isinstance(known, Symbol) else None
        if name is None and isinstance(target, Register) and serves(state.signatures):
            return self._serve(target.name)
        if name is None and isinstance(target, Register):
            raise NotTranscribable(
                f"'{instruction.text}' calls what {target.name} points to at run time: nothing "
                f"says which arguments that takes; let C make that call{self._why_no_service()}",
                "" if state.role == ROLE_SWITCH else DISPATCHES,
            )
        if name is None:
            raise NotTranscribable(f"'{instruction.text}' calls a function that has no name here")
        return self._call(name)

    def _why_no_service(self) -> str:
        known = self._state.signatures.get(SERVICE)
        if known is None:
            return ""
        return f" (of a supervisor call's caller a guest finds r0-r3 and r12, but {known.problem})"

    def _serve(self, register: str) -> bool:
        """Call what the caller of a supervisor call named. It may leave something in r1 to r3, half
        of a long result for one: a handler that stores these hands it on."""
        state = self._state
        values = (*map(Var, SCRATCH[:4]), state.read(register))
        known = state.signatures[SERVICE]
        moves, asks = known.moves_stack, known.asks_stack
        call = Call(state.current, SERVICE, values, (False,) * 5, "r0", moves, asks_stack=asks)
        state.emit(replace(call, left=SCRATCH[1:4]))
        why = Undefined("the call of what the supervisor call names")
        for name in _CONVENTION.destroyed:
            state.known.pop(name, None)
            if name not in SCRATCH[:4]:
                state.assign(name, why)
        state.forget_flags("the call of what the supervisor call names")
        return True

    def _call(self, name: str) -> bool:
        comes_back = super()._call(name)
        self._state.forget_flags(f"the call of {name}()")
        return comes_back
