"""One run on RV32 in an emulator: the original as a trap enters it, or its C as VCT calls it.

CSRs that a trap handler uses are kept here, word for word, and their instructions are skipped in
the emulator: its own mstatus has bits that change by themselves. A run of a handler ends at `mret`.
"""

from __future__ import annotations

import struct
from typing import Any

from unicorn import riscv_const as riscv

from porter.context_switch.proof.emulated import Emulated, unicorn
from porter.context_switch.proof.image import RETURN, STATE, TOP, Image
from porter.context_switch.proof.model import (
    BASEPRI,
    CYCLES,
    MASKS,
    PENDING,
    PRIMASK,
    PRIMASK_BIT,
    SPIN,
    SVC,
    SWITCH,
    TRAP_SET,
    TRIGGER,
    USR_REG,
    VCT_ACT,
    YIELD,
    Model,
)
from porter.context_switch.proof.outcome import Broken, Outcome
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.riscv.decode import Code, Instruction
from porter.context_switch.proof.riscv.layout import (
    ARGUMENTS,
    BLOCK_WORDS,
    CALLEE_SAVED,
    CALLER_SAVED,
    CAUSE,
    CSRS,
    CYCLE_REGISTERS,
    MIE_REGISTER,
    MTVEC_REGISTER,
    STATUS,
    STATUS_FS,
    STATUS_MIE,
    STATUS_MPIE,
    USR_WORDS,
    kept,
)
from porter.context_switch.proof.riscv.states import State
from porter.context_switch.result import ROLE_START

_X = tuple(getattr(riscv, f"UC_RISCV_REG_X{number}") for number in range(32))
_F = tuple(getattr(riscv, f"UC_RISCV_REG_F{number}") for number in range(32))
_PC = riscv.UC_RISCV_REG_PC
_NAN_BOX = 0xFFFF_FFFF_0000_0000


class Emulator(Emulated):
    """Runs one image again and again; `native` for the original."""

    block_words = BLOCK_WORDS

    def __init__(self, image: Image, model: Model, variables: int, native: bool) -> None:
        uc: Any = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
        super().__init__(uc, image, model, variables, native)
        self._scratch = image.scratch
        self._code = Code(image)
        self._resumes = model.is_handler or model.role == ROLE_START
        self._begin: State | None = None
        self._csr: dict[str, int] = {}
        self._plain: set[int] = set()
        self._returned = False

    def run(self, state: State) -> Outcome:
        """One run. Raises Stray and Broken."""
        self._start(state)
        core = [0, *state.core]
        if not (self._native and self._resumes):
            core[1], core[2] = RETURN, TOP
        if not self._native and self._resumes:  # VCT's own
            core[3:] = [number << 20 | 5 for number in range(3, 32)]
        self._registers(_X, core)
        self._registers(_F, [_NAN_BOX | value for value in state.fpu])
        end = self._emulate()
        outcome = self._counted()
        outcome.memory, outcome.masks = self._memory(), self._masks()
        if self._model.returns and not self._resumes:
            outcome.result = self._get(_X[ARGUMENTS[0]])
        if not outcome.ended and self._native and self._resumes:
            outcome.context = self._resumed(end)
        elif not outcome.ended:
            self._check_caller(core, end)
        if not self._native:
            self._check_block(state)
        return outcome

    def _resumed(self, end: int | None) -> list[int]:
        """The context in which the original goes on."""
        status = self._csr["mstatus"]
        pc = self._csr["mepc"]
        if end is not None:  # ret, not mret: MIE is what it is
            status = status & ~STATUS_MPIE | (status & STATUS_MIE) << 4
            pc = end
        floats = [word & 0xFFFF_FFFF for word in self._read(_F)]
        return [*self._read(_X[1:]), pc & ~1, status, *floats, self._csr["fcsr"]]

    def _check_caller(self, core: list[int], end: int | None) -> None:
        if end != RETURN:
            raise Broken("ends elsewhere than at its caller")
        owed = (2, 3, 4, *CALLEE_SAVED)
        found = self._read(_X)
        for number in owed:
            if found[number] != core[number]:
                raise Broken(f"loses x{number} of its caller")

    def _check_block(self, state: State) -> None:
        block = self._block()
        if kept(block) != kept(self._initial_block(state)):
            raise Broken("changes fvm_state outside USR_REG and the masks")
        context = block[USR_REG // 4 : USR_REG // 4 + USR_WORDS]
        if self._resumes and not self._outcome.ended:
            context[31] &= ~1  # as mepc does
            self._outcome.context = context
        elif context != state.found and not self._resumes:
            raise Broken("changes USR_REG")

    def _start(self, state: State) -> None:
        self._begin = state
        self._reset(state.variables, state.arena, self._initial_block(state))
        self._csr = {
            "mstatus": state.status, "mepc": state.pc, "mcause": state.cause, "fcsr": state.fcsr
        }  # fmt: skip
        self._set(riscv.UC_RISCV_REG_MSTATUS, STATUS_FS)  # its own: the FPU is there

    def _initial_block(self, state: State) -> list[int]:
        block = [0] * BLOCK_WORDS
        masks = int(self._resumes) << 8 * VCT_ACT | state.masked << PRIMASK_BIT
        block[MASKS // 4] = masks | state.base << 8 * BASEPRI
        block[PENDING // 4] = state.pending
        block[USR_REG // 4 : USR_REG // 4 + USR_WORDS] = state.found
        return block

    def _emulate(self) -> int | None:
        """Run until nothing backs the PC, or mret; the address it went to, None for mret."""
        self._returned = False
        self._until_it_ends(self._image.entry)
        return None if self._returned else int(self._get(_PC))

    def _visit(self, uc: Any, address: int, size: int, data: object) -> None:
        self._ran.append(address)
        if address not in self._plain:
            self._look(uc, address)

    def _look(self, uc: Any, address: int) -> None:
        """At an instruction that isn't known to be like most: nothing to be done in front of it."""
        name = self._image.functions.get(address)
        if name is not None:
            self._called(name)
            return
        try:
            it = self._code.at(address)
        except NotProved:
            self._plain.add(address)
            return  # an instruction of the port that only the emulator has to know
        if it.name == "mret":
            self._returned = True
            uc.emu_stop()
        elif self._code.spins(it):
            self._event(SPIN, ())
        elif it.name == "ecall":
            self._event(TRIGGER, (SVC,))
            self._skip(it)
        elif it.name == "ebreak" and self._code.stops(it):
            self._skip(it)
        elif it.name.startswith("csrr"):
            self._access(it)
        else:
            self._plain.add(address)

    def _skip(self, it: Instruction) -> None:
        self._uc.reg_write(_PC, it.next)  # it has to stop what was translated

    def _access(self, it: Instruction) -> None:
        """A CSR instruction of the original; the port must have none."""
        name = CSRS.get(it.csr)
        if self._native and self._accessed_plainly(it):
            self._skip(it)
            return
        if not self._native or (name is None and (it.csr != MIE_REGISTER or it.rd)):
            self._problem = f"uses the CSR {it.csr:#x}"
            self._uc.emu_stop()
            return
        operand = it.second if it.constant else self._get(_X[it.second])
        old = self._csr_word(name) if name else 0
        new = {"csrrw": operand, "csrrs": old | operand, "csrrc": old & ~operand}[it.name]
        if name == "mscratch":
            self._shared.write(self._scratch, struct.pack("<I", new))
        elif name:
            self._csr[name] = new
        if it.rd:
            self._set(_X[it.rd], old)
        self._skip(it)

    def _accessed_plainly(self, it: Instruction) -> bool:
        """Whether it is an access that the port makes by a call of its own."""
        if it.csr == MTVEC_REGISTER and it.name == "csrrw" and not it.constant and not it.rd:
            self._event(TRAP_SET, (self._image.handler(self._get(_X[it.second])),))
        elif it.csr in CYCLE_REGISTERS and it.name != "csrrw" and not it.second:
            self._set(_X[it.rd], self._next_cycles())
        elif it.csr not in CSRS and it.reads_csr:
            self._set(_X[it.rd], self._next_cycles())  # what the port can't know
        else:
            return False
        return True

    def _csr_word(self, name: str) -> int:
        if name == "mscratch":
            return int.from_bytes(self._shared.read(self._scratch, 4), "little")
        return self._csr[name]

    def _called(self, name: str) -> None:
        """A call; the stub there returns."""
        state = self._begin
        if state is None:
            return
        arguments = tuple(self._read(tuple(_X[n] for n in ARGUMENTS[: self._model.words(name)])))
        first = self._get(_X[ARGUMENTS[0]])
        lost = [it for it in CALLER_SAVED if it < self._image.registers and it != 1]
        self._registers(tuple(_X[it] for it in lost), [0xDEAD_0001 + 2 * it for it in lost])
        answers = {CAUSE: lambda: state.cause, STATUS: self._status, CYCLES: self._next_cycles}
        if name in answers:
            self._set(_X[ARGUMENTS[0]], answers[name]())
            return
        if self._model.silent(name):
            return
        if name == YIELD:
            name, arguments = TRIGGER, (SWITCH,)
        if name == TRAP_SET:
            arguments = tuple(map(self._image.handler, arguments))
        self._event(name, (first,) if name == TRIGGER and not arguments else arguments)
        if name in (TRIGGER, TRAP_SET) or self._outcome.ended:
            return
        effect = state.effect(self._calls)
        self._affect(effect)
        self._set(_X[ARGUMENTS[0]], effect.result(arguments))

    def _status(self) -> int:
        """mstatus as virt_mstatus() has it."""
        assert self._begin is not None
        closed = self._masks()[0]
        return self._begin.status & ~STATUS_MIE | (0 if closed else STATUS_MIE)

    def _masks(self) -> tuple[bool, bool]:
        if self._resumes:  # MPIE of the context says it
            return (False, False)
        if self._native:
            return (not self._csr["mstatus"] & STATUS_MIE, False)
        return (self._shared.read(STATE + PRIMASK, 1)[0] != 0, False)
