"""Control flow: from a list of instructions to a program of the small language."""

from __future__ import annotations

from collections.abc import Callable

from porter.context_switch import lift_data, lift_memory, lift_system
from porter.context_switch.decode import Immediate, Instruction, Register, branch_target
from porter.context_switch.ir import (
    KEPT,
    PARAMETERS,
    SCRATCH_FPU,
    Assign,
    Block,
    Branch,
    Call,
    Condition,
    Const,
    Exit,
    Expr,
    Jump,
    Note,
    Origin,
    Program,
    Resume,
    Symbol,
    Terminator,
    Undefined,
    Var,
    Verbatim,
)
from porter.context_switch.lift_state import KIND_RESULT, UNKNOWN_STACK, LiftState, Signature
from porter.context_switch.object_file import (
    R_ARM_THM_CALL,
    R_ARM_THM_JUMP8,
    R_ARM_THM_JUMP11,
    R_ARM_THM_JUMP24,
    Function,
    ObjectFile,
)
from porter.context_switch.result import (
    DISPATCHES,
    ROLE_OTHER,
    ROLE_START,
    ROLE_SWITCH,
    NotTranscribable,
)

_BRANCH_RELOCATIONS = (R_ARM_THM_CALL, R_ARM_THM_JUMP24, R_ARM_THM_JUMP11, R_ARM_THM_JUMP8)
_SIMPLE: dict[str, Callable[[LiftState, Instruction], None]] = {
    **dict.fromkeys(("mov", "movs", "movw"), lift_data.move),
    "movt": lift_data.move_top,
    **dict.fromkeys(
        ("add", "addw", "sub", "subw", "and", "orr", "eor", "bic", "lsl", "lsr", "rsb"),
        lift_data.arithmetic,
    ),
    "mvn": lift_data.invert,
    **dict.fromkeys(("uxtb", "uxth"), lift_data.extend),
    **dict.fromkeys(("cmp", "tst"), lift_data.compare),
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
    **dict.fromkeys(("nop", "wfi", "wfe", "sev", "yield"), lift_system.nothing),
    "svc": lift_system.supervisor_call,
}


class Lifter:
    """Lifts one function; `lift` is called once."""

    def __init__(
        self,
        unit: ObjectFile,
        function: Function,
        instructions: dict[int, Instruction],
        role: str,
        signatures: dict[str, Signature],
        own: Signature,
    ) -> None:
        """`own` is what C calls the function with."""
        self._state = LiftState(unit, function, role, signatures)
        self._own = own
        self._at = instructions
        self._program = Program(function.start * 2, {})
        self._depths: dict[int, int] = {}
        self._waiting: list[int] = []
        targets = map(self._inner_target, instructions.values())
        self._leaders = {target for target in targets if target is not None}
        self._it: Origin = ()

    def lift(self) -> Program:
        """The program. Raises NotTranscribable with the instruction that isn't understood."""
        state = self._state
        self._reach(self._program.entry, 0)
        while self._waiting:
            key = self._waiting.pop()
            state.begin(self._depths[key])
            if key == self._program.entry:
                self._enter()
            address = key // 2
            end = self._predicated(self._at[address]) if key % 2 else self._run(address)
            self._program.blocks[key] = Block(state.statements, end)
            for successor in self._program.blocks[key].successors():
                self._reach(successor, state.depth)
        return self._program

    def _enter(self) -> None:
        """What the registers hold in the beginning."""
        state = self._state
        state.emit(Assign((), "lr", Var("LR")))
        if state.plain:
            if len(self._own.parameters) > len(PARAMETERS):
                raise NotTranscribable("takes arguments on the stack")
            for number, name in enumerate(PARAMETERS[: len(self._own.parameters)]):
                state.emit(Assign((), f"r{number}", Var(name)))
            for number in range(4, 12):
                state.emit(Assign((), f"r{number}", Var(f"entry{number}")))

    def _reach(self, key: int, depth: int) -> None:
        if self._depths.setdefault(key, depth) not in (depth, UNKNOWN_STACK):
            self._depths[key] = UNKNOWN_STACK  # well if SP is set before it is used
            self._program.blocks.pop(key, None)
        if key not in self._program.blocks and key not in self._waiting:
            self._waiting.append(key)

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
                return Branch(condition, address * 2 + 1, after * 2, origin)
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
        return Jump(self._group(first)[-1].next * 2)

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
            raise NotTranscribable(f"instruction '{instruction.text}' is not known")
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
                self._call(instruction)
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
            state.emit(Verbatim(state.current, "for (;;) {}"))
            return Exit(())
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
        known = state.plain and name in state.signatures and not instruction.condition
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
        self._emit_call(name)
        return self._exit()

    def _exit(self) -> Terminator:
        state = self._state
        if state.depth != 0:
            raise NotTranscribable("returns with words left on the handler's own stack")
        if state.role != ROLE_OTHER:
            return Exit(state.current)
        for number in range(4, 12):
            state.emit(Assign((), f"{KEPT}{number}", Var(f"r{number}")))
        return Exit(state.current, Var("r0") if self._own.returns else None)

    def _call(self, instruction: Instruction) -> None:
        state = self._state
        relocation = state.unit.relocation(state.function.section, instruction.address)
        if relocation is not None and relocation.kind in _BRANCH_RELOCATIONS and relocation.symbol:
            self._emit_call(relocation.symbol)
            return
        target = instruction.operands[0]
        name: str | None = None
        if isinstance(target, Immediate):
            name = state.unit.name_at(state.function.section, target.value)
        elif isinstance(target, Register):
            known = state.known.get(state.variable(target.name))
            name = known.name if isinstance(known, Symbol) else None
        if name is None:
            raise NotTranscribable(
                f"'{instruction.text}' calls a function that has no name here",
                DISPATCHES if isinstance(target, Register) else "",
            )
        self._emit_call(name)

    def _emit_call(self, name: str) -> None:
        state = self._state
        signature = state.signatures.get(name)
        if signature is None:
            raise NotTranscribable(f"no prototype of {name}() found, so its arguments aren't known")
        if len(signature.parameters) > 4:
            raise NotTranscribable(f"{name}() takes arguments on the stack")
        arguments: tuple[Expr, ...] = tuple(
            Var(f"r{number}") for number in range(len(signature.parameters))
        )
        result = "r0" if signature.returns else None
        state.emit(Call(state.current, name, arguments, signature.parameters, result))
        why = f"the call of {name}()"
        for register in ("r0", "r1", "r2", "r3", "r12", "lr", *SCRATCH_FPU):
            state.known.pop(register, None)
            if register != result:
                state.assign(register, Undefined(why))
        state.forget_flags(why)
