"""Where a word comes from.

Pointers are known by the way to them: `Field(Field(CURRENT, CONTEXT), 4)` is the word at 4 of what
the interrupted thread's member at CONTEXT points to. Layouts are those of kernel/kernel.h and
fvm/state.h.
"""

from __future__ import annotations

from dataclasses import dataclass

from composer.verify.code.decode import LR

WORD = 0xFFFFFFFF


@dataclass(frozen=True)
class Own:
    """What a register held when the kernel was entered."""

    register: str


@dataclass(frozen=True)
class Born:
    """What the instruction at `at` put into its `number`th register, the last time it was run."""

    at: int
    number: int


@dataclass(frozen=True)
class Field:
    """The word at an offset from where a pointer leads."""

    base: Term
    offset: int


@dataclass(frozen=True)
class Moved:
    """A pointer, some bytes on."""

    base: Term
    offset: int


@dataclass(frozen=True)
class FrameType:
    """The bit of an EXC_RETURN that says which registers the processor stacked."""

    of: Term


@dataclass(frozen=True)
class Resumes:
    """EXC_RETURN of a thread: the frame's type as it was saved, all else as the kernel has it."""

    thread: Term


@dataclass(frozen=True)
class Given:
    """What a call put into a register for its caller, who wants to go on elsewhere."""

    register: str


Term = int | Own | Born | Field | Moved | FrameType | Resumes | Given | None
Place = tuple[Term, int]
"""Pointer and offset; the pointer is 0 where the address is known."""

CURRENT = Own("thread")
STACK = Own("msp")
KEPT = tuple(f"r{n}" for n in range(4, 12))

NEXT = 4  # struct cpu: who shall run; at 0 it has who runs
# struct thread
CONTEXT, RETURN_BITS, DOMAIN, VCPU, PORT = 0, 4, 8, 12, 32
_PORT_WORDS = 5  # fourth argument, r12, lr, pc, xPSR
_MEMBERS = (CONTEXT, RETURN_BITS, DOMAIN, VCPU)
VCT, USR = 4, 8  # struct vcpu
PORT_CALLER, PORT_THREAD, PORT_PLACE, PORT_CALL = 0, 4, 8, 12  # struct port
CALL_FRAME = 8  # words of an exception frame
PROTECTION, CPACR = 60, 124  # struct fvm_domain
SAVED_LR, SAVED_SP, SAVED_FLOATS = 32, 36, 40  # struct fvm_usr_reg, behind r4 to r11
FRAME_BIT = 16  # of EXC_RETURN: set for a frame without floating-point registers
PSP_BIT = 4  # a thread was interrupted
BASIC = 0xFFFFFFFD  # to a thread, on PSP, with a basic frame
MPU_CTRL, CPACR_REGISTER = 0xE000ED94, 0xE000ED88
MPU_WORDS = range(0xE000ED9C, 0xE000EDBC, 4)  # RBAR, RASR and their three aliases

_DEEPEST = 6
CALLER = Field(Field(CURRENT, PORT), PORT_CALLER)
"""Who invoked the interrupted thread."""


def moved(pointer: Term, by: int) -> Term:
    """A pointer some bytes on."""
    if isinstance(pointer, int):
        return (pointer + by) & WORD
    if isinstance(pointer, Moved):
        base, by = pointer.base, pointer.offset + by
        return Moved(base, by) if by else base
    if pointer is None or by == 0:
        return pointer
    return Moved(pointer, by)


def place_at(pointer: Term, offset: int) -> Place | None:
    """The place some bytes behind a pointer, None where that isn't known."""
    if isinstance(pointer, int):
        return 0, (pointer + offset) & WORD
    if isinstance(pointer, Moved):
        return pointer.base, pointer.offset + offset
    return None if pointer is None else (pointer, offset)


def context(thread: Term) -> Term:
    """Where a thread's registers are kept."""
    return Field(thread, CONTEXT)


def kept(thread: Term, offset: int) -> Term:
    """A word of a thread's context."""
    return Field(context(thread), offset)


def resuming(frame: Term, bits: Term) -> Term:
    """EXC_RETURN of a frame's type and of other bits, when both are of one thread."""
    if not isinstance(bits, Field) or bits.offset != RETURN_BITS:
        return None
    own = FrameType(kept(bits.base, saved_slot("lr")))
    return Resumes(bits.base) if frame == own else None


def is_kept(term: Term) -> bool:
    """Whether it is a word of somebody's context."""
    return isinstance(term, Field) and isinstance(term.base, Field) and term.base.offset == CONTEXT


def is_steady(base: Term, offset: int) -> bool:
    """Whether the kernel leaves a word as it is while it switches: what a thread consists of, its
    domain's description, the context of one that doesn't run, what a port is entered with."""
    if isinstance(base, Field) and base.offset in (DOMAIN, CONTEXT):
        return True
    if isinstance(base, Born) and PORT_CALL <= offset < PORT_CALL + 4 * _PORT_WORDS:
        return True
    return offset in _MEMBERS or (base, offset) == (CURRENT, PORT)


def field(base: Term, offset: int) -> Term:
    """The word at a place that is steady; None at the end of a list that has none."""
    depth, inner = 0, base
    while isinstance(inner, Field | Moved):
        depth, inner = depth + 1, inner.base
    return Field(base, offset) if depth < _DEEPEST else None


def mentions(term: Term, born: Born) -> bool:
    """Whether a term depends on what an instruction made."""
    while isinstance(term, Field | Moved):
        term = term.base
    if isinstance(term, FrameType):
        return mentions(term.of, born)
    if isinstance(term, Resumes):
        return mentions(term.thread, born)
    return term == born


def outlives_calls(term: Term) -> bool:
    """Whether a term means the same when a function of the kernel has run."""
    while isinstance(term, Field | Moved):
        if isinstance(term, Field) and not is_steady(term.base, term.offset):
            return False
        term = term.base
    if isinstance(term, FrameType):
        return outlives_calls(term.of)
    if isinstance(term, Resumes):
        return outlives_calls(term.thread)
    return isinstance(term, int | Own | Given)


def number_of(register: str) -> int:
    """The processor's number of r4 to r11, lr."""
    return LR if register == "lr" else int(register[1:])


def saved_slot(register: str) -> int:
    """Where a thread's context has a register."""
    if register in ("lr", "psp"):
        return SAVED_LR if register == "lr" else SAVED_SP
    if register[0] == "r":
        return 4 * (number_of(register) - 4)
    return SAVED_FLOATS + 4 * (int(register[1:]) - 16)
