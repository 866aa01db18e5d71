"""Runs an original handler and its C side by side from random states and compares what they do.

Both are linked with the same stubs at the same addresses: one word for each variable, `bx lr` for
each function. A call is where the two must agree for the first time: everything outside the
handler's own stack is compared, then the "function" changes memory in the same way in both runs.
At the end every register of the resumed task, every byte and the masks must be equal. Exception
entry isn't emulated: the original starts with PSP, EXC_RETURN and the task's registers in place,
and ends where it branches to an EXC_RETURN that no memory backs.
"""

from __future__ import annotations

import random
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import unicorn
from elftools.elf.elffile import ELFFile
from unicorn import arm_const as arm

from tests.porter.context_switch.trees import RUNTIME

CODE, STUBS, DATA, ARENA, STACK = 0x0800_0000, 0x0810_0000, 0x2000_0000, 0x2001_0000, 0x2002_0000
SIZE = 0x1000
RETURN = 0x0820_0000  # nothing there: the C handler's return address
EXC_RETURNS = (0xFFFF_FFFD, 0xFFFF_FFED)
CORE = [getattr(arm, f"UC_ARM_REG_R{number}") for number in range(4, 12)]
FPU = [getattr(arm, f"UC_ARM_REG_S{number}") for number in range(16, 32)]
SCRATCH = [getattr(arm, f"UC_ARM_REG_R{number}") for number in (0, 1, 2, 3, 12)]
USR_WORDS = 10 + 16  # R4-R11, LR, SP, S16-S31
STATE_USR_REG = 32  # offsetof(struct fvm_state, usr_reg)
STATE_MASKS = 2


@dataclass(frozen=True)
class Image:
    """Linked code and where its symbols are."""

    code: bytes
    symbols: dict[str, int]
    sizes: dict[str, int]


@dataclass
class Outcome:
    """What a run left behind, in a form that can be compared."""

    context: list[int] = field(default_factory=list)
    memory: bytes = b""
    masks: tuple[bool, bool] = (False, False)
    calls: list[tuple[str, tuple[int, ...], bytes]] = field(default_factory=list)
    steps: set[tuple[int, int]] = field(default_factory=set)  # (instruction, what ran next)
    result: int = 0


def link(source: Path, command: list[str], folder: Path, names: dict[str, bool]) -> Image:
    """Compile a C file and link it with stubs; `names` are functions (True) and variables."""
    folder.mkdir(parents=True)
    stubs = folder / "stubs.s"
    lines = [".syntax unified", ".thumb", '.section .stubs, "ax", %progbits']
    for name in sorted(name for name, function in names.items() if function):
        lines += [f".global {name}", ".thumb_func", f"{name}: bx lr", "nop"]
    lines.append(".data")
    for name in sorted(name for name, function in names.items() if not function):
        lines += [".balign 4", f".global {name}", f".type {name}, %object", f"{name}: .space 256"]
    stubs.write_text("\n".join(lines) + "\n")
    target = folder / "image.elf"
    places = [f"-Wl,-Ttext={CODE:#x},--section-start=.stubs={STUBS:#x},-Tdata={DATA:#x}"]
    options = ["-nostdlib", "-O2", "-w", "-Wl,--unresolved-symbols=ignore-all,-e0"]
    headers = [f"-I{header}" for header in RUNTIME]
    done = subprocess.run(
        [*command, *headers, *options, *places, "-o", str(target), str(source), str(stubs)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    with target.open("rb") as stream:
        elf = ELFFile(stream)
        table: Any = elf.get_section_by_name(".symtab")
        symbols = {symbol.name: symbol["st_value"] for symbol in table.iter_symbols()}
        sizes = {symbol.name: symbol["st_size"] for symbol in table.iter_symbols()}
        section: Any = elf.get_section_by_name(".text")
        return Image(section.data(), symbols, sizes)


class State:
    """One random machine state, and what the called functions will do to memory."""

    def __init__(self, seed: int, variables: list[str], masked: bool) -> None:
        self.random = random.Random(seed)
        self.core = [self.word() for _ in CORE]
        self.fpu = [self.random.getrandbits(32) for _ in FPU]
        self.scratch = [self.random.getrandbits(32) for _ in SCRATCH]
        self.exc_return = self.random.choice(EXC_RETURNS)
        self.psp = self.pointer() if self.random.random() < 0.95 else 0
        self.masked = masked and self.random.random() < 0.5
        self.arena = b"".join(struct.pack("<I", self.word()) for _ in range(SIZE // 4))
        self.variables = self.contents(variables)
        self.effects = [
            (
                self.contents(variables),
                [(self.random.randrange(SIZE // 4), self.word()) for _ in range(4)],
                [self.word() for _ in SCRATCH],
            )
            for _ in range(8)
        ]

    def contents(self, variables: list[str]) -> dict[str, int]:
        """Values of the variables, now and then the same for all."""
        same = self.word() if self.random.random() < 0.2 else None
        return {name: self.word() if same is None else same for name in variables}

    def pointer(self) -> int:
        """An aligned address with room for a frame on both sides."""
        return ARENA + self.random.randrange(SIZE // 4, 3 * SIZE // 4, 8)

    def word(self) -> int:
        """Mostly pointers, so that what is loaded can be used as an address."""
        kind = self.random.random()
        if kind < 0.90:
            return self.pointer()
        return self.random.choice((0, 1, 0xFFFF_FFFD, 0xFFFF_FFED, self.random.getrandbits(32)))


class Run:
    """One emulated run."""

    def __init__(self, image: Image, functions: dict[str, int], variables: list[str]) -> None:
        """`functions` says how many arguments each of the callees takes."""
        self._image = image
        self._functions = {image.symbols[name] & ~1: name for name in functions}
        self._parameters = functions
        self._variables = variables
        self._uc: Any = unicorn.Uc(
            unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS
        )
        uc = self._uc
        uc.ctl_set_cpu_model(arm.UC_CPU_ARM_CORTEX_M4)
        no_code = unicorn.UC_PROT_READ | unicorn.UC_PROT_WRITE
        uc.mem_map(CODE, 0x10000, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
        uc.mem_map(STUBS, 0x1000, unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC)
        for place in (0, DATA, ARENA, STACK):
            uc.mem_map(place, SIZE, no_code)
        uc.mem_write(CODE, image.code)
        uc.mem_write(STUBS, struct.pack("<HH", 0x4770, 0xBF00) * 256)
        uc.hook_add(unicorn.UC_HOOK_CODE, self._visit)
        self._state: State | None = None
        self._last = 0
        self._outcome = Outcome()

    def original(self, name: str, state: State) -> Outcome:
        """The handler as the exception would enter it."""
        uc = self._start(state)
        self._registers(CORE, state.core)
        self._registers(FPU, state.fpu)
        uc.reg_write(arm.UC_ARM_REG_PSP, state.psp)
        uc.reg_write(arm.UC_ARM_REG_LR, state.exc_return)
        uc.reg_write(arm.UC_ARM_REG_BASEPRI, 0x50 if state.masked else 0)
        uc.reg_write(arm.UC_ARM_REG_PRIMASK, 0)
        end = self._emulate(name)
        outcome = self._finish()
        psp = uc.reg_read(arm.UC_ARM_REG_PSP)
        outcome.context = [*self._read(CORE), end, psp, *self._read(FPU)]
        masks = arm.UC_ARM_REG_PRIMASK, arm.UC_ARM_REG_BASEPRI
        outcome.masks = (uc.reg_read(masks[0]) != 0, uc.reg_read(masks[1]) != 0)
        assert uc.reg_read(arm.UC_ARM_REG_SP) == STACK + SIZE - 64, "MSP isn't balanced"
        return outcome

    def ported(self, name: str, state: State) -> Outcome:
        """The C handler as VCT would call it."""
        uc = self._start(state)
        saved = [0x1111_0000 + number for number in range(8)]
        self._registers(CORE, saved)
        uc.reg_write(arm.UC_ARM_REG_LR, RETURN | 1)
        block = self._image.symbols["fvm_state"]
        words = [*state.core, state.exc_return, state.psp, *state.fpu]
        uc.mem_write(block + STATE_USR_REG, struct.pack(f"<{USR_WORDS}I", *words))
        uc.mem_write(block + STATE_MASKS, bytes((0, state.masked)))
        end = self._emulate(name)
        assert end == RETURN | 1, f"returned to {end:#x}"
        assert self._read(CORE) == saved, "C must keep its caller's registers"
        outcome = self._finish()
        usr = uc.mem_read(block + STATE_USR_REG, 4 * USR_WORDS)
        outcome.context = list(struct.unpack(f"<{USR_WORDS}I", usr))
        masks = uc.mem_read(block + STATE_MASKS, 2)
        outcome.masks = (masks[0] != 0, masks[1] != 0)
        return outcome

    def pick(self, name: str, state: State, frame: bytes, sp: int) -> Outcome:
        """The pick function, with the frame that a yield has pushed at sp."""
        uc = self._start(state)
        uc.mem_write(sp, frame)
        uc.reg_write(arm.UC_ARM_REG_R0, sp)
        uc.reg_write(arm.UC_ARM_REG_LR, RETURN | 1)
        assert self._emulate(name) == RETURN | 1
        outcome = self._finish()
        outcome.result = uc.reg_read(arm.UC_ARM_REG_R0)
        return outcome

    def _start(self, state: State) -> Any:
        uc, self._state, self._outcome = self._uc, state, Outcome()
        self._last = 0
        uc.mem_write(DATA, bytes(SIZE))
        uc.mem_write(0, state.arena)
        uc.mem_write(ARENA, state.arena)
        for name, value in state.variables.items():
            uc.mem_write(self._image.symbols[name], struct.pack("<I", value))
        self._registers(SCRATCH, state.scratch)
        uc.reg_write(arm.UC_ARM_REG_SP, STACK + SIZE - 64)
        return uc

    def _emulate(self, name: str) -> int:
        """Run until nothing backs the PC; the address it went to, bit 0 as written."""
        try:
            self._uc.emu_start(self._image.symbols[name] | 1, 0xFFFF_FFFF, count=2000)
        except unicorn.UcError as error:
            if error.errno not in (
                unicorn.UC_ERR_FETCH_UNMAPPED,
                unicorn.UC_ERR_FETCH_PROT,
                unicorn.UC_ERR_EXCEPTION,
            ):
                raise
        thumb = self._uc.reg_read(arm.UC_ARM_REG_CPSR) >> 5 & 1
        return int(self._uc.reg_read(arm.UC_ARM_REG_PC)) & ~1 | thumb

    def _visit(self, uc: Any, address: int, size: int, data: object) -> None:
        self._outcome.steps.add((self._last, address))
        self._last = address
        name = self._functions.get(address)
        if name is None or self._state is None:
            return
        arguments = tuple(self._read(SCRATCH[: self._parameters[name]]))
        self._outcome.calls.append((name, arguments, self._memory()))
        variables, words, scratch = self._state.effects[len(self._outcome.calls) - 1]
        for variable, value in variables.items():
            uc.mem_write(self._image.symbols[variable], struct.pack("<I", value))
        for index, value in words:
            uc.mem_write(ARENA + 4 * index, struct.pack("<I", value))
        self._registers(SCRATCH, scratch)

    def _finish(self) -> Outcome:
        self._outcome.memory = self._memory()
        return self._outcome

    def _memory(self) -> bytes:
        values = [self._uc.mem_read(self._image.symbols[name], 4) for name in self._variables]
        arena = self._uc.mem_read(ARENA, SIZE)
        low = self._uc.mem_read(0, SIZE)
        return b"".join(bytes(part) for part in (*values, arena, low))

    def _registers(self, registers: list[int], values: list[int]) -> None:
        for register, value in zip(registers, values, strict=True):
            self._uc.reg_write(register, value)

    def _read(self, registers: list[int]) -> list[int]:
        return [self._uc.reg_read(register) for register in registers]
