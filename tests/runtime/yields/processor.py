"""A Cortex-M with the library's compiled code in it, and as much of the kernel as a yield meets.

The code is the library's own, run by Unicorn; exception entry and return, which Unicorn doesn't
have, and the kernel's part (fvm-runtime/kernel/vcpu.c and pend.h) are written down here: an
interrupt pends the tick and wakes VCT unless a mask is set, when another VM runs for a while; VCT
runs until it waits, the resume call lifts PRIMASK.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import unicorn as _unicorn
from elftools.elf.elffile import ELFFile
from unicorn import arm_const as arm

from porter.context_switch.proof.registers import Registers

unicorn: Any = _unicorn
RUNTIME = Path(__file__).resolve().parents[3] / "fvm-runtime"
SOURCES = ("guest/yield.c", "guest/vct.c", "guest/vectors.c", "guest/hypercall.c",
           "arch/armv7m/guest/frame.c", "arch/armv7m/guest/by_handler.S",
           "arch/armv7m/guest/switch.S")  # fmt: skip
CODE, RAM, SIZE, STACKS = 0x1_0000, 0x2000_0000, 0x1_0000, 0x2000_8000
CORE = [getattr(arm, f"UC_ARM_REG_R{number}") for number in range(13)]
SINGLE = [getattr(arm, f"UC_ARM_REG_S{number}") for number in range(32)]
SP, LR, PC = arm.UC_ARM_REG_SP, arm.UC_ARM_REG_LR, arm.UC_ARM_REG_PC
XPSR, FPSCR, CONTROL = arm.UC_ARM_REG_XPSR, arm.UC_ARM_REG_FPSCR, arm.UC_ARM_REG_CONTROL
FPCA = 0xC  # and SFPA, without which Unicorn's processor begins a new FPU context
BASIC, EXTENDED = 0xFFFF_FFFD, 0xFFFF_FFED
PADDED, THUMB, PSR = 1 << 9, 1 << 24, 0xFF0F_FC00
# Offsets in fvm_state; its own assertions and frame.c's pin them.
MASK_PRI, INT_PEND, USR_REG, GROUPS = 2, 4, 32, 136
PENDING = GROUPS + 8
TICK = 1
MOST = 10_000  # instructions of a run
VCT_WAIT, IRQ_DONE, VCT_WAKE, RESUME = 0, 5, 9, 10


def build(
    folder: Path, machine: tuple[str, ...], defines: tuple[str, ...] = (), runtime: Path = RUNTIME
) -> Path:
    """The library and guest.c as one program. Conditional execution is left to the assembler
    sources: Unicorn doesn't stop inside an IT block."""
    target = folder / "yields.elf"
    includes = [f"-I{runtime / 'include'}", f"-I{runtime / 'arch/armv7m/include'}"]
    names = ("set_up", "fvm_vct_main", "yields", "yields_in_critical_section", "work")
    command = [
        "arm-none-eabi-gcc", *machine, "-mthumb", "-O2",
        "-fno-if-conversion", "-fno-if-conversion2",
        "-ffreestanding", "-nostdlib", "-ffunction-sections", *includes, *defines,
        f"-Wl,-Ttext={CODE:#x},-Tdata={RAM:#x},--gc-sections,-e0,--no-warn-rwx-segments",
        *(f"-Wl,-u,{name}" for name in names), "-o", target, Path(__file__).with_name("guest.c"),
        *(runtime / source for source in SOURCES),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    return target


class Processor:
    """One VM's two threads on one processor. `arrived` is told when a task comes back (1) or goes
    on where it was preempted (2)."""

    def __init__(self, elf: Path, has_fpu: bool) -> None:
        self.has_fpu = has_fpu
        self.uc: Any = unicorn.Uc(
            unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS
        )
        self._groups: dict[tuple[int, ...], Registers] = {}
        self.uc.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
        self.uc.mem_map(CODE, SIZE)
        self.uc.mem_map(RAM, SIZE)
        with elf.open("rb") as stream:
            file = ELFFile(stream)
            for segment in file.iter_segments("PT_LOAD"):
                self.uc.mem_write(segment["p_vaddr"], segment.data())
            table: Any = file.get_section_by_name(".symtab")
            self.symbols = {s.name: s["st_value"] & ~1 for s in table.iter_symbols() if s.name}
        self.state = self.symbols["fvm_state"]
        self.arrived: Callable[[int], bool] = lambda place: False
        self.uc.hook_add(unicorn.UC_HOOK_CODE, self._count)
        self.uc.hook_add(unicorn.UC_HOOK_INTR, self._trap)
        self.steps = 0
        self.due: list[int] = []
        self._trapped = False
        self._in_vct = False
        self._woken = False
        self._vct: list[int] = []
        self._boot()
        self._memory = bytes(self.uc.mem_read(RAM, SIZE))

    def restart(self, due: list[int]) -> None:
        """As it was before any task ran. `due`: at which instructions the tick comes."""
        self.uc.mem_write(RAM, self._memory)
        self.steps, self.due = 0, list(due)
        self._in_vct = self._woken = False

    def word(self, address: int) -> int:
        """A word of memory."""
        return int.from_bytes(self.uc.mem_read(address, 4), "little")

    def store(self, address: int, *words: int) -> None:
        """Write words."""
        self.uc.mem_write(address, struct.pack(f"<{len(words)}I", *words))

    def read(self, registers: list[int]) -> list[int]:
        """Values of registers."""
        return self._group(registers).read()

    def write(self, registers: list[int], values: list[int]) -> None:
        """Set registers."""
        self._group(registers).write(values)

    def _group(self, registers: list[int]) -> Registers:
        numbers = tuple(registers)
        if numbers not in self._groups:
            self._groups[numbers] = Registers(self.uc, numbers)
        return self._groups[numbers]

    @property
    def fpu_is_live(self) -> bool:
        """FPCA."""
        return self.has_fpu and bool(self.uc.reg_read(CONTROL) & FPCA)

    def run(self) -> None:
        """Until `arrived` says that it is enough."""
        while True:
            self.uc.emu_start(self.uc.reg_read(PC) | 1, 0xFFFF_FFFF)
            assert self.steps <= MOST, "nobody gets on"
            if not self._trapped:
                self.interrupt()
                continue
            self._trapped = False
            place = int(self.uc.mem_read(self.uc.reg_read(PC) - 2, 1)[0])
            if place in (1, 2):
                if self.arrived(place):
                    return
            elif self._call(self.uc.reg_read(CORE[12])):
                return

    def interrupt(self) -> None:
        """The tick's interrupt reaches the kernel."""
        self.uc.mem_write(self.state + PENDING + TICK, b"\1")
        self.uc.mem_write(self.state + GROUPS, b"\1")
        if any(self.uc.mem_read(self.state + MASK_PRI, 2)):
            self.uc.mem_write(self.state + INT_PEND, b"\1")
            if not self._in_vct:  # another VM runs: USR's registers were in USR_REG
                self.store(self.state + USR_REG, *[0xDEAD_0000] * 26)
        else:
            self._wake()

    def enter(self) -> None:
        """An exception takes USR away (ARMv7-M ARM B1.5.6): its frame, then USR_REG."""
        stack, psr, live = self.uc.reg_read(SP), self.uc.reg_read(XPSR) & PSR, self.fpu_is_live
        core = self.read(CORE)
        words = [*core[:4], core[12], self.uc.reg_read(LR), self.uc.reg_read(PC) & ~1]
        words.append(psr | THUMB | (PADDED if stack & 4 else 0))
        if live:
            words += [*self.read(SINGLE[:16]), self.uc.reg_read(FPSCR), 0]
        frame = (stack & ~7) - 4 * len(words)
        self.store(frame, *words)
        kept = [*core[4:12], EXTENDED if live else BASIC, frame]
        self.store(self.state + USR_REG, *kept, *(self.read(SINGLE[16:]) if live else ()))

    def _leave(self) -> None:
        """USR goes on with what USR_REG and its frame say; of EXC_RETURN only bit 4 counts."""
        words = struct.unpack("<26I", self.uc.mem_read(self.state + USR_REG, 104))
        self.write(CORE[4:12], list(words[:8]))
        extended = self.has_fpu and not words[8] & 0x10
        if extended:
            self.write(SINGLE[16:], list(words[10:]))
        self._pop(words[9], extended)

    def _pop(self, frame: int, extended: bool) -> None:
        words = struct.unpack("<26I", self.uc.mem_read(frame, 104))
        self.write([*CORE[:4], CORE[12], LR], list(words[:6]))
        if extended:
            self.write([*SINGLE[:16], FPSCR], list(words[8:25]))
        self.uc.reg_write(CONTROL, FPCA if extended else 0)
        padding = 4 if words[7] & PADDED else 0
        self.write([SP, PC], [frame + (104 if extended else 32) + padding, words[6] & ~1])
        self.uc.reg_write(XPSR, words[7] & ~PADDED)

    def _wake(self) -> None:
        if self._in_vct:
            self._woken = True
            return
        self.enter()
        self._to_vct()

    def _to_vct(self) -> None:
        self._in_vct = True
        self.uc.reg_write(XPSR, THUMB)  # and no IT block of USR's
        self.write([*CORE, SP, LR, PC], self._vct)
        if self.has_fpu:
            self.write(SINGLE, [0xDEAD_0000 + number for number in range(32)])
        self.uc.reg_write(CONTROL, 0)

    def _call(self, number: int) -> bool:
        """A call of the library. True when VCT waits for the first time."""
        self.uc.reg_write(CORE[0], 0)
        if number == VCT_WAIT and self._in_vct:
            if self._woken:
                self._woken = False
                return False
            first, self._vct = not self._vct, self.read([*CORE, SP, LR, PC])
            self._in_vct = False
            if first:
                return True
            self._leave()
        elif number == VCT_WAKE:
            self._wake()
        elif number == RESUME:
            self._resume()
        else:
            assert number == IRQ_DONE, number
        return False

    def _resume(self) -> None:
        frame, bits = self._resumed
        self.uc.mem_write(self.state + MASK_PRI, b"\0")
        extended = self.has_fpu and not bits & 0x10
        if self.word(self.state + INT_PEND):
            kept = [*self.read(CORE[4:12]), EXTENDED if extended else BASIC, frame]
            upper = self.read(SINGLE[16:]) if extended else []
            self.store(self.state + USR_REG, *kept, *upper)
            self._to_vct()
        else:
            self._pop(frame, extended)

    def _boot(self) -> None:
        self._in_vct = True
        self.write([SP, PC], [STACKS - 0x400, self.symbols["fvm_vct_main"]])
        self.run()
        self.write([SP, LR, PC], [STACKS, self.symbols["returned"] | 1, self.symbols["set_up"]])
        self.arrived = lambda place: True
        self.run()

    def _count(self, uc: Any, address: int, size: int, data: object) -> None:
        self.steps += 1
        if self.steps > MOST:
            self._trapped = False
            uc.emu_stop()
            return
        if self.due and self.steps >= self.due[0]:
            self.due.pop(0)
            uc.emu_stop()

    def _trap(self, uc: Any, number: int, data: object) -> None:
        self._trapped = True
        self._resumed = uc.reg_read(CORE[0]), uc.reg_read(CORE[1])
        uc.emu_stop()
