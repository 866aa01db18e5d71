"""Every thread's context, compared across every way through the kernel, from outside.

The machine stops at every entry of the kernel from a thread, where r0-r12 and the FPU's registers
are still the thread's and its frame is whole, and behind every return to one. What a thread gets
back must be what it had: r0-r12, lr, pc, xPSR, SP, and with FPU state S0-S31 and FPSCR. A call may
change r0-r3. A thread that was stopped meanwhile begins anew. USR's registers are its VM's, and VCT
may change them; what counts is what lies there when VCT enters the kernel. It needs no word of a
guest's, and the hypervisor's threads are compared as all others.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace

from tests.configurations.branches import FALLS, TAKEN, Assembler, holds
from tests.support.built import Built
from tests.support.halted import Halted
from tests.support.invariants import KernelState

SP, LR, PC, XPSR = 13, 14, 15, 16
PADDED = 1 << 9
EXCEPTION = 0x1FF
SVCALL = 11
CALL_RESUME, CALL_RETURN = 10, 45
CALLS_ABOUT_OBJECTS = (52, 53, 54)  # revoke, delete, create: a thread may be another one
THREAD_RETURN, BASIC = 1 << 2, 1 << 4  # of EXC_RETURN
NAMES = [*(f"r{i}" for i in range(13)), "sp", "lr", "pc", "xPSR"]
# Of struct thread, as entry.S has them.
VCPU, STATE = 12, 28
STOPPED, WAITING = 0, 2
HYPERVISOR = "hypervisor"
VCPU_VCT, VCPU_USR = 4, 8


@dataclass
class Context:
    """What a thread had: 17 words as NAMES, with FPU state 33 more, and why it came."""

    words: list[int]
    fpu: list[int] | None  # S0-S31, FPSCR
    exception: int
    number: int | None = None  # of the call


@dataclass
class Seen:
    entries: int = 0
    by_domain: dict[str, int] = field(default_factory=dict)
    with_fpu: int = 0
    ways: set[tuple[str, str]] = field(default_factory=set)  # of IT instructions
    complaints: list[str] = field(default_factory=list)


class Contexts:
    """Of one halted machine."""

    def __init__(self, system: Built, halted: Halted, kernel: KernelState, asm: Assembler) -> None:
        self._halted = halted
        self._asm = asm
        self._its = {b.address: b for b in asm.branches if b.condition is not None}
        self._psp_at, self._psp_in = asm.reads_psp()
        table = system.extent("kernel", "vector_table").start
        vectors = struct.unpack(f"<{16 + 82}I", halted.memory.memory(table, 4 * (16 + 82)))
        first = kernel.of["fvm_irq_route"]
        self.entries = {v & ~1 for v in vectors[3 : 16 + len(first)] if v} - {vectors[1] & ~1}
        self._cpu = kernel.of.address("cpu")
        self._threads = kernel.of.address("thread_table")
        self._size = kernel.of.element("thread_table")
        configured = kernel.of["thread_table"]
        self._count = len(configured)
        domains = [bytes(d["name"]).rstrip(b"\0").decode() for d in kernel.of["fvm_domain"]]
        self._names = [domains[t["domain_index"]] for t in configured]
        self.seen = Seen()
        self._has: dict[int, Context] = {}  # by the thread's address
        self._chained = False  # the next exception came before the thread's next instruction

    def begin(self) -> None:
        """What ran since the last stop wasn't seen."""
        self._has.clear()
        self._chained = False

    @property
    def stops(self) -> set[int]:
        return self.entries | set(self._asm.returns) | set(self._its)

    def at_stop(self) -> bool:
        """The machine stands at one of `stops`; it goes on behind the instruction. Whether the
        hypervisor runs."""
        registers = self._halted.registers()
        pc = registers[PC]
        if pc in self._its:
            branch = self._its[pc]
            assert branch.condition is not None
            met = holds(branch.condition, registers[XPSR])
            self.seen.ways.add((branch.place, TAKEN if met else FALLS))
        if pc in self.entries:
            self._enter(registers)
            self._halted.step()
        else:
            self._halted.step()
            if pc in self._asm.returns:
                registers = self._halted.registers()
                self._chained = bool(registers[XPSR] & EXCEPTION)
                if not self._chained:
                    self._compare(self._current(), registers[: XPSR + 1], None)
        return self._name(self._current()).startswith(HYPERVISOR)

    def _words(self, address: int, count: int) -> list[int]:
        data = self._halted.memory.memory(address, 4 * count)
        return list(struct.unpack(f"<{count}I", data))

    def _current(self) -> int:
        return self._halted.memory.read(self._cpu)

    def _psp(self, registers: list[int]) -> int:
        halted, place = self._halted, self._psp_in
        halted.set_register(PC, self._psp_at)
        halted.step()
        psp = halted.register(place)
        halted.set_register(place, registers[place])
        halted.set_register(PC, registers[PC])
        return psp

    def _enter(self, registers: list[int]) -> None:
        if not registers[LR] & THREAD_RETURN:
            self._chained = False
            return  # another entry was interrupted
        exception = registers[XPSR] & EXCEPTION
        self.seen.entries += 1
        self._forget_stopped()
        thread = self._current()
        context = self._of_frame(registers, registers[LR], self._psp(registers), exception)
        if context is None:
            self._has.pop(thread, None)  # its stack is nowhere
            return
        if self._chained and thread in self._has:
            self._chained = False
            self._compare(thread, context.words, context.fpu)
            return  # it has done nothing meanwhile
        self._chained = False
        if exception != SVCALL and thread not in self._has and self._waits(thread):
            return  # in a call that nobody saw: the window began between that and this
        self._refresh_usr(thread)
        self._has[thread] = context
        if exception == SVCALL:
            self._call(thread, context)

    def _waits(self, thread: int) -> bool:
        return self._halted.memory.memory(thread + STATE, 1)[0] == WAITING

    def _of_frame(
        self, registers: list[int], state: int, psp: int, exception: int
    ) -> Context | None:
        """Of r4-r11 and a frame."""
        basic = bool(state & BASIC)
        if psp & 3 or not 0x20000000 <= psp < 0x40000000:
            return None
        try:
            frame = self._words(psp, 8 if basic else 25)
        except AssertionError:
            return None
        behind = psp + (32 if basic else 104) + (4 if frame[7] & PADDED else 0)
        words = [*frame[:4], *registers[4:12], frame[4], behind, *frame[5:8]]
        fpu = None if basic else [*frame[8:24], *self._halted.fpu(16, 16), frame[24]]
        return Context(words, fpu, exception)

    def _call(self, thread: int, context: Context) -> None:
        number = context.number = context.words[12]
        vcpu = self._words(thread + VCPU, 1)[0]
        if vcpu and number == CALL_RESUME:
            if thread == self._words(vcpu + VCPU_USR, 1)[0]:  # VCT's is refused
                self._resume(thread, context)
        elif not vcpu and number == CALL_RETURN:
            self._has.pop(thread)
        elif not vcpu and number in CALLS_ABOUT_OBJECTS:
            self._has = {t: had for t, had in self._has.items() if self._in_table(t)}

    def _resume(self, thread: int, context: Context) -> None:
        """It goes on with the frame that it names, unless the processor refuses that."""
        registers = [0] * 4 + context.words[4:12]
        resumed = self._of_frame(registers, BASIC, context.words[0], 0)
        if resumed is None or not context.words[1] & BASIC or resumed.words[XPSR] & EXCEPTION:
            self._has.pop(thread)
        else:
            self._has[thread] = replace(resumed, fpu=None, number=context.number)

    def _forget_stopped(self) -> None:
        table = self._halted.memory.memory(self._threads, self._size * self._count)
        for index in range(self._count):
            if table[index * self._size + STATE] == STOPPED:
                self._has.pop(self._threads + index * self._size, None)
        for thread in [t for t in self._has if not self._in_table(t)]:
            if self._halted.memory.memory(thread + STATE, 1)[0] == STOPPED:
                self._has.pop(thread)

    def _refresh_usr(self, thread: int) -> None:
        """VCT enters: USR's context is what lies in the VM's memory."""
        vcpu = self._words(thread + VCPU, 1)[0]
        if not vcpu:
            return
        vct, usr = self._words(vcpu + VCPU_VCT, 2)
        if thread != vct or usr not in self._has:
            return
        saved = self._words(self._words(usr, 1)[0], 10)
        found = None
        if saved[8] & BASIC:
            found = self._of_frame([0] * 4 + saved[:8], saved[8], saved[9], 0)
        if found is None:
            self._has.pop(usr)  # FPU state, or nonsense
        else:
            self._has[usr] = replace(found, number=self._has[usr].number)

    def _compare(self, thread: int, words: list[int], fpu: list[int] | None) -> None:
        """What it gets back, in registers (its FPU's too, if `fpu` is None) or in a frame."""
        had = self._has.get(thread)
        if had is None:
            return
        name = f"{self._name(thread)}, which came by {self._why(had)},"
        domain = self._name(thread).partition(" ")[0]
        self.seen.by_domain[domain] = self.seen.by_domain.get(domain, 0) + 1
        for index, (was, is_) in enumerate(zip(had.words, words, strict=True)):
            if index < 4 and had.number is not None:
                continue
            mask = ~PADDED if index == XPSR else -1
            if (was ^ is_) & mask:
                self._complain(f"{name} had {NAMES[index]} 0x{was:08x}, has 0x{is_:08x}")
        if had.fpu is not None:
            self.seen.with_fpu += 1
            found = fpu or [*self._halted.fpu(0, 32), self._halted.fpscr()]
            for index, (was, is_) in enumerate(zip(had.fpu, found, strict=True)):
                if was != is_:
                    register = "FPSCR" if index == 32 else f"S{index}"
                    self._complain(f"{name} had {register} 0x{was:08x}, has 0x{is_:08x}")

    def _complain(self, sentence: str) -> None:
        self.seen.complaints.append(sentence)

    def _in_table(self, thread: int) -> bool:
        return 0 <= (thread - self._threads) // self._size < self._count

    def _name(self, thread: int) -> str:
        index = (thread - self._threads) // self._size
        if self._in_table(thread):
            return f"{self._names[index]} (thread {index})"
        return f"thread at 0x{thread:08x}"

    def _why(self, context: Context) -> str:
        if context.number is not None:
            return f"call {context.number}"
        return f"exception {context.exception}"
