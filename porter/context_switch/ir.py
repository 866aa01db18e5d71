"""The transcriber's own small language, between machine instructions and C.

A program is a control-flow graph of blocks. Variables are the machine's registers by name:

* ``r0``-``r3``, ``r12``, ``lr``   the handler's scratch registers, later C locals;
* ``R4``-``R11``, ``LR``, ``SP``   the interrupted task: r4-r11, EXC_RETURN and PSP, in USR_REG;
* ``S16``-``S31``                  its callee-saved FPU registers, in USR_REG;
* ``X1``-``X31``, ``PC``, ``MSTATUS``, ``F0``-``F31``, ``FCSR``  the same on RV32, where a trap
  saves nothing; ``MCAUSE`` is what led to the handler, ``x1``-``x31`` are a plain function's;
* ``m<offset>``                    a word of the handler's own stack, later a C local;
* ``PRIMASK``, ``BASEPRI``         the masks; ``IPSR`` is 0 outside of virtual handlers;
* ``CPACR``                        whether there is an FPU, the same all the time;
* ``a0``-``a3``                    parameters of a plain function, which uses r4-r11 as they are;
* ``entry4``-``entry11``           what r4-r11 held when a plain function was called;
* ``flag_a``, ``flag_b``           operands of the last instruction that set the flags, and
  ``flag_kind``                    which comparison it was, as a constant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WORD = 0xFFFF_FFFF
WHY_NESTING = "virtual handlers don't nest, there is nothing to hold off"
SVC_VECTOR = "FVM_VIRT_SVC"
SUPERVISOR_CALL = "virt_svc"
WAIT = "hyp_vct_wait"
IDLE = "virt_idle"
IDLES = "virt_idles"
FRAME_OF_CALLER = "virt_svc_frame"
WHY_STACK = "the handler's own stack was never left"
SCRATCH = ("r0", "r1", "r2", "r3", "r12")
CORE = tuple(f"R{number}" for number in range(4, 12))
FPU = tuple(f"S{number}" for number in range(16, 32))
RISCV_CORE = tuple(f"X{number}" for number in range(1, 32))
RISCV_FPU = tuple(f"F{number}" for number in range(32))
RISCV_CONTEXT = (*RISCV_CORE, "PC", "MSTATUS", *RISCV_FPU, "FCSR")
CONTEXT = (*CORE, "LR", "SP", *FPU, *RISCV_CONTEXT)
MASKS = ("PRIMASK", "BASEPRI")
READ_ONLY = ("IPSR", "CPACR", "MCAUSE")
UNREAD = ""  # target of a loaded word that nobody reads
SCRATCH_FPU = tuple(f"s{number}" for number in range(16))
KEPT = "kept"  # followed by 4-11: what a plain function leaves in r4-r11
OWN = "own"  # followed by bytes: SP of the handler's own stack, that far below its beginning
RETURNED = "returned"  # SP minus what it has to be, where it comes back to that stack
PARAMETERS = ("a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7")
FLAGS = ("flag_a", "flag_b", "flag_kind")


Origin = tuple[tuple[int, str], ...]  # (address, text) of the instructions behind a statement


class Expr:
    """A value without side effect, save that a Load reads memory when it is evaluated."""


@dataclass(frozen=True)
class Var(Expr):
    """The value of a variable."""

    name: str


@dataclass(frozen=True)
class Const(Expr):
    """A 32-bit word."""

    value: int


@dataclass(frozen=True)
class Symbol(Expr):
    """The address of something with a name, plus an offset in bytes."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Binary(Expr):
    """Arithmetic on words."""

    operator: str  # a C operator on 32-bit words, or >>> for a shift that keeps the sign
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Load(Expr):
    """What memory holds at an address: `size` bytes, zero- or sign-extended."""

    address: Expr
    size: int = 4
    signed: bool = False
    volatile: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Condition(Expr):
    """A condition code over the flags; `kind` is resolved by constant propagation."""

    code: str
    kind: Expr
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Choice(Expr):
    """One of two words."""

    condition: Condition
    yes: Expr
    no: Expr


@dataclass(frozen=True)
class LeadingZeros(Expr):
    """How many bits above the highest one are zero; of 0 it isn't asked."""

    word: Expr


@dataclass(frozen=True)
class Undefined(Expr):
    """A register's content after a call, or at entry: whoever reads it makes us give up."""

    why: str


@dataclass(frozen=True)
class Statement:
    """Anything with an effect, or a note about something without."""

    origin: Origin


@dataclass(frozen=True)
class Assign(Statement):
    """Set a variable."""

    target: str
    value: Expr


@dataclass(frozen=True)
class Store(Statement):
    """Write `size` bytes to memory."""

    address: Expr
    value: Expr
    size: int = 4
    volatile: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class Read(Statement):
    """Evaluate for the effect that a volatile load has outside; nobody wants the value."""

    value: Expr


@dataclass(frozen=True)
class BlockStore(Statement):
    """Store multiple. `base` is the variable that holds the address before (`before` False:
    increment after) or behind (`before` True: decrement before) the block."""

    base: str
    values: tuple[Expr, ...]  # at rising addresses
    before: bool
    writeback: bool


@dataclass(frozen=True)
class BlockLoad(Statement):
    """Load multiple; `base`, `before` and `writeback` as in BlockStore."""

    base: str
    targets: tuple[str, ...]  # from rising addresses
    before: bool
    writeback: bool


@dataclass(frozen=True)
class Call(Statement):
    """Call a C function."""

    function: str
    arguments: tuple[Expr, ...]
    pointers: tuple[bool, ...]  # for each argument, whether C wants a pointer
    result: str | None  # variable that gets the returned word
    moves_stack: bool = False  # it may read the task's stack pointer and set it
    never_returns: bool = False  # as its declaration says
    asks_stack: bool = False  # of a call that moves_stack: it only reads it
    left: tuple[str, ...] = ()  # variables that get what it leaves in r1, r2 and r3, or UNREAD


@dataclass(frozen=True)
class Guest(Statement):
    """A call of the guest library, such as virt_vct_trig(FVM_VIRT_SVC)."""

    function: str
    arguments: tuple[str | Expr, ...]
    result: str | None = None  # variable that gets the returned word


@dataclass(frozen=True)
class ContextStore(Statement):
    """Neighbouring registers of the task, of RISCV_CORE or RISCV_FPU, to rising words."""

    address: Expr
    registers: tuple[str, ...]


@dataclass(frozen=True)
class ContextLoad(Statement):
    """The other way."""

    address: Expr
    registers: tuple[str, ...]


@dataclass(frozen=True)
class Verbatim(Statement):
    """A line of C that no instruction stands for, from a recipe."""

    text: str


@dataclass(frozen=True)
class Resume(Statement):
    """A first-task start goes to the task: to `target`, on a stack of its own."""

    target: Expr
    stack: Expr


@dataclass(frozen=True)
class Note(Statement):
    """Instructions that need no C; `why` is empty where another statement took them in."""

    why: str


@dataclass(frozen=True)
class Jump:
    """Go on at a block."""

    target: int


@dataclass(frozen=True)
class Branch:
    """Go on at one of two blocks."""

    condition: Expr
    taken: int
    otherwise: int
    origin: Origin


@dataclass(frozen=True)
class Exit:
    """The end of the handler. Where the original goes on is in LR by then; `value` is what a plain
    function returns."""

    origin: Origin
    value: Expr | None = None


Terminator = Jump | Branch | Exit


@dataclass
class Block:
    """Statements that run one after the other."""

    statements: list[Statement] = field(default_factory=list)
    end: Terminator = field(default_factory=lambda: Exit(()))

    def successors(self) -> tuple[int, ...]:
        """Keys of the blocks that may run next."""
        if isinstance(self.end, Jump):
            return (self.end.target,)
        if isinstance(self.end, Branch):
            return (self.end.taken, self.end.otherwise)
        return ()


@dataclass
class Program:
    """`blocks` by key (address, or a made-up key for a predicated instruction's own block)."""

    entry: int
    blocks: dict[int, Block]

    def order(self) -> list[int]:
        """Block keys so that, loops aside, a block stands before its successors."""
        seen: set[int] = set()
        post: list[int] = []

        def visit(key: int) -> None:
            seen.add(key)
            for successor in reversed(self.blocks[key].successors()):
                if successor not in seen:
                    visit(successor)
            post.append(key)

        visit(self.entry)
        return post[::-1]
