"""A fault of the hypervisor resets the chip: nobody else could decide what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from capstone import CS_ARCH_ARM, CS_MODE_MCLASS, CS_MODE_THUMB, Cs

from tests.support.built import Built
from tests.support.machine import Machine

UNDEFINED = 0xDEFFDEFF  # udf, twice
LOOP = 1  # what the VM that goes wrong is told: fault at once


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
    with Machine(reboots.patched(tmp_path / "system.elf", words), {"log": 6}) as machine:
        lines = [machine.console["log"].read_line(20) for _ in range(6)]
    # A reset may cut a line short, and the next one then begins behind it.
    assert sum(line.count("fvm: boot ") for line in lines) > 1
