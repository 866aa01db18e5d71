"""Control flow of RV32: from instructions to a program of `ir`.

A trap handler begins with every register the task's, and so does a first-task start, which VCT runs
as one: there `X5` is both the machine's register and the field of USR_REG. In a plain function the
registers are locals, `x5`, and words that it pushed are `m<offset>` as on Cortex-M.
"""

from __future__ import annotations

from porter.context_switch.ir import (
    KEPT,
    SVC_VECTOR,
    Assign,
    Binary,
    Branch,
    Condition,
    Const,
    Exit,
    Guest,
    Jump,
    Note,
    Terminator,
    Var,
    Verbatim,
)
from porter.context_switch.lift_blocks import BlockLifter, Convention
from porter.context_switch.lift_state import KIND_COMPARE, Signature
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.result import DISPATCHES, ROLE_OTHER, ROLE_START, NotTranscribable
from porter.context_switch.riscv import csr, data
from porter.context_switch.riscv.decode import (
    BRANCHES,
    CSR_ACCESSES,
    RA,
    STORES,
    Instruction,
    branch_target,
)
from porter.context_switch.riscv.places import callee
from porter.context_switch.riscv.registers import (
    ARGUMENT,
    CALLEE_SAVED,
    CALLER_SAVED,
    CALLER_SAVED_FPU,
    STATUS_MIE,
    STATUS_MPIE,
)
from porter.context_switch.riscv.state import RiscvState

_WORD = 0xFFFF_FFFF
_RVE = 8  # EF_RISCV_RVE: sixteen registers
_CODES = {"beq": "eq", "bne": "ne", "blt": "lt", "bge": "ge", "bltu": "lo", "bgeu": "hs"}
_DOUBLES = frozenset({"fld", "fsd"})
_FENCES = frozenset({"fence", "fence.i"})
_BREAK = ' __asm volatile("ebreak")'


class Lifter(BlockLifter):
    """Lifts one function. A block's key is its address."""

    _state: RiscvState

    def __init__(
        self,
        unit: ObjectFile,
        function: Function,
        instructions: dict[int, Instruction],
        role: str,
        signatures: dict[str, Signature],
        own: Signature,
    ) -> None:
        state = RiscvState(unit, function, role, signatures, at=instructions)
        uses_fpu = any(it.name in ("flw", "fsw") for it in instructions.values())
        registers = 16 if unit.flags & _RVE else 32
        super().__init__(state, function.start, own, _convention(role, uses_fpu, registers))
        self._at = instructions
        targets = (branch_target(unit, function.section, it) for it in instructions.values())
        self._leaders = {target for target in targets if target is not None}

    def _enter(self) -> None:
        if self._state.role == ROLE_OTHER:
            self._state.emit(Assign((), "x1", Var("LR")))
            self._enter_from_c()

    def _block(self, key: int) -> Terminator:
        return self._spin(key) or self._run(key)

    def _spin(self, address: int) -> Terminator | None:
        """A loop that reads CSRs for a debugger, or calls it, and never ends."""
        it = self._at[address]
        body = ""
        while (_only_reads(it) or it.name == "ebreak") and it.next in self._at:
            body = _BREAK if it.name == "ebreak" else body
            it = self._at[it.next]
        target = branch_target(self._state.unit, self._state.function.section, it)
        if it.name != "jal" or it.rd != 0 or target != address:
            return None
        self._state.emit(Verbatim(((it.address, it.text),), f"for (;;){body}"))
        return Exit(())

    def _run(self, address: int) -> Terminator:
        """A block from an address up to its end."""
        start, state = address, self._state
        while True:
            if address != start and address in self._leaders:
                return Jump(address)
            instruction = self._at[address]
            state.current = ((address, instruction.text),)
            if (end := self._step(instruction)) is not None:
                return end
            address = instruction.next

    def _step(self, it: Instruction) -> Terminator | None:
        """One instruction; what ends the block, or None where it goes on."""
        state = self._state
        if it.name in BRANCHES:
            return self._branch(it)
        if it.name in ("jal", "jalr"):
            return self._jump(it)
        if it.name == "mret":
            return self._resume(it)
        if it.name in CSR_ACCESSES:
            csr.access(state, it)
        elif it.name in _FENCES:
            state.emit(Note(state.current, "a barrier, which a virtual handler doesn't need"))
        elif it.name == "ecall":
            self._supervisor_call(it)
        elif it.name == "wfi":
            raise NotTranscribable("waits inside: hyp_vct_wait() belongs into the idle task")
        elif it.name in _DOUBLES:
            raise NotTranscribable(
                f"'{it.text}': USR_REG has floating-point registers of single precision"
            )
        else:
            data.execute(state, it)
        return None

    def _supervisor_call(self, it: Instruction) -> None:
        """In a plain function that gives it nothing: nobody can read in a0-a7 what C left there."""
        state = self._state
        if state.role != ROLE_OTHER:
            raise NotTranscribable(f"'{it.text}' in a handler")
        if self._own.parameters or self._own.returns or self._writes_arguments():
            raise NotTranscribable(
                f"'{it.text}': the trap handler may read a0-a7 of the task, or answer there",
                DISPATCHES,
            )
        state.emit(Guest(state.current, "virt_vct_trig", (SVC_VECTOR,)))

    def _writes_arguments(self) -> bool:
        arguments = range(ARGUMENT, ARGUMENT + 8)
        written = (it for it in self._at.values() if it.name not in (*STORES, *BRANCHES, "fsw"))
        return any(it.rd in arguments for it in written)

    def _branch(self, it: Instruction) -> Terminator:
        state = self._state
        target = branch_target(state.unit, state.function.section, it)
        if target is None:
            raise NotTranscribable(f"'{it.text}' leaves the function")
        left, right = state.value(it.rs1), state.value(it.rs2)
        condition = Condition(_CODES[it.name], Const(KIND_COMPARE), left, right)
        return Branch(condition, target, it.next, state.current)

    def _jump(self, it: Instruction) -> Terminator | None:
        state = self._state
        target = branch_target(state.unit, state.function.section, it)
        if target is not None:
            state.emit(Note(state.current, ""))
            return Jump(target)
        name = callee(state.unit, state.function.section, it, self._at)
        if name is None and it.name == "jalr" and (it.rd, it.immediate) == (0, 0):
            return self._return(it)
        if name is None:
            raise NotTranscribable(f"'{it.text}' calls or jumps to what has no name here")
        if it.name == "jalr":  # the auipc in front of it says all
            upper = next(other for other in self._at.values() if other.next == it.address)
            state.current = ((upper.address, upper.text),)
        if it.rd == RA:
            self._call(name)
            return None
        if it.rd != 0 or state.role != ROLE_OTHER:
            raise NotTranscribable(
                f"'{state.current[-1][1]}' leaves the handler for {name}(), which returns to what "
                "ra holds: call it, and branch there behind the call"
            )
        state.assign(f"{KEPT}LR", Var("x1"))
        self._call(name)
        return self._leave()

    def _return(self, it: Instruction) -> Terminator:
        """`ret`: to the caller, or for a start, by any register, to the task."""
        state = self._state
        if state.role == ROLE_OTHER and it.rs1 == RA:
            state.assign(f"{KEPT}LR", Var("x1"))
            return self._leave()
        if state.role != ROLE_START:
            raise NotTranscribable(f"'{it.text}' goes to what has no name here")
        # The task goes on under MIE as it is, not under MPIE: the resume takes it from there.
        status = Var("MSTATUS")
        opened = Binary("<<", Binary("&", status, Const(STATUS_MIE)), Const(4))
        cleared = Binary("&", status, Const(~STATUS_MPIE & _WORD))
        state.assign("MSTATUS", Binary("|", cleared, opened))
        state.assign("PC", state.value(it.rs1))
        return Exit(state.current)

    def _resume(self, it: Instruction) -> Terminator:
        if self._state.role == ROLE_OTHER:
            raise NotTranscribable(f"'{it.text}' in a function that C calls")
        return Exit(self._state.current)

    def _leave(self) -> Terminator:
        state = self._state
        if state.depth != 0:
            raise NotTranscribable("returns with words left on its stack")
        return self._leave_to_c()


def _only_reads(it: Instruction) -> bool:
    """Whether it is a CSR's read."""
    return it.name in ("csrrs", "csrrc") and it.rs1 == 0


def _convention(role: str, uses_fpu: bool, registers: int) -> Convention:
    """RISC-V psABI, 1.1; in a handler the registers are the task's. RV32E has 16 of them."""
    x = "x" if role == ROLE_OTHER else "X"
    floats = CALLER_SAVED_FPU if uses_fpu and role != ROLE_OTHER else ()
    destroyed = [f"{x}{number}" for number in CALLER_SAVED if number < registers]
    return Convention(
        arguments=tuple(f"{x}{number}" for number in range(ARGUMENT, min(ARGUMENT + 8, registers))),
        saved={number: f"{x}{number}" for number in CALLEE_SAVED if number < registers},
        destroyed=(*destroyed, *(f"F{number}" for number in floats)),
    )
