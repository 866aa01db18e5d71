"""That the campaign can fail: the same crimes where the mechanism that stops them is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.faults.crimes import CRIMES
from tests.faults.trial import commit, judge
from tests.support.built import Built, described_otherwise, with_other_kernel

UNPROTECTED = "no protection"
HANGS = 5.0  # seconds of the host without a line of the log; many of these systems end so


@dataclass(frozen=True)
class Mutant:
    """A kernel that lacks one mechanism."""

    name: str
    file: str
    changes: tuple[tuple[str, str], ...]


_SANITISE = "lr, lr, #EXC_RETURN_BASIC_FRAME\n    orr lr, lr, r12\n"
_SAME_DOMAIN = "    msr psp, r1\n    cpsie i\n"
UNSANITISED = Mutant(
    "resumes with the guest's EXC_RETURN",
    "arch/armv7m/entry.S",
    (
        ("    bx r12\n", "    bx lr\n"),
        ("2:  ands " + _SANITISE, "2:  tst lr, #EXC_RETURN_BASIC_FRAME\n"),
        ("    and " + _SANITISE + _SAME_DOMAIN, _SAME_DOMAIN),
    ),
)
BIT_4_TRUSTED = Mutant(
    "trusts bit 4 of a domain without FPU",
    "arch/armv7m/context.c",
    (
        (
            "fpu ? EXC_RETURN_THREAD_PSP : EXC_RETURN_THREAD_PSP | EXC_RETURN_BASIC_FRAME",
            "fpu, EXC_RETURN_THREAD_PSP",
        ),
    ),
)
MSP_KEPT = Mutant(
    "keeps what a refused return left on MSP",
    "arch/armv7m/entry.S",
    (
        (
            "    ldr r2, =kernel_stack_top\n    msr msp, r2\n    push {r3, lr}\n",
            "    push {r3, lr}\n",
        ),
    ),
)
LATE_RESULT = Mutant(
    "writes the result of a wait when VCT is done, unchecked",
    "kernel/vcpu.c",
    (
        (
            "    if (wait(is_vct ?",
            "    static uint32_t waits; /* bit: vCPU */\n"
            "    if (is_vct && (waits & vcpu->bit) != 0) {\n"
            "        context_arch_result(context_arch_stack(vcpu->usr->context), FVM_OK);\n"
            "    }\n"
            "    waits = is_vct ? waits & ~vcpu->bit : waits | vcpu->bit;\n"
            "    if (wait(is_vct ?",
        ),
    ),
)
REMEMBERS = Mutant(
    "leaves the call of a stopped thread pending",
    "arch/armv7m/cpu.c",
    (("SCB_SHCSR = SCB_SHCSR & ~SCB_SHCSR_PENDED;", ""),),
)
FPU_KEPT = Mutant(
    "leaves one domain's FPU registers to the next",
    "arch/armv7m/entry.S",
    (("    vldmia r0, {s0-s31}\n", ""),),
)
LAZY = Mutant(
    "stacks FPU state lazily",
    "arch/armv7m/cpu.c",
    (("SCB_FPCCR = SCB_FPCCR_ASPEN;", "SCB_FPCCR = SCB_FPCCR_ASPEN | (1u << 30);"),),
)
FRAME_UNCHECKED = Mutant(
    "takes any frame for one in the domain's RAM",
    "arch/armv7m/entry.S",
    (("    bhi stray_frame\n", ""),),
)
PRIVILEGED = Mutant(
    "runs threads with privilege",
    "arch/armv7m/entry.S",
    (
        (
            "    orr r0, r0, #1              /* nPRIV: threads are unprivileged from here on */\n",
            "",
        ),
        ("    movs r0, #CONTROL_NPRIV\n", "    movs r0, #0\n"),
    ),
)
ANY_NUMBER = Mutant(
    "accepts any number",
    "arch/armv7m/entry.S",
    (("    mov r1, #FVM_E_CALL\n", "    mov r1, #FVM_OK\n"),),
)
ANY_TYPE = Mutant(
    "takes any capability for any call",
    "kernel/capability.c",
    (
        (
            "(word & (0xFFu | (uint32_t)rights << 8)) == needed",
            "(word | needed) != 0",
        ),
    ),
)
NOT_LOCKED = Mutant(
    "registers after lockdown",
    "kernel/request.c",
    (("vcpu->locked != 0 ?", "vcpu->locked > 1 ?"),),
)
ANY_EVENT = Mutant(
    "sends an event of any number",
    "kernel/event.c",
    (
        (
            "if (event >= FVM_EVENTS) {\n        return FVM_E_ARGUMENT;\n    }\n"
            "    if (fvm_event[event].sender != sender_domain",
            "if (fvm_event[event].sender != sender_domain",
        ),
    ),
)
ANY_LINE = Mutant(
    "lets a VM close a line of another",
    "kernel/interrupt.c",
    (
        (
            "FVM_VM_LINES == 0 || &vcpu_table[route->target] != vcpu ||\n"
            "        vcpu->line[route->virt_id] != line",
            "route->kind == FVM_ROUTE_NONE",
        ),
    ),
)
DIVIDES_BY_ZERO = Mutant(
    "divides by zero",
    "arch/armv7m/cpu.c",
    (("SCB_CCR_STKALIGN | SCB_CCR_DIV_0_TRP", "SCB_CCR_STKALIGN"),),
)
LINE_LEFT_OPEN = Mutant(
    "leaves a line open while its VM serves it",
    "kernel/interrupt.c",
    (("    line_arch_close(line);\n    if (FVM_VM_LINES == 0", "    if (FVM_VM_LINES == 0"),),
)
NO_BOOST = Mutant(
    "lets a VM that wakes wait for the others' slices",
    "kernel/turn.h",
    (("    vcpus.boosted |= vcpu->bit & vcpus.funded;\n", ""),),
)
TELLS_A_POINTER = Mutant(
    "leaves a pointer in a register",
    "arch/armv7m/entry.S",
    (
        (
            "    call hypercall_table, FVM_CALLS_OF_VM\n",
            # r3, which the guest library has nothing in
            "    call hypercall_table, FVM_CALLS_OF_VM\n    ldr r2, =cpu\n    str r2, [r1, #12]\n",
        ),
    ),
)


@dataclass(frozen=True)
class Control:
    """A crime, the mechanism that is missing (None: memory protection), what must break."""

    crime: str
    missing: Mutant | None
    breaks: str
    short: bool = False  # part of the short form of the campaign

    @property
    def name(self) -> str:
        return f"{self.crime}, {self.missing.name if self.missing else UNPROTECTED}"


CONTROLS = [
    Control("C01 handler mode", UNSANITISED, "O1", short=True),
    Control("C02 claims an FPU frame without FPU", BIT_4_TRUSTED, "O1"),
    Control("C02 FPU frame, all but the basic part outside", None, "O4"),
    Control("C04 exception number, again and again", MSP_KEPT, "O1"),
    Control("C05 the witness", None, "O6", short=True),
    Control("C06 frame of the witness", None, "O6"),
    Control("S22 stack in the witness", None, "O6"),
    Control("C21 to a frame of the witness", None, "O6", short=True),
    Control("C21 into the witness", LATE_RESULT, "O6"),
    Control("C22 call whose number is stacked, and FPU registers are not", REMEMBERS, "O4"),
    Control("S04 reads the witness's RAM", None, "O6"),
    Control("S05 writes the witness's RAM", None, "O6", short=True),
    Control("S05 a process writes the witness's RAM", None, "O6"),
    Control("S06 reads the kernel's RAM", None, "O6"),
    Control("S07 writes the kernel's RAM", None, "O1"),
    Control("S07 writes the kernel's stack", None, "O3", short=True),
    Control("S08 writes its own vCPU", None, "O4"),
    Control("S11 reads the kernel's flash", None, "O6"),
    Control("S12 reads the witness's USART", None, "O6"),
    Control("S13 stops the witness's timer", None, "O1", short=True),
    Control("S13 switches the witness's USART off", None, "O4"),
    Control("S14 moves the vector table", PRIVILEGED, "O3"),
    Control("S14 closes the witness's line", PRIVILEGED, "O1"),
    Control("S14 resets the chip", PRIVILEGED, "O1", short=True),
    Control("S15 switches the MPU off", PRIVILEGED, "O4"),
    Control("S16 around own ram", None, "O4"),
    Control("S17 multiples across an edge", None, "O4"),
    Control("S18 a hole of subregions", None, "O6"),
    Control("S19 executes its own RAM", None, "O5"),
    Control("S20 calls the witness", None, "O6"),
    Control("S23 mask call, stack in the kernel", None, "O4"),
    Control("S24 two words outside", None, "O1"),
    Control("S25 recursion without end", None, "O1"),
    Control("S28 writes the witness by its bit-band alias", None, "O6"),
    Control("S30 writes what it may only read", None, "O4"),
    Control("C07 takes the processor", PRIVILEGED, "O1", short=True),
    Control("C08 masks, sleeps, signals", PRIVILEGED, "O1"),
    Control("C09 every number", ANY_NUMBER, "O7", short=True),
    Control("C10 capabilities out of the table, and of another type", ANY_TYPE, "O7"),
    Control("C11 call with half of the frame outside", None, "O5"),
    Control("C12 numbers at the ends of their ranges", ANY_EVENT, "O7"),
    Control("C14 registration after lockdown", NOT_LOCKED, "O7"),
    Control("C15 the witness's line", ANY_LINE, "O1"),
    Control("C16 division by zero", DIVIDES_BY_ZERO, "O4"),
    Control("C17 vector to the witness", None, "O6"),
    Control("T01 loop", NO_BOOST, "O1"),
    Control("T10 line that is never cleared", LINE_LEFT_OPEN, "O1"),
    Control("F03 claims lazy stacking", PRIVILEGED, "O3"),
    Control("F04 registers after a call of the kernel", TELLS_A_POINTER, "O7"),
    Control("F06 500 flipped bits from seed 1000", UNSANITISED, "O1", short=True),
    Control("C22 reboot call, stack in a device", FRAME_UNCHECKED, "O5"),
    Control("F01 registers after the witness used them", FPU_KEPT, "O6", short=True),
    Control("F07 FPU part of the frame in the witness", None, "O1", short=True),
    Control("F07 FPU part of the frame in the witness", LAZY, "O1"),
]


def changed_system(base: Built, missing: Mutant | None, rooms: Path) -> Built:
    """The system without a mechanism, built in a folder of its own unless it is there."""
    name = missing.name if missing else UNPROTECTED
    room = rooms / name
    if not room.exists():
        return build_changed(base, missing, room)
    return Built(room, room.with_suffix(".xml") if missing is None else base.description)


def build_changed(base: Built, missing: Mutant | None, room: Path) -> Built:
    if missing is None:
        off = 'report="250ms" protection="off"'
        return described_otherwise(base, room, 'report="250ms"', off)
    return with_other_kernel(base, room, missing.file, *missing.changes)


def noticed(changed: Built, control: Control) -> list[str]:
    """What doesn't hold in the changed system."""
    crime = next(crime for crime in CRIMES if crime.name == control.crime)
    return judge(changed, crime, commit(changed, crime, patience=HANGS))


def is_noticed(changed: Built, control: Control) -> bool:
    return any(line.startswith(control.breaks) for line in noticed(changed, control))
