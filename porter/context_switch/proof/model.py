"""What stands for what: the guest's side of a port as both oracles see it.

A handler's C finds the interrupted task in USR_REG and the masks in `fvm_state`; calls of the guest
library stand for what the original did with the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.context_switch.result import ROLE_CALL, ROLE_OTHER, ROLE_PART, ROLE_SVC, ROLE_SWITCH

SYSTEM_SPACE = 0xE000_E000
ICSR, CPACR = 0xE000_ED04, 0xE000_ED88
CYCCNT = 0xE000_1004  # of the trace unit: the kernel reads it for a guest
FPCCR, LSPACT = 0xE000_EF34, 1  # lazy stacking of the FPU: a guest has none
MODES = 0x1F << 22  # of FPSCR: 0 where FPU state begins (ARMv7-M ARM, ExecuteFPCheck())
SHPR = (0xE000_ED1C, 0xE000_ED20)  # exception priorities: a guest has those of its vectors
PENDSVSET, PENDSVCLR = 1 << 28, 1 << 27
# All 1 in an EXC_RETURN; mode and stack. Bit 0 is 1 in each that the manual has (B1.5.8): no
# Cortex-M asks for it, and a port of RT-Thread makes one without.
EXC_RETURN_KIND, EXC_RETURN_MODE = 0xFFFF_FF00, 0xE
THREAD_ON_PSP = 0xC  # the only mode and stack of a guest, whatever an EXC_RETURN says

# struct fvm_state of <fvm/state.h>, offsets in bytes. Its _Static_asserts pin the same ones.
MASKS, PENDING, TASK_NAME, USR_REG = 0, 4, 8, 32
VCT_ACT, PRIMASK, BASEPRI = 0, 2, 3
PRIMASK_BIT = 8 * PRIMASK + 4  # of the word MASKS: what the port asks and sets
USR_WORDS = 10 + 16  # R4-R11, LR, SP, S16-S31
BLOCK_WORDS = 56
CORE = tuple(f"r{number}" for number in range(4, 12))
FPU = tuple(f"s{number}" for number in range(16, 32))
CONTEXT = (*CORE, "EXC_RETURN", "PSP", *FPU)  # in the order of USR_REG
_FREE = {PENDING // 4, TASK_NAME // 4, *range(USR_REG // 4, USR_REG // 4 + USR_WORDS)}

TRIGGER = "virt_vct_trig"
CLEAR = "virt_vct_clear"
REQUESTS = (TRIGGER, CLEAR)  # neither changes memory that both sides have
ONCE = "virt_vct_once"
SUPERVISOR_CALL = "virt_svc"
SERVICE = "virt_service"  # in the original, and behind the compiler, a call by a register
FRAME_OF_CALLER = "virt_svc_frame"  # in the original at PSP or MSP
TRAP_SET = "virt_trap_set"
FPU_ACCESS = "virt_cpacr"
CYCLES = "virt_cycles"
UNMASKED = "virt_unmask_pending"
SPIN = "for (;;)"  # waiting for ever: what is left is up to interrupts, nothing follows
YIELD = "guest_switch"  # what virt_yield() calls where it doesn't store to int_pend.byte.yield
YIELD_BYTE = PENDING + 1
IDLE = "virt_idle"  # in the original a wait in a loop, until memory is another
IDLES = "virt_idles"  # no call of the original's
WAIT = "hyp_vct_wait"  # in the original WFI or WFE
SVC, SWITCH = 2, 0  # virtual vectors
_WORDS = {SERVICE: 4, TRIGGER: 1, CLEAR: 1, SUPERVISOR_CALL: 1, TRAP_SET: 1, ONCE: 1}  # arguments
# Calls that stand for nothing in the original: serving what an unmask finds pending, and telling
# the guest library before the first task how a yield switches.
_SILENT = (
    UNMASKED,
    "virt_yield_task",
    "virt_yield_stack",
    "virt_yield_short_frames",
)


def kept(block: Sequence[object]) -> list[object]:
    """Words of fvm_state that a port must leave alone, the masks aside."""
    return [word for index, word in enumerate(block) if index not in _FREE and index != MASKS // 4]


@dataclass(frozen=True)
class Model:
    """One function. `arguments` says how many words each callee takes; `extra` are callees that
    only the port has, for fault records; `returns` whether the function has a result.
    `goes_to_task`: a start of the first task for which VCT runs a part of the port; `own` are
    variables that only the port has; `moves_stack` are callees that may read PSP and set it;
    `compared` are names of other files whose addresses it compares and uses for nothing else;
    `never_return` are callees behind which nothing follows, on Cortex-M; `waits`: the original
    does so in a loop, until a task is ready; `asks_stack` are those of `moves_stack` that only read
    PSP. `asks_msp`: it serves supervisor calls and finds their caller's registers in a frame on MSP
    or PSP."""

    role: str
    arguments: tuple[tuple[str, int], ...] = ()
    extra: frozenset[str] = frozenset()
    returns: bool = False
    goes_to_task: bool = False
    own: frozenset[str] = frozenset()
    moves_stack: frozenset[str] = frozenset()
    compared: frozenset[str] = frozenset()
    never_return: frozenset[str] = frozenset()
    waits: bool = False
    asks_stack: frozenset[str] = frozenset()
    asks_msp: bool = False

    @property
    def is_handler(self) -> bool:
        """Whether an exception enters it: then it ends by resuming a task."""
        return self.role in (ROLE_SWITCH, ROLE_SVC, ROLE_CALL)

    @property
    def is_part(self) -> bool:
        """Whether handlers call it, by C or not: S16-S31 and PSP are the task's, r4-r11 and where
        it returns to are its caller's."""
        return self.role == ROLE_PART

    @property
    def runs_in_vct(self) -> bool:
        """Whether the port has another's registers than the original: VCT's."""
        return self.is_handler or self.is_part

    @property
    def is_plain(self) -> bool:
        """Whether C calls it, from tasks and handlers."""
        return self.role == ROLE_OTHER

    @property
    def may_be_called_on_msp(self) -> bool:
        """Whether EXC_RETURN may say that its caller was on MSP. A guest's never is: there the
        caller's stack is the task's in any case."""
        return self.role == ROLE_CALL or self.asks_msp

    @property
    def serves(self) -> bool:
        """Whether it calls functions whose addresses its callers hand over."""
        return any(name == SERVICE for name, _ in self.arguments)

    @property
    def opens_unmasked(self) -> tuple[bool, bool]:
        """Whether PRIMASK and BASEPRI are surely clear at entry: a mask would hold a switch
        handler off, and under PRIMASK an SVC is a fault."""
        return self.is_handler, self.role == ROLE_SWITCH

    def sees_masks_at(self, name: str) -> bool:
        """Whether the masks during a call matter. Behind a switch handler they hold off nesting,
        which VCT doesn't have; the first switch is requested in VCT where the original may still
        mask, and neither runs it before the masks are open."""
        return self.role != ROLE_SWITCH and not (self.goes_to_task and name == TRIGGER)

    def silent(self, name: str) -> bool:
        """Whether a call is of no interest."""
        return name in _SILENT or name in self.extra

    def words(self, name: str) -> int:
        """How many argument words a call has."""
        return _WORDS.get(name) or dict(self.arguments).get(name, 0)
