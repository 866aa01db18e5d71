"""A fault of the hypervisor resets the chip: nobody else could decide what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from capstone import CS_ARCH_ARM, CS_MODE_MCLASS, CS_MODE_THUMB, Cs

from tests.support.built import Built
from tests.support.machine import Machine

UNDEFINED = 0xDEFFDEFF  # udf, twice
LOOP = 1  # what the VM that goes wrong is told: fault at once
PATIENCE = 120  # seconds: of a busy host
ENDS_AT_RESET = ("-no-reboot",)


def after_first_wait(system: Built) -> int:
    """The hypervisor's fault thread gets here when a VM faulted."""
    code = system.extent("hypervisor", "hyp_fault_thread")
    elf = (system.folder / "hypervisor" / "hypervisor.elf").read_bytes()
    flash = system.memory("hypervisor", "code")
    (start,) = (n for n in range(0, 0x20000, 0x1000) if elf[n : n + 4] == b"FVMD")
    data = elf[start + code.start - flash.start : start + code.stop - flash.start]
    for instruction in Cs(CS_ARCH_ARM, CS_MODE_THUMB | CS_MODE_MCLASS).disasm(data, code.start):
        if instruction.mnemonic == "svc":
            return int(instruction.address) + int(instruction.size)
    raise AssertionError("the thread doesn't wait")


def test_a_fault_of_the_hypervisor_resets_the_chip(
    system: Callable[[str], Built], tmp_path: Path
) -> None:
    reboots = system("reboots")
    plan = reboots.symbol("wrong", "plan")
    words = {plan: LOOP, plan + 4: 60, after_first_wait(reboots): UNDEFINED}
    image = reboots.patched(tmp_path / "system.elf", words)
    with Machine(image, {"log": 6}, options=ENDS_AT_RESET) as machine:
        machine.read_to_end(PATIENCE)


def test_control_a_fault_of_a_vm_does_not(system: Callable[[str], Built], tmp_path: Path) -> None:
    reboots = system("reboots")
    plan = reboots.symbol("wrong", "plan")
    image = reboots.patched(tmp_path / "system.elf", {plan: LOOP, plan + 4: 60})
    with Machine(image, {"log": 6}, options=ENDS_AT_RESET) as machine:
        log = machine.console["log"]
        log.read_until(lambda line: line.startswith("fvm: fault domain=wrong "), PATIENCE)
        log.read_until(lambda line: line.startswith("fvm: stat "), PATIENCE)
