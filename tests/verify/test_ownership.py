"""Every thread goes on with its own registers: kernels of all kinds are shown to keep to it, and
each wrong way to save or restore is found in those whose switches have it.

In CI a few kernels and a part of the mutants; with FVM_FULL all, at every level.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from composer.verify.analysis import Analysis
from composer.verify.checks.ownership import watch_of, watched
from composer.verify.findings import Unreadable
from composer.verify.ownership.exits import System
from tests.runtime.conftest import SYSTEMS
from tests.runtime.test_longest import VMS
from tests.support.campaign import FULL
from tests.verify.kernels import Alone, composed, with_other_source
from tests.verify.mutation import Mutant
from tests.verify.register_mutants import register_mutants

pytestmark = pytest.mark.campaign

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# Held lines and lines of processes; ports and an FPU for all; no FPU; run-time objects.
WITH_VMS = "invocation with VMs"
FEW = ("asleep", WITH_VMS, "mps2", "run-time")
DESCRIPTIONS = {
    **{path.stem: path for path in sorted(SYSTEMS.glob("*.xml")) if FULL or path.stem in FEW},
    WITH_VMS: SYSTEMS / "invocation.xml",
    **{path.parent.name: path for path in sorted(EXAMPLES.glob("*/system.xml")) if FULL},
}
LEVELS = ("0", "1", "2", "3", "s") if FULL else ("2",)
SHARE = 10_000 if FULL else 12


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Alone]:
    """The kernel of a system of the tests, or of an example."""
    known: dict[tuple[str, str], Alone] = {}
    room = tmp_path_factory.mktemp("kernels")

    def make(name: str, level: str = "2") -> Alone:
        if (name, level) not in known:
            more = VMS if name == WITH_VMS else ""
            folder = room / f"{name} {level}"
            known[name, level] = composed(DESCRIPTIONS[name], folder, level, more)
        return known[name, level]

    return make


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_it_is_shown_of_a_good_kernel(
    alone: Callable[[str, str], Alone], name: str, level: str
) -> None:
    assert alone(name, level).findings() == ()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", FEW)
def test_every_wrong_save_and_restore_is_found(alone: Callable[[str], Alone], name: str) -> None:
    kernel = alone(name)
    mutants = [m for m in register_mutants(kernel) if not is_harmless(kernel, m)]
    assert len(mutants) >= 200
    chosen = random.Random(5).sample(mutants, min(SHARE, len(mutants)))
    missed = [
        mutant.what
        for mutant in chosen
        if not is_found(Analysis(kernel.patched(mutant.patches)), kernel.system)
    ]
    assert missed == []


UNCHANGED = ("apart", "signal_saved", "wait_saved", "wait_for_vm", "invocation_long")


def is_harmless(kernel: Alone, mutant: Mutant) -> bool:
    """What changes nothing in this system. No way to those places has used r11; PendSV doesn't come
    to `again` but for lines that are held; without FPU for anybody nobody has such registers, and
    a caller gets the same lr, whatever was kept of it."""
    (address,) = mutant.patches
    place = kernel.label(address)
    if "without r11" in mutant.what and place in UNCHANGED and "!" not in mutant.what:
        return True
    if "without r14" in mutant.what and place == "invocation_return":
        return not kernel.system.process_fpu
    if "cpsie" in mutant.what and place == "again":
        return not kernel.holds_lines
    fpu = kernel.system.vms or kernel.system.process_fpu
    return place == "other_thread" and not fpu and ("vstmia" in mutant.what or "bne" in mutant.what)


def is_found(analysis: Analysis, system: System) -> bool:
    """Whether a handler isn't shown to be right; those behind it aren't looked at then."""
    try:
        return next(watched(analysis, watch_of(analysis, system)), None) is not None
    except Unreadable:
        return True


def found_in(kernel: Alone, room: Path, file: str, old: str, new: str) -> tuple[str, ...]:
    """What is found where a source reads differently."""
    return with_other_source(kernel, room / "changed", file, old, new).findings()


ENTRY = "arch/armv7m/entry.S"
JUDGED = (
    "lr, lr, #EXC_RETURN_BASIC_FRAME\n    orr lr, lr, r12\n    msr psp, r1\n    cpsie i\n"
    "#if FVM_FPU\n"
)


def test_the_deferred_work_is_masked(alone: Callable[[str], Alone], tmp_path: Path) -> None:
    """What it looks at may change in an interrupt, and no other entry finds it half done."""
    old = "    wait_for_stores\n    cpsid i\n"
    found = found_in(alone("asleep"), tmp_path, ENTRY, old, "    wait_for_stores\n")
    assert any("PendSV: the deferred work may be interrupted" in it for it in found), found


def test_the_last_process_that_sleeps_keeps_its_registers(
    alone: Callable[[str], Alone], tmp_path: Path
) -> None:
    """A wait of a process has used r8 to r10 when it finds that other lines are to be held."""
    (found,) = found_in(
        alone("asleep"),
        tmp_path,
        ENTRY,
        "    ldmia r0, {r4-r11}          /* whoever came here used which it wanted */",
        "    ldmia r0, {r4-r7}",
    )
    assert found.startswith("SVCall: r8, r9, r10 of the interrupted thread changed, at 0x")


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "finding"),
    [
        (
            "asleep",
            "kernel/scheduler.c",
            "    thread->state = state;\n",
            '    thread->state = state;\n    __asm volatile("mov r8, #0");\n',
            "returns with another r8",
        ),
        (
            "asleep",
            "kernel/scheduler.c",
            "    thread->state = state;\n",
            "    thread->state = state;\n"
            '    __asm volatile(".fpu fpv4-sp-d16\\n\tvmov s16, r0\\n\t.fpu softvfp");\n',
            "a function works on floating-point registers",
        ),
        (
            "asleep",
            ENTRY,
            "    str r12, [r0]\n#if FVM_FPU\n    tst lr, #EXC_RETURN_BASIC_FRAME\n    bne",
            "    str r12, [r0, #4]\n#if FVM_FPU\n    tst lr, #EXC_RETURN_BASIC_FRAME\n    bne",
            "psp of the interrupted thread isn't in its context",
        ),
        (
            "asleep",
            ENTRY,
            "    tst lr, #EXC_RETURN_PSP     /* not from a thread: PendSV",
            "    tst lr, #8 /*",
            "what was interrupted may be no thread",
        ),
        (
            WITH_VMS,
            "arch/armv7m/invocation.inc",
            "    ldmia r0, {r4-r11}          /* what its domain left there */\n",
            "",
            "r4, r5, r6, r7, r8, r9, r10, r11 isn't from the context of the thread that runs next",
        ),
        (
            WITH_VMS,
            "arch/armv7m/invocation.inc",
            "    adds r2, #4\n",
            "",
            "S16 to S31 aren't from the context of the thread that runs next",
        ),
        (  # what a VM without FPU wrote itself tells nothing
            WITH_VMS,
            ENTRY,
            f"    and {JUDGED}    tst lr, #EXC_RETURN_BASIC_FRAME\n",
            f"    ands {JUDGED}",
            "it isn't known whether the next thread has floating-point registers",
        ),
    ],
    ids=[
        "C that clobbers",
        "C on the FPU",
        "wrong slot",
        "not of a thread",
        "a leak",
        "S16 moved",
        "a VM's word alone",
    ],
)
def test_a_changed_source_is_found(
    alone: Callable[[str], Alone],
    tmp_path: Path,
    name: str,
    file: str,
    old: str,
    new: str,
    finding: str,
) -> None:
    found = found_in(alone(name), tmp_path, file, old, new)
    assert any(finding in line for line in found), found
