"""That the campaign can fail: the same crimes where the mechanism that stops them is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.crimes import CRIMES, commit
from tests.faults.observe import broken
from tests.support.built import Built, described_otherwise, once, with_other_kernel


@dataclass(frozen=True)
class Mutant:
    """A kernel that lacks one mechanism."""

    name: str
    file: str
    changes: tuple[tuple[str, str], ...]


UNSANITISED = Mutant(
    "resumes with the guest's EXC_RETURN",
    "arch/armv7m/entry.S",
    (("    and lr, lr, #0x10\n    orr lr, lr, r3\n", ""),),
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
            "        (void)vcpu_done(vcpu, served);\n",
            "        (void)vcpu_done(vcpu, served);\n"
            "        if (vcpu->request_argument[0] == 0x77u) {\n"
            "            vcpu->request_argument[0] = 0;\n"
            "            context_arch_result(context_arch_stack(vcpu->usr->context), FVM_OK);\n"
            "        }\n",
        ),
        (
            "        scheduler_block(thread, THREAD_WAITING);\n",
            "        scheduler_block(thread, THREAD_WAITING);\n"
            "        vcpu->request_argument[0] = thread == vcpu->usr ? 0x77u : 0;\n",
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
    "kernel/domain.c",
    (
        (
            "return (address & 3u) == 0 && offset < domain->ram_size &&"
            " domain->ram_size - offset >= size;",
            "(void)size;\n    return (address & 3u) == 0 || offset < 0xFFFFFFFFu;",
        ),
    ),
)


@dataclass(frozen=True)
class Control:
    """A crime, the mechanism that is missing (None: memory protection), what must break."""

    crime: str
    missing: Mutant | None
    breaks: str


CONTROLS = [
    Control("C01 handler mode", UNSANITISED, "O1"),
    Control("C02 claims an FPU frame without FPU", BIT_4_TRUSTED, "O1"),
    Control("C02 FPU frame, all but the basic part outside", None, "O4"),
    Control("C04 exception number, again and again", MSP_KEPT, "O1"),
    Control("C05 the witness", None, "O6"),
    Control("C06 frame of the witness", None, "O6"),
    Control("S22 stack in the witness", None, "O6"),
    Control("C21 to a frame of the witness", None, "O6"),
    Control("C21 into the witness", LATE_RESULT, "O6"),
    Control("C22 reboot call, stack in the witness", REMEMBERS, "O1"),
    Control("C22 reboot call, stack in a device", FRAME_UNCHECKED, "O5"),
    Control("F01 registers after the witness used them", FPU_KEPT, "O6"),
    Control("F07 FPU part of the frame in the witness", None, "O1"),
    Control("F07 FPU part of the frame in the witness", LAZY, "O1"),
]


@pytest.mark.parametrize(
    "control",
    CONTROLS,
    ids=lambda c: f"{c.crime}, {c.missing.name if c.missing else 'no protection'}",
)
def test_without_the_mechanism_it_is_noticed(
    campaign: Built, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, control: Control
) -> None:
    mutant = control.missing
    if mutant is None:
        changed = once(
            tmp_path_factory,
            "campaign unprotected",
            lambda room: described_otherwise(
                campaign, room, 'report="250ms"', 'report="250ms" protection="off"'
            ),
        )
    else:
        changed = once(
            tmp_path_factory,
            f"campaign that {mutant.name}",
            lambda room: with_other_kernel(campaign, room, mutant.file, *mutant.changes),
        )
    crime = next(crime for crime in CRIMES if crime.name == control.crime)
    transcript = commit(changed, crime, tmp_path)
    found = broken(transcript, crime.by, crime.expected(changed))
    assert any(line.startswith(control.breaks) for line in found), found
