"""The state of one symbolic path through a handler."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import z3

from porter.context_switch.proof import vct
from porter.context_switch.proof.image import DATA, PAGE, RETURN, STACK, STATE, TOP, Image
from porter.context_switch.proof.memory import Memory
from porter.context_switch.proof.model import (
    BASEPRI,
    BLOCK_WORDS,
    CLEAR,
    CONTEXT,
    CORE,
    CPACR,
    CYCCNT,
    CYCLES,
    FPCCR,
    FPU,
    FPU_ACCESS,
    FRAME_OF_CALLER,
    ICSR,
    IDLE,
    IDLES,
    LSPACT,
    MASKS,
    PENDSVCLR,
    PENDSVSET,
    PRIMASK,
    PRIMASK_BIT,
    REQUESTS,
    SERVICE,
    SHPR,
    SPIN,
    SUPERVISOR_CALL,
    SVC,
    SWITCH,
    SYSTEM_SPACE,
    TRIGGER,
    USR_REG,
    VCT_ACT,
    WAIT,
    YIELD,
    YIELD_BYTE,
    Model,
)
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.states import ON_PSP
from porter.context_switch.proof.terms import (
    WORD,
    Known,
    Term,
    Truth,
    add,
    apply,
    binary,
    bits,
    choose,
    equal,
    insert,
    learned,
    same,
    split,
    symbol,
    truth,
)
from porter.context_switch.proof.terms import field as bit_field

_PSP = USR_REG + 4 * CONTEXT.index("PSP")
SCRATCH = ("r0", "r1", "r2", "r3", "r12")
FPU_STATE = ("FPCA", "FPSCR")  # whoever is called may use the FPU


@dataclass(frozen=True)
class Event:
    """A call, or what stands for one."""

    name: str
    arguments: tuple[Term, ...]
    variables: Memory
    memory: Memory
    masks: tuple[Term, Term]
    in_vct: bool = False  # in a visit of a start's port, where handlers don't nest


@dataclass(frozen=True)
class Flags:
    """What set the flags last: a subtraction, an addition or a result; `carry` of a shift."""

    kind: str = ""
    left: Term = 0
    right: Term = 0
    carry: Truth | None = None


@dataclass
class Path:
    """`conditions` hold on it: those `decided` at branches, and that addresses are `aligned`.
    `variables` are what has a name, `memory` is where pointers lead."""

    image: Image
    model: Model
    native: bool
    pc: int
    registers: dict[str, Term]
    block: dict[int, Term]
    variables: Memory
    memory: Memory
    stack: dict[int, Term] = field(default_factory=dict)
    system: dict[int, Term] = field(default_factory=dict)
    flags: Flags = Flags()
    predicates: tuple[str, ...] = ()
    conditions: list[Any] = field(default_factory=list)
    decided: list[Any] = field(default_factory=list)
    aligned: list[Any] = field(default_factory=list)
    known: list[Known] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    touched: list[tuple[int, Term]] = field(default_factory=list)  # calls before, and address
    calls: int = 0
    looks: int = 0  # at the cycle counter
    steps: int = 0
    ended: bool = False  # by the event that ends the comparison
    exit: Term | None = None
    on_psp: bool = False  # CONTROL says that PSP is the stack pointer
    handler: Term | None = None  # what VCT runs for a supervisor call
    owed: bool = False  # a supervisor call is pending
    visit: vct.Visit | None = None  # VCT runs
    resumed: bool = False  # the first task runs
    idles: int = 0  # in a port: whether it begins behind a wait
    waits: bool = False  # ended where it waits
    again: tuple[Memory, Memory, int] | None = None  # goes on from a wait with nothing changed
    left_out: bool = False
    last: int = 0  # address of the instruction before
    on_msp: bool = False  # its caller, where the handler asks for that stack
    uses_fpu: bool = False  # a start of the original did

    def fork(self) -> Path:
        """The same path, to go on in another way."""
        other = copy(self)
        for name in ("registers", "block", "stack", "system"):
            setattr(other, name, dict(getattr(self, name)))
        for name in ("conditions", "decided", "aligned", "known", "events", "touched"):
            setattr(other, name, list(getattr(self, name)))
        other.variables, other.memory = self.variables.copy(), self.memory.copy()
        return other

    def under(self, conditions: Sequence[Any]) -> Path:
        """A copy of the path where these hold too: what they say is put in, so that less is left
        for the solver."""
        other = self.fork()
        for condition in conditions:
            other.settle(condition)
        aligned = (apply(other.known, condition) for condition in self.aligned)
        other.aligned = [z3.BoolVal(it) if it is False else it for it in aligned if it is not True]
        return other

    def fresh(self, what: str) -> Term:
        """A word that original and port know nothing common of."""
        side = "original" if self.native else "port"
        return symbol(f"{side}.{what}.{self.steps}")

    def read(self, register: str) -> Term:
        """A register's word."""
        if register == "pc":
            return self.pc + 4
        if register not in self.registers:
            self.registers[register] = self.fresh(register)
        return self.registers[register]

    def write(self, register: str, value: Term) -> None:
        """Set a register."""
        self.registers[register] = apply(self.known, value)

    def settle(self, condition: Any) -> None:
        """Go on where a condition holds, and put in what it says."""
        self.decided.append(condition)
        self.conditions.append(condition)
        if (fact := learned(condition)) is None:
            return
        self.known.append(fact)
        new = [fact]  # the others have been put in
        self.registers = {name: apply(new, word) for name, word in self.registers.items()}
        self.stack = {place: apply(new, word) for place, word in self.stack.items()}
        self.block = {place: apply(new, word) for place, word in self.block.items()}
        self.variables.apply(new)
        self.memory.apply(new)

    def load(self, address: Term, size: int = 4, signed: bool = False) -> Term:
        """`size` bytes, extended to a word."""
        word = self._load_word(self._aligned(address, size))
        if size == 4:
            return word
        if isinstance(address, int):
            return bit_field(word, address % 4 * 8, size * 8, signed)
        shift = binary("<<", binary("&", address, 3), 3)
        return bit_field(binary(">>", word, shift), 0, size * 8, signed)

    def store(self, address: Term, value: Term, size: int = 4) -> None:
        """Write `size` bytes."""
        place = self._aligned(address, size)
        if not self.native and isinstance(address, int) and address == STATE + YIELD_BYTE:
            self.event(TRIGGER, (SWITCH,))
        if size != 4:
            old = self._load_word(place)
            if isinstance(address, int):
                value = insert(old, value, address % 4 * 8, size * 8)
            else:
                shift = binary("<<", binary("&", address, 3), 3)
                mask = binary("<<", (1 << size * 8) - 1, shift)
                kept = binary("&", old, binary("^", mask, 0xFFFF_FFFF))
                value = binary("|", kept, binary("&", binary("<<", value, shift), mask))
        self._store_word(place, value)

    def masks(self) -> tuple[Term, Term]:
        """PRIMASK and BASEPRI, in values of which only zero or not matters."""
        if self.native:
            return self.registers["PRIMASK"], self.registers["BASEPRI"]
        word = self.block[MASKS]
        return bit_field(word, 8 * PRIMASK, 8), bit_field(word, 8 * BASEPRI, 8)

    def stack_of(self, exc_return: Term, psp: Term) -> Term:
        """The one that EXC_RETURN goes back to."""
        if self.model.asks_msp:  # what isn't its caller's EXC_RETURN is a task's
            is_callers = same(exc_return, symbol("EXC_RETURN"))
            return symbol("MSP") if is_callers and self.on_msp else psp
        if not self.model.may_be_called_on_msp:
            return psp
        on_psp = equal(binary("&", exc_return, ON_PSP), ON_PSP)
        return apply(self.known, choose(on_psp, psp, TOP))

    def called_on_msp(self) -> Path:
        """Settle that a caller with a frame that is asked for was on PSP; the other path. The frame
        on MSP is above the handler's own words; here it is in another stack."""
        asked = equal(binary("&", symbol("EXC_RETURN"), ON_PSP), 0)
        other = self.fork()
        other.settle(asked)
        self.settle(truth(z3.Not(asked)))
        other.on_msp = True
        if not other.native:
            other.block[_PSP] = symbol("MSP")
        return other

    def read_msp(self) -> Term:
        """What an original finds in MSP."""
        if not self.model.asks_msp:
            return self.registers["sp"]
        return symbol("MSP") if self.on_msp else self.fresh("MSP of no caller")

    def event(self, name: str, arguments: tuple[Term, ...]) -> None:
        """Note a call. The supervisor call ends what is compared."""
        memories = self.variables.copy(), self.memory.copy()
        in_vct = self.visit is not None
        self.events.append(Event(name, arguments, *memories, self.masks(), in_vct))
        if name == SPIN or (name == TRIGGER and arguments[:1] == (SVC,)):
            self.ended = True

    def call(self, name: str, *also: Term) -> None:
        """A function that does to memory what it likes, and destroys what it may. `also`: what
        else it is handed than the first registers."""
        arguments = (*map(self.read, SCRATCH[: self.model.words(name)]), *also)
        for register in (*SCRATCH, "lr", *(f"s{number}" for number in range(16)), *FPU_STATE):
            self.registers[register] = self.fresh(f"destroyed {register}")
        self.flags = Flags()
        if name == FPU_ACCESS:
            self.registers["r0"] = symbol(f"system {CPACR:#x}")
            return
        if name == CYCLES:
            self.registers["r0"] = self.next_cycles()
            return
        if name == IDLES:
            self.registers["r0"] = self.idles
            return
        if name == IDLE:
            self.wait_for_tasks()
            return
        if name == FRAME_OF_CALLER:
            self.registers["r0"] = self.stack_of(symbol("EXC_RETURN"), symbol("PSP"))
            return
        if vct.served(self, name, arguments) or self.model.silent(name):
            return
        if name == YIELD:
            name, arguments = TRIGGER, (SWITCH,)
        if name == SUPERVISOR_CALL:
            name, arguments = TRIGGER, (SVC, *arguments)
        moves = name in self.model.moves_stack
        self.event(name, (*arguments, self._stack_pointer()) if moves else arguments)
        if name not in REQUESTS:
            self._changed()
            if moves and name not in self.model.asks_stack:
                self._set_stack_pointer(symbol(f"PSP {self.calls}"))
            self.registers["r0"] = symbol(f"result {self.calls}")
            for register in SCRATCH[1:4] if name == SERVICE else ():  # a handler may hand these on
                self.registers[register] = symbol(f"left in {register} {self.calls}")
        self.ended = self.ended or name in self.model.never_return

    def wait_for_tasks(self) -> None:
        """In a loop of the original, or in USR."""
        self.event(IDLE, ())
        self.waits = True

    def wait(self) -> None:
        """What WFI is in the original."""
        self.event(WAIT, ())
        self._changed()

    def _changed(self) -> None:
        """Others ran meanwhile, which do to memory what they like."""
        self.calls += 1
        self.variables = Memory(f"variables {self.calls}")
        self.memory = Memory(f"memory {self.calls}")

    def next_cycles(self) -> Term:
        """What the cycle counter shows: at each look something else."""
        self.looks += 1
        return symbol(f"cycles {self.looks}")

    def _stack_pointer(self) -> Term:
        """The task's, where a callee finds it."""
        if not self.native:
            return self.block[_PSP]
        found = self.registers["PSP"]
        return self.stack_of(symbol("EXC_RETURN"), found) if self.model.asks_msp else found

    def _set_stack_pointer(self, value: Term) -> None:
        if self.native:
            self.registers["PSP"] = value
        else:
            self.block[_PSP] = value

    def _aligned(self, address: Term, size: int) -> Term:
        """The address of the word around an address. That an access is aligned may be taken for
        granted in the original; the port has to show it."""
        self.touched.append((self.calls, address))
        if isinstance(address, int):
            if address % size:
                raise NotProved(f"accesses {size} bytes at {address:#x}, which isn't aligned")
            return address & ~3
        if size > 1:
            self.take_aligned(address, size)
        return address if size == 4 else binary("&", address, ~3 & 0xFFFF_FFFF)

    def take_aligned(self, address: Term, size: int = 4) -> None:
        """Go on where an address is a multiple of the size."""
        aligned = truth(bits(address) & (size - 1) == 0)
        if not isinstance(aligned, bool) and not any(map(aligned.eq, self.aligned)):
            self.aligned.append(aligned)
            self.conditions.append(aligned)

    def _load_word(self, address: Term) -> Term:
        if not isinstance(address, int):
            return self._memory(address).load(address)
        if STACK <= address < STACK + PAGE:
            return self.stack.get(address, self.fresh(f"unwritten word at {address:#x}"))
        if address - STATE in self.block and not self.native:
            return self.block[address - STATE]
        if SYSTEM_SPACE <= address < SYSTEM_SPACE + PAGE and self.native:
            if address not in self.system:
                self.system[address] = symbol(f"system {address:#x}")
            return self.system[address]
        if address == CYCCNT and self.native:
            return self.next_cycles()
        if address >= 0xE000_0000:
            raise NotProved(f"reads the system register at {address:#x}")
        constant = self.image.word(address)
        return constant if constant is not None else self._memory(address).load(address)

    def _store_word(self, address: Term, value: Term) -> None:
        value = apply(self.known, value)
        if not isinstance(address, int):
            self._memory(address).store(address, value)
        elif STACK <= address < STACK + PAGE:
            self.stack[address] = value
        elif address - STATE in self.block and not self.native:
            self.block[address - STATE] = value
        elif address >= 0xE000_0000:
            self._system_store(address, value)
        elif self.image.word(address) is not None:
            raise NotProved(f"writes to the constant at {address:#x}")
        else:
            self._memory(address).store(address, value)

    def peek(self, address: Term) -> Term:
        """The word at an address that is aligned."""
        return self._memory(address).load(address)

    def _memory(self, address: Term) -> Memory:
        """An address that is a variable's plus something leads to a variable; no other does."""
        start = split(address)[1]
        return self.variables if DATA <= start < DATA + 4 * self.image.variables else self.memory

    def _system_store(self, address: int, value: Term) -> None:
        """What a guest has instead: a switch request; FPU access by grant; no priorities."""
        old = self.system.get(address, symbol(f"system {address:#x}"))
        if self.native and address == ICSR and value == PENDSVCLR:
            self.event(CLEAR, (SWITCH,))
        elif self.native and address == ICSR and value in (PENDSVSET, binary("|", old, PENDSVSET)):
            self.event(TRIGGER, (SWITCH,))
        elif self.native and address == CPACR:
            if binary("&", binary("^", value, old), 0xFF0F_FFFF) != 0:
                raise NotProved(f"writes {value} to CPACR")
        elif self.native and address == FPCCR:
            if binary("&", binary("^", value, old), ~LSPACT & WORD) != 0:
                raise NotProved(f"writes {value} to FPCCR")
        elif not self.native or address not in SHPR:
            raise NotProved(f"writes the system register at {address:#x}")
        self.system[address] = value


def entry(image: Image, model: Model, native: bool) -> Path:
    """The state in which a function begins. Unknown words that both sides have carry one name."""
    core = {name: symbol(name) for name in CORE}
    fpu = {name: symbol(name) for name in FPU}
    context = [symbol(name) for name in CONTEXT]
    primask = bit_field(symbol("PRIMASK"), 0, 1) if not model.opens_unmasked[0] else 0
    basepri = bit_field(symbol("BASEPRI"), 0, 1) if not model.opens_unmasked[1] else 0
    memories = Memory("variables"), Memory("memory")
    path = Path(image, model, native, image.entry, {}, {}, *memories)
    path.registers = {name: symbol(name) for name in SCRATCH}
    path.registers |= {"sp": TOP, "lr": RETURN | 1, **core, **fpu}
    path.registers |= {"FPCA": 1, "FPSCR": symbol("FPSCR")}  # of who calls a start
    in_handler = bit_field(symbol("IPSR"), 0, 1) if model.is_plain else int(model.runs_in_vct)
    if native:
        path.registers |= {"PSP": symbol("PSP"), "PRIMASK": primask, "BASEPRI": basepri}
        path.registers["IPSR"] = in_handler
        if model.is_handler:
            path.registers["lr"] = symbol("EXC_RETURN")
        return path
    if model.runs_in_vct:
        path.registers |= {name: symbol(f"caller's {name}") for name in CORE}
    if model.is_part:
        path.registers |= {name: symbol(f"caller's {name}") for name in FPU}
    path.block = {4 * index: symbol(f"fvm_state[{index}]") for index in range(BLOCK_WORDS)}
    masks = add(binary("<<", primask, PRIMASK_BIT), binary("<<", basepri, 8 * BASEPRI))
    path.block[MASKS] = binary("|", masks, binary("<<", in_handler, 8 * VCT_ACT))
    path.block |= {USR_REG + 4 * index: word for index, word in enumerate(context)}
    path.block[_PSP] = path.stack_of(symbol("EXC_RETURN"), symbol("PSP"))
    return path
