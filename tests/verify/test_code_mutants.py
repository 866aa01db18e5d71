"""Patched code: of the kernel, of a VM's start-up, and instructions that a guest must not hold."""

from __future__ import annotations

import struct
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from pathlib import Path

import pytest
from capstone import CS_ARCH_ARM, CS_MODE_MCLASS, CS_MODE_THUMB, Cs

from composer.verify.analysis import PENDSV, RESET, analysis_of, kernel_of
from composer.verify.checks.files import check_parts
from composer.verify.checks.guests import check_guests
from composer.verify.checks.lockdown import check_lockdown
from composer.verify.code.effects import Access
from composer.verify.code.follow import Summary
from composer.verify.findings import limited
from composer.verify.subject import sha256
from scanner.image.elf import load_elf
from scanner.waivers import Waiver
from tests.support.built import Built
from tests.support.example import MOTOR, SENSOR
from tests.verify.mutation import Mutant, Original, caught, caught_in_code

pytestmark = pytest.mark.campaign

NOP, SELF, CPSID, UDF = b"\x00\xbf", b"\xfe\xe7", b"\x72\xb6", b"\xff\xde"

MPU_TYPE = 0xE000ED90


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

    def all(self, function: str, wanted: str) -> list[int]:
        """Addresses of the instructions of a function that are this."""
        extent = self.built.extent(self.part, function)
        found = []
        for start in range(extent.start, extent.stop, 2):
            data = self.original.subject.memory.find(start, 4)
            instruction = next(self.engine.disasm(data or b"", start), None)
            if instruction and f"{instruction.mnemonic} {instruction.op_str}" == wanted:
                found.append(start)
        assert found, f"{function} has no {wanted}"
        return found

    def call(self, caller: str, callee: str) -> int:
        """Address of a call."""
        target = self.built.symbol(self.part, callee)
        return self.first(caller, f"bl #0x{target:x}")[0]


class Kernel(Code):
    """The kernel, whose functions may be expanded in each other: places by what is done there."""

    def __init__(self, original: Original, built: Built) -> None:
        super().__init__(original, built, "kernel")
        self.analysis = analysis_of(kernel_of(original.subject))

    def summary(self, vector: int) -> Summary:
        return self.analysis.reset if vector == RESET else self.analysis.handlers[vector]

    def stores(self, vector: int, place: int | range, value: int | None = None) -> list[Access]:
        """The stores of an exception, reset too, to a place."""
        places = place if isinstance(place, range) else (place,)
        found = [
            store
            for store in self.summary(vector).stores()
            if isinstance(store.place, int)
            and store.place in places
            and value in (None, store.value)
        ]
        assert found
        return found

    def without(self, stores: list[Access]) -> dict[int, bytes]:
        """A patch that takes them away."""
        patch = {}
        for address in {store.at for store in stores}:
            data = self.original.subject.memory.find(address, 4)
            assert data is not None
            size = next(self.engine.disasm(data, address)).size
            patch[address] = NOP * (size // 2)
        return patch

    def at(self, function: str, data: bytes) -> dict[int, bytes]:
        """A patch of the start of a function."""
        return {self.built.symbol("kernel", function): data}

    def literal(self, function: str, value: range, by: int) -> dict[int, bytes]:
        """A patch of the one constant of a function that is a word behind its code."""
        extent = self.built.extent("kernel", function)
        words = {a: self.original.read(a) for a in range(extent.start & ~3, extent.stop, 4)}
        ((address, word),) = [(a, w) for a, w in words.items() if w in value]
        return {address: struct.pack("<I", word + by)}

    def signal_words(self) -> range:
        """What line 37 stores of its signal, line 38 has another one."""
        ram = self.original.subject.ram_of("kernel")
        own, other = ({s.place for s in self.stores(16 + line, ram)} for line in (37, 38))
        first = min(place for place in own - other if isinstance(place, int))
        return range(first, first + 8)


def unit_not_looked_for(code: Kernel) -> dict[int, bytes]:
    """Where reset reads how many regions there are, it takes it that there are eight."""
    loads = {
        effect.at
        for effect in code.summary(RESET).effects
        if isinstance(effect, Access) and effect.place == MPU_TYPE
    }
    patch = {}
    for address in loads:
        data = code.original.subject.memory.find(address, 4)
        instruction = next(code.engine.disasm(data or b"", address))
        assert instruction.size == 4
        target = int(instruction.op_str.split(",")[0][1:])
        patch[address] = struct.pack("<HH", 0xF640, target << 8)  # movw target, #0x800
    return patch


def other_signal(code: Kernel) -> dict[int, bytes]:
    """The stub has the place of the signal, or its index for a function that sends."""
    extent, words = code.built.extent("kernel", "fvm_stub_37"), code.signal_words()
    if any(code.original.read(a) in words for a in range(extent.start & ~3, extent.stop, 4)):
        return code.literal("fvm_stub_37", words, 12)
    index = code.original.subject.expected.routes()[37].target
    return {code.first("fvm_stub_37", f"movs r0, #{index}")[0]: bytes((index + 1, 0x20))}


KERNEL: dict[str, tuple[str, Callable[[Kernel], dict[int, bytes]]]] = {
    "the protection unit is never asked for": ("start", unit_not_looked_for),
    "deferred work as urgent as interrupts": (
        "start",
        lambda code: code.literal("kernel_main", range(0x80F00000, 0x80F00001), -0x700000),
    ),
    "a stub that never ends": ("stubs", lambda code: code.at("interrupt_dispatch", SELF)),
    "a loop in what a stub and the tick call": (
        "handlers",
        lambda code: {code.built.symbol("kernel", "enter"): SELF},
    ),
    "a stub that doesn't close its line": (
        "stubs",
        lambda code: code.without(code.stores(16 + 37, range(0xE000E180, 0xE000E1C0))),
    ),
    "a stub that doesn't deliver": (
        "stubs",
        lambda code: code.without(code.stores(16 + 37, code.signal_words())),
    ),
    "a function that returns to anywhere": (
        "handlers",
        lambda code: {code.built.symbol("kernel", "enter"): b"\x00\x47"},
    ),
    "a line's own stub that sends another signal": ("stubs", other_signal),
    "a store to flash in a stub": (
        "stubs",
        lambda code: code.at("interrupt_dispatch", b"\x7b\x46\x18\x60"),
    ),
    "a tick that defers nothing": (
        "handlers",
        lambda code: code.without(
            [s for s in code.stores(15, 0xE000ED04) if s not in code.summary(15).own]
        ),
    ),
    "threads that keep their privilege": (
        "handlers",
        lambda code: {code.first("start_stub", "orr")[0]: NOP * 2},
    ),
    "a supervisor call without the caller's stack": (
        "handlers",
        lambda code: {code.first("call_stub", "mrs")[0]: NOP * 2},
    ),
    "a fault handler that forgets the status": (
        "handlers",
        lambda code: code.at("fault_entry", b"\x70\x47"),
    ),
    "a fault handler that takes its word for EXC_RETURN from the guest": (
        "handlers",
        lambda code: {code.first("fault_stub", "mov r1, lr")[0]: NOP},
    ),
    "an NMI that returns": ("handlers", lambda code: code.at("unused_entry", b"\x70\x47")),
    "protection that isn't switched with the domain": (
        "handlers",
        lambda code: code.without(code.stores(PENDSV, 0xE000ED94, 5)),
    ),
}


@pytest.mark.parametrize("what", KERNEL)
def test_a_patched_kernel_is_found(original: Original, example: Built, what: str) -> None:
    check, patch = KERNEL[what]
    found = caught_in_code(original.mutated(Mutant(what, patch(Kernel(original, example)))))
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


def test_a_waiver_covers_one_finding_in_one_part(original: Original, tmp_path: Path) -> None:
    """The part's ELF is changed like the image, so that it is the one the waiver names."""
    index = original.subject.expected.names.index(MOTOR)
    entry = original.read(original.tables.domains[index].flash_base + 8) & ~1
    subject = original.mutated(Mutant("cpsid i", {entry + 2: CPSID}))
    part = subject.part(MOTOR)
    elf = bytearray((subject.manifest.folder / part.elf).read_bytes())
    segment = next(s for s in load_elf(bytes(elf)).segments if s.address <= entry < s.end)
    assert segment.offset is not None
    at = segment.offset + entry + 2 - segment.address
    elf[at : at + 2] = CPSID
    folder = tmp_path / "image"
    folder.mkdir()
    copy = (folder / part.elf).resolve()
    copy.parent.mkdir()
    copy.write_bytes(elf)
    subject = replace(subject, manifest=replace(subject.manifest, folder=folder))
    (found,) = limited(check_guests(subject))
    assert f"'{MOTOR}': cps at 0x{entry + 2:08x}" in found
    waiver = Waiver(sha256(bytes(elf)), "cps", entry + 2, "reviewed")
    assert not limited(check_guests(replace(subject, waivers=(waiver,))))
    for other in (replace(waiver, image="0" * 64), replace(waiver, address=entry)):
        assert limited(check_guests(replace(subject, waivers=(other,))))


def test_a_good_image_needs_no_elf(original: Original, tmp_path: Path) -> None:
    manifest = replace(original.subject.manifest, folder=tmp_path)
    assert caught(replace(original.subject, manifest=manifest)) is None


@pytest.mark.parametrize("name", [MOTOR, SENSOR])
def test_data_that_looks_like_an_instruction_is_data(
    original: Original, tmp_path: Path, name: str
) -> None:
    """Without the ELF too: nothing leads there."""
    stored = original.subject.part(name).segments[0]
    data = original.subject.memory.find(stored.load, stored.size)
    assert data is not None
    text = next(n for n in range(0, len(data) - 6, 2) if data[n : n + 6].isalpha())
    subject = original.mutated(Mutant("text", {stored.load + text + 2: CPSID}))
    manifest = replace(subject.manifest, folder=tmp_path)
    subject = replace(subject, manifest=manifest)
    assert limited(check_guests(subject)) == ()
    expected = copy(subject.expected)
    expected.domains = tuple(
        replace(domain, strict=domain.name == name) for domain in expected.domains
    )
    findings = limited(check_guests(replace(subject, expected=expected)))
    assert any(f.startswith(f"'{name}': cps at 0x{stored.load + text + 2:08x}") for f in findings)


@pytest.mark.parametrize("name", [MOTOR, SENSOR])
def test_initial_data_is_part_of_the_image(original: Original, name: str) -> None:
    (data,) = (s for s in original.subject.part(name).segments if s.size and s.load != s.run)
    old = original.read(data.load)
    subject = original.mutated(Mutant("data", {data.load: struct.pack("<I", old ^ 1)}))
    assert any(f"'{name}'" in finding for finding in limited(check_parts(subject)))
