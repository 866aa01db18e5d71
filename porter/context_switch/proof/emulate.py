"""One run of a handler in an emulator: the original as an exception enters it, or its C as VCT
calls it.

Exception entry isn't emulated: the original starts with PSP, EXC_RETURN and the task's registers in
place, and ends where it branches to an EXC_RETURN, which no memory backs.
"""

from __future__ import annotations

import struct
from typing import Any

from unicorn import arm_const as arm

from porter.context_switch.proof.emulated import Emulated, unicorn
from porter.context_switch.proof.image import PAGE, RETURN, STATE, TOP, Image
from porter.context_switch.proof.model import (
    BLOCK_WORDS,
    CLEAR,
    CONTEXT,
    CPACR,
    CYCCNT,
    CYCLES,
    FPU_ACCESS,
    FRAME_OF_CALLER,
    ICSR,
    MASKS,
    PENDING,
    PENDSVCLR,
    PENDSVSET,
    PRIMASK_BIT,
    REQUESTS,
    SERVICE,
    SPIN,
    SUPERVISOR_CALL,
    SVC,
    SWITCH,
    SYSTEM_SPACE,
    TRIGGER,
    UNMASKED,
    USR_REG,
    USR_WORDS,
    WAIT,
    YIELD,
    Model,
    kept,
)
from porter.context_switch.proof.outcome import Broken, Outcome
from porter.context_switch.proof.privileged import (
    CONTROL,
    NOP,
    SHORT_NOP,
    calls_by_register,
    reads_of_msp,
    spins,
    stack_writes,
    waits,
)
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.states import ON_PSP, State
from porter.context_switch.proof.thumb import Code
from porter.context_switch.result import ROLE_START

_PSP = USR_REG + 4 * CONTEXT.index("PSP")  # behind STATE
_SUPERVISOR_CALL = 0xDF00  # encoding, but for its number
CORE = tuple(getattr(arm, f"UC_ARM_REG_R{number}") for number in range(4, 12))
_FPU = tuple(getattr(arm, f"UC_ARM_REG_S{number}") for number in range(16, 32))
SCRATCH = tuple(getattr(arm, f"UC_ARM_REG_R{number}") for number in (0, 1, 2, 3, 12))
_MASKS = (arm.UC_ARM_REG_PRIMASK, arm.UC_ARM_REG_BASEPRI)
# The other EXC_RETURNs there are (ARMv7-M Architecture Reference Manual, B1.5.8). What else looks
# like one is a random word that a handler took for one: no task has it.
_NOT_A_TASK = (0xFFFF_FFE1, 0xFFFF_FFE9, 0xFFFF_FFF1, 0xFFFF_FFF9)
_DESTROYED = [0xDEAD_0001 + 2 * number for number in range(5)]


class Emulator(Emulated):
    """Runs one image from many states."""

    ends = (*Emulated.ends, unicorn.UC_ERR_EXCEPTION)
    block_words = BLOCK_WORDS

    def __init__(self, image: Image, model: Model, variables: int, native: bool) -> None:
        uc: Any = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        uc.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
        super().__init__(uc, image, model, variables, native, SYSTEM_SPACE)
        self._stacks = {
            address: (register, special) for address, register, special in stack_writes(image)
            if native and (special == CONTROL or model.role == ROLE_START)
        }  # fmt: skip
        for address in self._stacks:
            uc.mem_write(address, NOP)
        self._waits = set(waits(image)) if native and model.is_plain else set()
        for address in self._waits:
            uc.mem_write(address, SHORT_NOP)
        self._spins = set(spins(image))
        self._services = dict(calls_by_register(image)) if model.serves else {}
        asks = dict(reads_of_msp(image)) if native and model.asks_msp else {}
        for address in self._services:
            uc.mem_write(address, SHORT_NOP)
        for address in asks:
            uc.mem_write(address, NOP)
        self._asks = asks
        self._remarkable = self._spins | self._waits | self._stacks.keys() | image.functions.keys()
        self._remarkable |= self._services.keys() | asks.keys()
        system = {"begin": SYSTEM_SPACE, "end": SYSTEM_SPACE + PAGE - 1}
        uc.hook_add(unicorn.UC_HOOK_MEM_WRITE, self._system_write, **system)
        if native:
            trace = CYCCNT & -PAGE
            uc.mem_map(trace, PAGE, unicorn.UC_PROT_READ)
            page = {"begin": trace, "end": trace + PAGE - 1}
            uc.hook_add(unicorn.UC_HOOK_MEM_READ, self._read_trace_unit, **page)
        self._code = Code(image)
        self._state: State | None = None
        self._looks_under: list[tuple[bool, bool]] = []  # masks when it was seen what is pending

    def run(self, state: State) -> Outcome:
        """One run. Raises Stray and Broken."""
        self._start(state)
        handled = self._model.is_handler
        # A plain function keeps its caller's registers; a handler's C has a caller of its own.
        own = self._native or not self._model.runs_in_vct
        core = state.core if own else [n << 20 | 5 for n in range(8)]
        fpu = state.fpu if own or handled else [n << 20 | 7 for n in range(16)]
        self._registers(CORE, core)
        self._registers(_FPU, fpu)
        resumes = self._native and handled
        self._set(arm.UC_ARM_REG_LR, state.exc_return if resumes else RETURN | 1)
        end = self._run_to_its_end(core)
        outcome = self._counted()
        outcome.memory = self._memory()
        if not (outcome.ended and outcome.events[-1].name in self._model.never_return):
            outcome.masks = self._masks()
        if self._model.returns:
            outcome.result = self._get(arm.UC_ARM_REG_R0)
        self._finish(state, core, end)
        if self._model.is_part:
            self._finish_part(state, fpu)
        if not self._native and self._model.is_plain and not outcome.ended:
            self._check_unmasked(state)
        if not self._native and kept(self._block()) != kept(self._initial_block(state)):
            raise Broken("changes fvm_state outside USR_REG and the masks")
        return outcome

    def _run_to_its_end(self, core: list[int]) -> int:
        """From the entry; where it went. `core`: its caller's r4-r11."""
        return self._emulate(self._image.entry)

    def _finish(self, state: State, core: list[int], end: int) -> None:
        """What is left behind, where the run `end`ed; `core`: its caller's r4-r11."""
        outcome = self._outcome
        if not outcome.ended and self._native and self._model.is_handler:
            self._check_stack()
            if end in _NOT_A_TASK and state.exc_return not in _NOT_A_TASK:
                raise Broken(
                    f"ends with EXC_RETURN {end:#x}, and a guest goes on in thread mode on PSP"
                )
            stack = self._stack(end, self._get(arm.UC_ARM_REG_PSP))
            outcome.context = [*self._read(CORE), end, stack, *self._read(_FPU)]
        elif not outcome.ended:
            self._check_return(state, core, end)
        if self._model.is_part:
            return
        if not self._native and self._model.is_handler:
            outcome.context = self._usr_reg()
        elif not self._native and self._usr_reg() != self._context(state):
            raise Broken("changes USR_REG")

    def _finish_part(self, state: State, fpu: list[int]) -> None:
        """The task's registers, which a part may change; a port leaves VCT's alone."""
        if not self._native:
            if self._read(_FPU) != fpu:
                raise Broken("loses a register of its caller")
            self._outcome.context = self._usr_reg()
            return
        floats, psp = self._read(_FPU), self._get(arm.UC_ARM_REG_PSP)
        self._outcome.context = [*state.core, state.exc_return, psp, *floats]

    def _check_stack(self) -> None:
        if self._get(arm.UC_ARM_REG_SP) != TOP:
            raise Broken("leaves words on its own stack")

    def _check_return(self, state: State, core: list[int], end: int) -> None:
        """A function goes back to its caller, as the procedure call standard says."""
        self._check_stack()
        if end != RETURN | 1:
            raise Broken(f"returns to {end:#x}")
        keeps_floats = self._model.is_part or self._read(_FPU) == state.fpu
        if self._read(CORE) != core or not keeps_floats:
            raise Broken("loses a register of its caller")

    def _check_unmasked(self, state: State) -> None:
        """Who opens a mask has to look at what waited for that."""
        before, after = map(bool, state.masks), self._masks()
        opened = any(old and not new for old, new in zip(before, after, strict=True))
        looked = any(not (it[0] or (it[1] and not after[1])) for it in self._looks_under)
        if state.pending and opened and not after[0] and not looked:
            raise Broken("opens a mask and leaves what waited for that pending")

    def _start(self, state: State) -> None:
        self._state, self._looks_under = state, []
        self._reset(state.variables, state.arena, self._initial_block(state))
        if state.frame and (state.is_pushed or not self._native):
            self._shared.write(state.psp - len(state.frame), state.frame)
        self._shared.write(SYSTEM_SPACE, bytes(PAGE))
        self._shared.write(CPACR, struct.pack("<I", state.cpacr))
        self._registers(SCRATCH, state.scratch)
        self._set(arm.UC_ARM_REG_CONTROL, 0)
        self._set(arm.UC_ARM_REG_SP, TOP)
        if self._native:
            self._set(arm.UC_ARM_REG_PSP, state.psp)
            self._set(arm.UC_ARM_REG_IPSR, state.in_handler * self._model.is_plain)
            self._registers(_MASKS, state.masks)

    def _initial_block(self, state: State) -> list[int]:
        block = [0] * BLOCK_WORDS
        block[MASKS // 4] = state.in_handler | state.masks[0] << PRIMASK_BIT | state.masks[1] << 24
        block[PENDING // 4] = state.pending
        block[USR_REG // 4 : USR_REG // 4 + USR_WORDS] = self._context(state)
        return block

    def _context(self, state: State) -> list[int]:
        stack = self._stack(state.exc_return, state.psp)
        return [*state.core, state.exc_return, stack, *state.fpu]

    def _stack(self, exc_return: int, psp: int) -> int:
        """The one that EXC_RETURN goes back to."""
        if not self._model.may_be_called_on_msp or exc_return & ON_PSP:
            return psp
        if self._model.asks_msp and self._state is not None:  # others are a task's
            return self._state.msp if exc_return == self._state.exc_return else psp
        return TOP

    def _emulate(self, start: int) -> int:
        """Run until nothing backs the PC; the address it went to, bit 0 as written."""
        if self._until_it_ends(start | 1) == unicorn.UC_ERR_EXCEPTION:
            last = self._image.word(self._ran[-1], 2)
            if self._native and last is not None and last & 0xFF00 == _SUPERVISOR_CALL:
                self._event(TRIGGER, (SVC, last & 0xFF))
        thumb = self._get(arm.UC_ARM_REG_CPSR) >> 5 & 1
        return int(self._get(arm.UC_ARM_REG_PC) & ~1 | thumb)

    def _visit(self, uc: Any, address: int, size: int, data: object) -> None:
        self._ran.append(address)
        if address in self._remarkable:
            self._look(uc, address)

    def _look(self, uc: Any, address: int) -> None:
        """At an instruction in front of which something is to be done."""
        if address in self._spins:
            self._event(SPIN, ())
            return
        if address in self._waits and self._state is not None:
            self._event(WAIT, ())
            self._affect(self._state.effect(self._calls))
            return
        if address in self._stacks:
            self._set_stack(*self._stacks[address])
        if address in self._asks and self._state is not None:
            register, code = self._asks[address]
            if not code or _holds(code, self._get(arm.UC_ARM_REG_CPSR)):
                self._set(_core(register), self._state.msp)
            return
        also: tuple[int, ...] = ()
        name = self._image.functions.get(address)
        if address in self._services:
            name, also = SERVICE, (self._get(_core(self._services[address])),)
            self._set(arm.UC_ARM_REG_LR, address + 2 | 1)
        if name is None or self._state is None:
            return
        arguments = (*self._read(SCRATCH[: self._model.words(name)]), *also)
        self._registers(SCRATCH, _DESTROYED)
        if name == FPU_ACCESS:
            self._set(arm.UC_ARM_REG_R0, self._state.cpacr)
            return
        if name == CYCLES:
            self._set(arm.UC_ARM_REG_R0, self._next_cycles())
            return
        if name == FRAME_OF_CALLER:
            stack = self._stack(self._state.exc_return, self._state.psp)
            self._set(arm.UC_ARM_REG_R0, stack)
            return
        if name == UNMASKED:
            self._looks_under.append(self._masks())
        if self._served(name, arguments) or self._model.silent(name):
            return
        if name == YIELD:
            name, arguments = TRIGGER, (SWITCH,)
        if name == SUPERVISOR_CALL:
            name, arguments = TRIGGER, (SVC, *arguments)
        moves = name in self._model.moves_stack
        self._event(name, (*arguments, self._stack_pointer()) if moves else arguments)
        if name in REQUESTS:
            return
        effect = self._state.effect(self._calls)
        self._affect(effect)
        if moves and name not in self._model.asks_stack:
            self._set_stack_pointer(effect.stack)
        left = effect.scratch if self._native else _DESTROYED
        if name == SERVICE:  # a handler may hand on what is in r1 to r3
            left = [*effect.scratch[:4], *left[4:]]
        self._registers(SCRATCH, left)
        self._set(arm.UC_ARM_REG_R0, effect.result(arguments))

    def _stack_pointer(self) -> int:
        """The task's, where a callee finds it."""
        if self._native:
            found = int(self._get(arm.UC_ARM_REG_PSP))
            if self._model.asks_msp and self._state is not None:
                return self._stack(self._state.exc_return, found)
            return found
        return int.from_bytes(self._shared.read(STATE + _PSP, 4), "little")

    def _set_stack_pointer(self, value: int) -> None:
        if self._native:
            self._set(arm.UC_ARM_REG_PSP, value)
        else:
            self._shared.write(STATE + _PSP, struct.pack("<I", value))

    def _set_stack(self, register: int, special: int) -> None:
        """An MSR to CONTROL or MSP: only what a task starts on matters."""

    def _served(self, name: str, arguments: tuple[int, ...]) -> bool:
        """Whether a call of the guest library is done with."""
        return False

    def _system_write(
        self, uc: Any, access: int, address: int, size: int, value: int, data: object
    ) -> None:
        if not self._native:
            self._problem = f"writes the system register at {address:#x}"
        elif address == ICSR and value & PENDSVSET:
            self._event(TRIGGER, (SWITCH,))
        elif address == ICSR and value & PENDSVCLR:
            self._event(CLEAR, (SWITCH,))

    def _read_trace_unit(
        self, uc: Any, access: int, address: int, size: int, value: int, data: object
    ) -> None:
        if (address, size) == (CYCCNT, 4):
            uc.mem_write(CYCCNT, struct.pack("<I", self._next_cycles()))
        else:
            self._problem = f"reads the system register at {address:#x}"
            uc.emu_stop()

    def _is_last(self, name: str, arguments: tuple[int, ...]) -> bool:
        if name in self._model.never_return:
            return True
        return name == SPIN or (name, arguments[:1]) == (TRIGGER, (SVC,))

    def _own_constant(self, address: int) -> bool:
        return self._code.at(address).reads_behind_itself

    def _masks(self) -> tuple[bool, bool]:
        if self._native:
            primask, basepri = self._read(_MASKS)
        else:
            primask, basepri = self._shared.read(STATE + MASKS + 2, 2)
        return (primask != 0, basepri != 0)

    def without(self, memory: bytes, start: int, size: int) -> bytes:
        """What both have, with 0 where [start, start + size) lies in it."""
        found, offset = bytearray(memory), 0
        for base, length in self.parts:
            low, high = max(start, base), min(start + size, base + length)
            if low < high:
                found[offset + low - base : offset + high - base] = bytes(high - low)
            offset += length
        return bytes(found)

    def _usr_reg(self) -> list[int]:
        return self._block()[USR_REG // 4 : USR_REG // 4 + USR_WORDS]


def _core(register: str) -> int:
    return int(getattr(arm, f"UC_ARM_REG_{register.upper()}"))


def _holds(code: str, cpsr: int) -> bool:
    """Whether a condition does (ARMv7-M ARM, A7.3); of orders a test of bits has no use."""
    n, z, c, v = (bool(cpsr >> bit & 1) for bit in (31, 30, 29, 28))
    found = {"eq": z, "cs": c, "hs": c, "mi": n, "vs": v}
    opposite = {"ne": "eq", "cc": "cs", "lo": "cs", "pl": "mi", "vc": "vs"}
    if code not in found and code not in opposite:
        raise NotProved(f"the proof doesn't know reads of MSP under '{code}'")
    return found[code] if code in found else not found[opposite[code]]
