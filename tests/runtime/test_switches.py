"""What holds after every switch of the kernel: the MPU is that of the running domain's table, and
the processor sleeps when nobody has work."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.built import Built, once, with_other_kernel
from tests.support.counted import Transcript, run

CONSOLES = {"hard": 1, "soft": 2}

# A kernel that compares all MPU registers with the table after each switch, of domains or within
# one, and resets the chip when they differ. RNR is free: every load names its regions itself.
COMPARE = """
void compare_protection(const struct thread *thread);
__attribute__((used)) void compare_protection(const struct thread *thread)
{
    const struct fvm_protection *table = &thread->domain->protection;
    for (uint32_t n = 0; n < 8; n++) {
        MPU_RNR = n;
        uint32_t base = SCS_REGISTER(0xE000ED9Cu);
        uint32_t attributes = MPU_RASR;
        if ((base ^ table->region[n].rbar) >> 5 != 0 || attributes != table->region[n].rasr) {
            cpu_arch_reset();
        }
    }
    if (SCB_CPACR != table->cpacr) {
        cpu_arch_reset();
    }
}
"""
CALL = """    push {r0-r3, r12, lr}
    mov r0, r3
    bl compare_protection
    pop {r0-r3, r12, lr}
"""
LOADED = "    isb\n    ldrd r0, r12, [r3, #THREAD_CONTEXT]\n"
KEPT = "same_domain:\n    str r3, [r1, #CPU_CURRENT]\n"
STRAY = """    movs r0, #7
    ldr r4, =0xE000ED98
    str r0, [r4]
    movs r0, #0x13
    str r0, [r4, #8]
"""
ENTRY = "arch/armv7m/entry.S"
BEFORE = "bool protection_arch_active(void)"


def checking(
    system: Callable[[str], Built], factory: pytest.TempPathFactory, name: str, stray: str
) -> Transcript:
    built = once(
        factory,
        name,
        lambda room: with_other_kernel(
            system("tasks"),
            room,
            "arch/armv7m/protection.c",
            (BEFORE, COMPARE + BEFORE),
            also=[
                (ENTRY, LOADED, "    isb\n" + stray + CALL + LOADED.partition("\n")[2]),
                (ENTRY, KEPT, KEPT + CALL),
            ],
        ),
    )
    return run(built.elf, CONSOLES, 3000)


def boots(transcript: Transcript) -> int:
    return sum(record.text.startswith("fvm: boot") for record in transcript.log)


def test_the_mpu_equals_the_table_after_every_switch(
    system: Callable[[str], Built], tmp_path_factory: pytest.TempPathFactory
) -> None:
    transcript = checking(system, tmp_path_factory, "tasks with compared MPU", "")
    assert transcript.reached
    assert boots(transcript) == 1
    assert all(transcript.values(vm)["done"] == 1 for vm in CONSOLES)


@pytest.mark.campaign
def test_a_stray_region_is_noticed(
    system: Callable[[str], Built], tmp_path_factory: pytest.TempPathFactory
) -> None:
    transcript = checking(system, tmp_path_factory, "tasks with stray region", STRAY)
    assert not transcript.reached


def host_seconds(image: Path) -> float:
    """Processor time that QEMU takes for some real time of the system."""
    arguments = ["qemu-system-arm", "-M", "netduinoplus2", "-display", "none", "-monitor", "none"]
    process = subprocess.Popen(
        [*arguments, "-serial", "null", "-kernel", str(image)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    time.sleep(1.5)
    process.kill()
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = -9
    return usage.ru_utime + usage.ru_stime


def test_the_processor_sleeps_when_every_vm_waits(
    system: Callable[[str], Built], tmp_path: Path
) -> None:
    busy = system("shares")
    image = busy.patched(tmp_path / "busy.elf", {busy.symbol("first", "plan"): 1})
    idle = system("access").elf
    # Other work on the host distorts both: one clear difference is enough.
    assert any(host_seconds(idle) < 0.6 * host_seconds(image) for _ in range(3))
