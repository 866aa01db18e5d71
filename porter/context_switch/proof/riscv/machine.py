"""The state of one symbolic path on RV32."""

from __future__ import annotations

from dataclasses import dataclass

from porter.context_switch.proof.image import RETURN, TOP, Image
from porter.context_switch.proof.machine import Event, Path
from porter.context_switch.proof.memory import Memory
from porter.context_switch.proof.model import (
    BASEPRI,
    CYCLES,
    MASKS,
    PRIMASK,
    PRIMASK_BIT,
    SPIN,
    SWITCH,
    TRAP_SET,
    TRIGGER,
    USR_REG,
    VCT_ACT,
    YIELD,
    Model,
)
from porter.context_switch.proof.riscv.layout import (
    ARGUMENTS,
    BLOCK_WORDS,
    CALLER_SAVED,
    CALLER_SAVED_FPU,
    CAUSE,
    CONTEXT,
    CORE,
    FPU,
    STATUS,
    STATUS_MIE,
)
from porter.context_switch.proof.terms import Term, as_word, binary, equal, symbol
from porter.context_switch.proof.terms import field as bit_field
from porter.context_switch.result import ROLE_START

WORD = 0xFFFF_FFFF


@dataclass
class RiscvPath(Path):
    """Registers are x1-x31, f0-f31 and CSRs by name. `resumes`: it ends with a task."""

    @property
    def resumes(self) -> bool:
        """Whether the function ends by going on with a task."""
        return self.model.is_handler or self.model.role == ROLE_START

    def word(self, number: int) -> Term:
        """What x<number> holds."""
        return self.read(f"x{number}") if number else 0

    def put(self, number: int, value: Term) -> None:
        """Set x<number>."""
        if number:
            self.write(f"x{number}", value)

    def masks(self) -> tuple[Term, Term]:
        """Whether interrupts are closed; the other mask is nobody's on this machine."""
        if self.resumes:
            return 0, 0
        if self.native:
            return as_word(equal(binary("&", self.read("mstatus"), STATUS_MIE), 0)), bit_field(
                symbol("base"), 0, 1
            )
        word = self.block[MASKS]
        return bit_field(word, 8 * PRIMASK, 8), bit_field(word, 8 * BASEPRI, 8)

    def event(self, name: str, arguments: tuple[Term, ...]) -> None:
        """Note a call."""
        if name == TRAP_SET:
            arguments = tuple(
                self.image.handler(it) if isinstance(it, int) else it for it in arguments
            )
        memories = self.variables.copy(), self.memory.copy()
        self.events.append(Event(name, arguments, *memories, self.masks()))
        self.ended = name == SPIN

    def call(self, name: str) -> None:
        """A function that does to memory what it likes, and destroys what it may."""
        arguments = tuple(map(self.word, ARGUMENTS[: self.model.words(name)]))
        lost = [f"x{number}" for number in CALLER_SAVED if number < self.image.registers]
        for register in (*lost, *(f"f{number}" for number in CALLER_SAVED_FPU)):
            self.registers[register] = self.fresh(f"destroyed {register}")
        if name == CAUSE:
            self.registers["x10"] = symbol("mcause")
        elif name == STATUS:
            self.registers["x10"] = self._status()
        elif name == CYCLES:
            self.registers["x10"] = self.next_cycles()
        elif not self.model.silent(name):
            if name == YIELD:
                name, arguments = TRIGGER, (SWITCH,)
            self.event(name, arguments)
            if name not in (TRIGGER, TRAP_SET):
                self.calls += 1
                self.variables = Memory(f"variables {self.calls}")
                self.memory = Memory(f"memory {self.calls}")
                self.registers["x10"] = symbol(f"result {self.calls}")

    def _status(self) -> Term:
        """What virt_mstatus() returns."""
        opened = as_word(equal(self.masks()[0], 0))
        others = binary("&", symbol("mstatus"), ~STATUS_MIE & WORD)
        return binary("|", others, binary("<<", opened, 3))


def entry(image: Image, model: Model, native: bool) -> RiscvPath:
    """The state in which a function begins. Unknown words that both sides have carry one name."""
    memories = Memory("variables"), Memory("memory")
    path = RiscvPath(image, model, native, image.entry, {}, {}, *memories)
    path.registers = {name: symbol(name) for name in (*CORE, *FPU)}
    closed = bit_field(symbol("PRIMASK"), 0, 1) if not path.resumes else 0
    base = bit_field(symbol("base"), 0, 1) if not path.resumes else 0
    if native:
        path.registers |= {name: symbol(name) for name in ("mepc", "mstatus", "mcause", "fcsr")}
        if not path.resumes:
            opened = binary("<<", binary("^", closed, 1), 3)
            others = binary("&", symbol("mstatus"), ~STATUS_MIE & WORD)
            path.registers["mstatus"] = binary("|", others, opened)
    elif path.resumes:  # its caller is VCT
        path.registers = {name: symbol(f"caller's {name}") for name in (*CORE, *FPU)}
    if not (native and path.resumes):
        path.registers |= {"x1": RETURN, "x2": TOP}
    if native:
        return path
    path.block = {4 * index: symbol(f"fvm_state[{index}]") for index in range(BLOCK_WORDS)}
    in_vct = int(path.resumes) << 8 * VCT_ACT
    masks = binary("|", binary("<<", closed, PRIMASK_BIT), binary("<<", base, 8 * BASEPRI))
    path.block[MASKS] = binary("|", masks, in_vct)
    for index, name in enumerate(CONTEXT):
        path.block[USR_REG + 4 * index] = symbol(name)
    return path
