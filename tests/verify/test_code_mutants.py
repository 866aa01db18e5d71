"""Patched code: of the kernel, of a VM's start-up, and instructions that a guest must not hold."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from capstone import CS_ARCH_ARM, CS_MODE_MCLASS, CS_MODE_THUMB, Cs

from composer.verify.checks.files import check_parts
from composer.verify.checks.guests import check_guests
from composer.verify.checks.lockdown import check_lockdown
from composer.verify.findings import limited
from tests.support.built import Built
from tests.support.example import MOTOR, SENSOR
from tests.verify.mutation import Mutant, Original, caught, caught_in_code

NOP, SELF, CPSID, UDF = b"\x00\xbf", b"\xfe\xe7", b"\x72\xb6", b"\xff\xde"


@pytest.fixture(scope="session")
def original(example: Built) -> Original:
    return Original(example)


class Code:
    """A part's functions, to find the instruction that a mutant changes."""

    def __init__(self, original: Original, built: Built, part: str) -> None:
        self.original, self.built, self.part = original, built, part
        self.engine = Cs(CS_ARCH_ARM, CS_MODE_THUMB | CS_MODE_MCLASS)

    def first(self, function: str, wanted: str) -> tuple[int, int]:
        """Address and size of the first instruction of a function that begins like this."""
        start = self.built.symbol(self.part, function)
        data = self.original.subject.memory.find(start, 256)
        assert data is not None
        for instruction in self.engine.disasm(data, start):
            if f"{instruction.mnemonic} {instruction.op_str}".startswith(wanted):
                return instruction.address, instruction.size
        raise AssertionError(f"{function} has no {wanted}")

    def call(self, caller: str, callee: str) -> int:
        """Address of a call."""
        target = self.built.symbol(self.part, callee)
        return self.first(caller, f"bl #0x{target:x}")[0]


KERNEL: dict[str, tuple[str, Callable[[Code], tuple[int, bytes]]]] = {
    "the protection unit is told to stay off": (
        "start",
        lambda code: (code.call("kernel_main", "protection_arch_init") - 2, b"\x00\x20"),
    ),
    "the protection unit is never asked for": (
        "start",
        lambda code: (code.call("kernel_main", "protection_arch_init"), NOP * 2),
    ),
    "a stub that never ends": (
        "stubs",
        lambda code: (code.built.symbol("kernel", "interrupt_dispatch"), SELF),
    ),
    "a loop in what a stub and the tick call": (
        "handlers",
        lambda code: (code.built.symbol("kernel", "scheduler_choose"), SELF),
    ),
    "a stub that doesn't close its line": (
        "stubs",
        lambda code: (code.call("interrupt_dispatch", "line_arch_close"), NOP * 2),
    ),
    "a stub that doesn't deliver": (
        "stubs",
        lambda code: (code.call("fvm_stub_37", "signal_send"), NOP * 2),
    ),
    "a function that returns to anywhere": (
        "handlers",
        lambda code: (code.built.symbol("kernel", "line_arch_close"), b"\x00\x47"),
    ),
    "a line's own stub that sends another signal": (
        "stubs",
        lambda code: (code.first("fvm_stub_37", "movs r0, #")[0], b"\x00\x20"),
    ),
    "a store to flash in a stub": (
        "stubs",
        lambda code: (code.built.symbol("kernel", "line_arch_close"), b"\x7b\x46\x18\x60"),
    ),
    "threads that keep their privilege": (
        "handlers",
        lambda code: (code.first("start_stub", "orr")[0], NOP * 2),
    ),
    "a supervisor call without the caller's stack": (
        "handlers",
        lambda code: (code.first("call_stub", "mrs")[0], NOP * 2),
    ),
    "a fault handler that forgets the status": (
        "handlers",
        lambda code: (code.built.symbol("kernel", "fault_entry"), b"\x70\x47"),
    ),
    "an NMI that returns": (
        "handlers",
        lambda code: (code.built.symbol("kernel", "unused_entry"), b"\x70\x47"),
    ),
    "protection that isn't switched with the domain": (
        "handlers",
        lambda code: (code.built.symbol("kernel", "protection_arch_load"), b"\x70\x47"),
    ),
}


@pytest.mark.parametrize("what", KERNEL)
def test_a_patched_kernel_is_found(original: Original, example: Built, what: str) -> None:
    check, patch = KERNEL[what]
    address, data = patch(Code(original, example, "kernel"))
    found = caught_in_code(original.mutated(Mutant(what, {address: data})))
    assert found is not None
    assert found.startswith(f"{check}: "), found


@pytest.mark.parametrize("name", [MOTOR, SENSOR])
@pytest.mark.parametrize("call", ["hyp_vct_lck", "hyp_vct_evt", "hyp_evt_add"])
def test_a_start_up_without_a_registration_or_lock(
    original: Original, example: Built, name: str, call: str
) -> None:
    address = Code(original, example, name).call("usr_start", call)
    subject = original.mutated(Mutant(call, {address: b"\x00\x20" + NOP}))
    findings = limited(check_lockdown(subject))
    assert findings
    assert all(finding.startswith(f"'{name}': ") for finding in findings)


@pytest.mark.parametrize("name", [MOTOR, SENSOR, "hypervisor", "heartbeat"])
def test_code_of_a_domain_that_is_not_its_elf(
    original: Original, example: Built, name: str
) -> None:
    """Confined by the regions, so it harms nobody else; but nobody built it."""
    flash = original.subject.flash_of(name)
    for address in range(flash.start + 0x100, flash.start + 0x120, 8):
        old = original.subject.memory.find(address, 1)
        assert old is not None
        subject = original.mutated(Mutant(name, {address: bytes([old[0] ^ 0x10])}))
        assert any(f"'{name}'" in finding for finding in limited(check_parts(subject)))


@pytest.mark.parametrize("name", [MOTOR, SENSOR, "hypervisor", "heartbeat"])
@pytest.mark.parametrize("at_hand", [True, False], ids=["with its ELF", "without"])
def test_a_forbidden_instruction_is_found(
    original: Original, tmp_path: Path, name: str, at_hand: bool
) -> None:
    index = original.subject.expected.names.index(name)
    row = original.tables.domains[index]
    entry = original.read(row.flash_base + 8) & ~1
    subject = original.mutated(Mutant("cpsid i", {entry + 2: CPSID}))
    if not at_hand:
        subject = replace(subject, manifest=replace(subject.manifest, folder=tmp_path))
    findings = limited(check_guests(subject))
    assert any(f"'{name}'" in f and "cpsid" in f.lower() for f in findings), findings


def test_a_good_image_needs_no_elf(original: Original, tmp_path: Path) -> None:
    manifest = replace(original.subject.manifest, folder=tmp_path)
    assert caught(replace(original.subject, manifest=manifest)) is None


@pytest.mark.parametrize("name", [MOTOR, SENSOR])
def test_initial_data_is_part_of_the_image(original: Original, name: str) -> None:
    (data,) = (s for s in original.subject.part(name).segments if s.size and s.load != s.run)
    old = original.read(data.load)
    subject = original.mutated(Mutant("data", {data.load: struct.pack("<I", old ^ 1)}))
    assert any(f"'{name}'" in finding for finding in limited(check_parts(subject)))
