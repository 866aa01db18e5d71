"""Single changes of a good image, and what verify says of each.

A mutant changes bytes of the image. Its manifest is made to fit (segments and file are hashed
again), as somebody would who changes an image on purpose; so what is tested are the checks that
know what an image means, not only the hashes. The ELFs of the parts are out of reach for a mutant.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from composer.chips.chip import load_chip
from composer.chips.family import family_of
from composer.description.parse import parse
from composer.verify.expected import Expected
from composer.verify.findings import limited
from composer.verify.formats import Loaded, load
from composer.verify.manifest import FileEntry, Manifest, read_manifest
from composer.verify.memory import Chunk, Memory
from composer.verify.policy import HEADER_BYTES, Policy, read_policy
from composer.verify.subject import Subject, sha256
from composer.verify.tables import SYSTEM_VECTORS, BootStep, Tables
from composer.verify.verify import CHECKS, CODE_CHECKS, in_code
from tests.support.built import Built

HASHES = ("hashes", "parts")
REGIONS, CPACR = 60, 124  # offsets in struct fvm_domain
SHAREABLE, TYPE, DEVICE = 1 << 18, 0x3B << 16, 1 << 16  # of RASR; TYPE without SHAREABLE


@dataclass(frozen=True)
class Mutant:
    """Bytes at addresses, and in words what they change."""

    what: str
    patches: Mapping[int, bytes]


def word(what: str, address: int, value: int) -> Mutant:
    """A mutant with another word."""
    return Mutant(what, {address: struct.pack("<I", value & 0xFFFFFFFF)})


def byte(what: str, address: int, value: int) -> Mutant:
    """A mutant with another byte."""
    return Mutant(what, {address: bytes([value & 0xFF])})


class Original:
    """A good image, taken apart."""

    def __init__(self, built: Built) -> None:
        image = built.elf
        content = image.read_bytes()
        system = parse(built.description)
        chip = load_chip(system.chip, system.place)
        manifest = read_manifest(image.with_suffix(".json"))
        self.subject = Subject(
            image, content, load(content, ".elf", manifest.base), manifest, system,
            sha256(built.description.read_bytes()), chip, Expected(system, chip),
        )  # fmt: skip

    @property
    def tables(self) -> Tables:
        """The tables of the good image."""
        return self.subject.tables

    @cached_property
    def policy(self) -> Policy:
        """The hypervisor's tables of the good image."""
        return read_policy(self.subject.memory, self.tables.domains[0].flash_base)

    def read(self, address: int) -> int:
        """A word of the good image."""
        value = self.subject.memory.word(address)
        assert value is not None
        return value

    def row(self, table: str, number: int) -> int:
        """Address of an element of a table."""
        sizes = {"domain": 128, "thread": 4, "vcpu": 24, "route": 4, "event": 5, "timer": 8,
                 "boot": 20, "pin": 12}  # fmt: skip
        return self.tables.places[table].start + sizes[table] * number

    def vector(self, number: int) -> int:
        """Address of a vector."""
        return self.subject.flash_of("kernel").start + 4 * number

    @cached_property
    def vectors(self) -> int:
        """How many there are."""
        return SYSTEM_VECTORS + self.subject.lines

    def mutated(self, mutant: Mutant) -> Subject:
        """The subject that verify meets when the image is a mutant's."""
        chunks = []
        for chunk in self.subject.memory.chunks:
            data = bytearray(chunk.data)
            for address, patch in mutant.patches.items():
                if chunk.base <= address and address + len(patch) <= chunk.end:
                    data[address - chunk.base : address - chunk.base + len(patch)] = patch
            chunks.append(Chunk(chunk.base, bytes(data)))
        memory = Memory(tuple(chunks))
        assert memory.chunks != self.subject.memory.chunks, f"{mutant.what}: nothing changed"
        return replace(
            self.subject,
            loaded=Loaded(memory, self.subject.loaded.entry),
            manifest=rehashed(self.subject.manifest, memory, self.subject.content),
        )


def rehashed(manifest: Manifest, memory: Memory, content: bytes) -> Manifest:
    """The manifest that link would write for these bytes."""
    parts = tuple(
        replace(
            part,
            segments=tuple(
                replace(s, sha256=sha256(memory.find(s.load, s.size) or b"")) if s.size else s
                for s in part.segments
            ),
        )
        for part in manifest.parts
    )
    files = dict.fromkeys(manifest.files, FileEntry(len(content), sha256(content)))
    return replace(manifest, parts=parts, files=files)


def caught(subject: Subject) -> str | None:
    """The first finding of a check that isn't about hashes."""
    for identity, _, finder in CHECKS:
        if identity not in HASHES:
            for finding in limited(finder(subject)):
                return f"{identity}: {finding}"
    return caught_in_code(subject)


def caught_in_code(subject: Subject) -> str | None:
    """The first finding about the kernel's code."""
    for identity, _, code_finder in CODE_CHECKS:
        for finding in limited(in_code(code_finder, subject)):
            return f"{identity}: {finding}"
    return None


def by_hashes(original: Original, mutant: Mutant) -> bool:
    """Whether a mutant is found by digests when its manifest was not made to fit."""
    subject = replace(original.mutated(mutant), manifest=original.subject.manifest)
    return any(limited(finder(subject)) for identity, _, finder in CHECKS if identity in HASHES)


# --- the mutants --------------------------------------------------------------------------------


def of_regions(original: Original) -> Iterator[Mutant]:
    """Every kind of change of every protection region."""
    for index, domain in enumerate(original.tables.domains):
        for number, (rbar, rasr) in enumerate(domain.regions):
            place = original.row("domain", index) + REGIONS + 8 * number
            assert (original.read(place), original.read(place + 4)) == (rbar, rasr)
            name = f"'{domain.name}' region {number}"
            if not rasr & 1:
                if number == len(domain.regions) - 1:
                    yield word(f"{name}: switched on over all", place + 4, 0x0300003F)
                    yield word(f"{name}: not loaded as itself", place, rbar ^ 1)
                continue
            yield word(f"{name}: twice the size", place + 4, rasr + 2)
            yield word(f"{name}: half the size", place + 4, rasr - 2)
            yield word(f"{name}: base up", place, rbar + (2 << (rasr >> 1 & 0x1F)))
            yield word(f"{name}: base off", place, rbar + 32)
            yield word(f"{name}: off", place + 4, rasr & ~1)
            yield word(f"{name}: execute never flipped", place + 4, rasr ^ 1 << 28)
            yield word(
                f"{name}: everybody writes", place + 4, rasr & ~(7 << 24) | 3 << 24 | 4 << 24
            )
            yield word(f"{name}: access changed", place + 4, rasr ^ 1 << 24)
            yield word(f"{name}: cacheable flipped", place + 4, rasr ^ 1 << 17)
            yield word(f"{name}: bufferable flipped", place + 4, rasr ^ 1 << 16)
            yield word(f"{name}: shareable flipped", place + 4, rasr ^ SHAREABLE)
            yield word(f"{name}: type extension", place + 4, rasr ^ 1 << 19)
            yield word(f"{name}: reserved bit", place + 4, rasr | 1 << 29)
            yield word(f"{name}: another number", place, rbar ^ 2)
            yield word(f"{name}: not valid", place, rbar & ~0x10)
            for subregion in (0, 3, 7):
                if rasr >> 1 & 0x1F >= 7:
                    change = rasr ^ 1 << 8 + subregion
                    yield word(f"{name}: subregion {subregion} flipped", place + 4, change)
        yield word(f"'{domain.name}': CPACR", original.row("domain", index) + CPACR,
                   domain.cpacr ^ 0x00F00000)  # fmt: skip
        yield word(f"'{domain.name}': CPACR of others", original.row("domain", index) + CPACR,
                   domain.cpacr | 3)  # fmt: skip


def of_domains(original: Original) -> Iterator[Mutant]:
    """Fields of the domain table and capabilities."""
    for index, domain in enumerate(original.tables.domains):
        place, name = original.row("domain", index), f"'{domain.name}'"
        yield byte(f"{name}: name", place, original.read(place) ^ 0x20)
        for field, offset in (("flash base", 24), ("flash size", 28), ("RAM base", 32),
                              ("RAM size", 36)):  # fmt: skip
            yield word(f"{name}: {field}", place + offset, original.read(place + offset) + 0x100)
            yield word(f"{name}: {field} 0", place + offset, 0)
        yield word(f"{name}: capabilities elsewhere", place + 40, original.read(place + 40) + 4)
        yield byte(f"{name}: one more capability", place + 44, len(domain.capabilities) + 1)
        for field, offset in (("vCPU", 46), ("first thread", 47), ("threads", 48),
                              ("fault signal", 49), ("first port", 50),
                              ("number of ports", 51), ("first slot", 52), ("slots", 53),
                              ("kernel memory", 54), ("words of it", 56)):  # fmt: skip
            old = original.subject.memory.find(place + offset, 1)
            assert old is not None
            yield byte(f"{name}: {field}", place + offset, old[0] + 1)
        first = original.read(place + 40)
        for number, capability in enumerate(domain.capabilities):
            at = first + 4 * number
            yield byte(f"{name}: capability {number} type", at, capability.type % 6 + 1)
            yield byte(f"{name}: capability {number} rights", at + 1, capability.rights | 15)
            yield byte(f"{name}: capability {number} index", at + 2, capability.index + 1)


def of_numbers(original: Original) -> Iterator[Mutant]:
    """Threads, vCPUs, routes, events, timers, boot steps, pins: every field."""
    fields = {
        "thread": ("domain", "slot", "priority"),
        "route": ("kind", "target", "virt_id", "bottom"),
        "event": ("sender", "kind", "target", "virt_id"),
    }
    for table, names in fields.items():
        rows = {
            "thread": range(len(original.tables.threads)),
            "route": [n for n, r in enumerate(original.tables.routes) if r.kind] + [0, 81],
            "event": range(len(original.tables.events)),
        }[table]
        for number in rows:
            for offset, name in enumerate(names):
                at = original.row(table, number) + offset
                old = original.subject.memory.find(at, 1)
                assert old is not None
                yield byte(f"{table} {number}: {name}", at, old[0] ^ 1)
    for number in range(len(original.tables.vcpus)):
        at = original.row("vcpu", number)
        for offset in range(6):
            old = original.subject.memory.find(at + offset, 1)
            assert old is not None
            yield byte(f"vCPU {number}: byte {offset}", at + offset, old[0] + 1)
        yield byte(f"vCPU {number}: catch-up", at + 6, 200)
        yield word(f"vCPU {number}: budget", at + 8, original.read(at + 8) * 2)
        yield word(f"vCPU {number}: watchdog off", at + 12, 0)
        yield word(f"vCPU {number}: peer of nobody", at + 16, 0)
        yield word(f"vCPU {number}: peer of one more", at + 16, original.read(at + 16) | 1 << 31)
        yield byte(f"vCPU {number}: more urgent", at + 20, original.read(at + 20) + 1)
    for number in range(len(original.tables.timers)):
        at = original.row("timer", number)
        yield byte(f"timer {number}: signal", at, original.read(at) + 1)
        yield word(f"timer {number}: period", at + 4, original.read(at + 4) + 1)
        yield word(f"timer {number}: period 0", at + 4, 0)
    for number in range(len(original.tables.boot)):
        at = original.row("boot", number)
        yield word(f"boot step {number}: kind", at, original.read(at) + 1)
        yield word(f"boot step {number}: address", at + 4, original.read(at + 4) + 4)
        yield word(f"boot step {number}: value", at + 12, original.read(at + 12) ^ 1 << 9)
        yield word(f"boot step {number}: limit", at + 16, 0xFFFFFFFF)
    for number in range(len(original.tables.pins)):
        at = original.row("pin", number)
        yield byte(f"pin grant {number}: domain", at, original.read(at) + 1)
        yield byte(f"pin grant {number}: mask", at + 2, original.read(at) >> 16 | 1)
        yield word(f"pin grant {number}: register", at + 8, original.read(at + 8) + 0x400)


def of_entries(original: Original) -> Iterator[Mutant]:
    """Vectors and headers."""
    kernel = original.subject.flash_of("kernel")
    other = original.tables.domains[-1]
    yield word("initial SP in a domain", original.vector(0), other.ram_end)
    yield word("initial SP not aligned", original.vector(0), original.read(original.vector(0)) - 4)
    yield word("initial SP at the end of flash", original.vector(0), kernel.stop)
    for number in (1, 2, 3, 4, 5, 6, 11, 12, 14, 15, 16, 16 + 37, 16 + 38, original.vectors - 1):
        at, old = original.vector(number), original.read(original.vector(number))
        yield word(f"vector {number}: no Thumb bit", at, old & ~1)
        yield word(f"vector {number}: in RAM", at, 0x20000101)
        yield word(f"vector {number}: in a domain", at, other.flash_base + 0x101)
        yield word(f"vector {number}: two bytes on", at, old + 2)
        yield word(f"vector {number}: empty", at, 0)
        yield word(f"vector {number}: into the vectors", at, kernel.start + 0x41)
    for number in (7, 8, 9, 10, 13):
        yield word(f"reserved vector {number}", original.vector(number),
                   original.read(original.vector(2)))  # fmt: skip
    for number, instead in ((15, 11), (11, 15), (14, 15), (4, 2), (2, 4), (16 + 37, 15)):
        yield word(f"vector {number} as vector {instead}", original.vector(number),
                   original.read(original.vector(instead)))  # fmt: skip
    for domain in original.tables.domains:
        at, name = domain.flash_base, f"'{domain.name}'"
        yield word(f"{name}: magic", at, original.read(at) ^ 1)
        yield word(f"{name}: version", at + 4, 2)
        for slot in range(domain.thread_count):
            entry, stack = at + 8 + 8 * slot, at + 12 + 8 * slot
            yield word(f"{name}: entry {slot} in the kernel", entry, kernel.start + 0x201)
            yield word(f"{name}: entry {slot} in RAM", entry, domain.ram_base + 1)
            yield word(f"{name}: entry {slot} without Thumb", entry, original.read(entry) & ~1)
            yield word(f"{name}: stack {slot} above the RAM", stack, domain.ram_end + 8)
            yield word(f"{name}: stack {slot} not aligned", stack, original.read(stack) - 4)
            yield word(f"{name}: stack {slot} in the kernel", stack, 0x20000400)
            yield word(f"{name}: stack {slot} lower", stack, original.read(stack) - 0x100)


def of_directory(original: Original) -> Iterator[Mutant]:
    """The directory itself."""
    place = original.tables.end - 8 * 8 - 40
    yield word("directory: magic", place, 0)
    yield word("directory: version", place + 4, 2)
    for number in range(8):
        at = place + 40 + 8 * number
        yield word(f"directory: table {number} elsewhere", at, original.read(at) + 4)
        yield word(f"directory: table {number} in RAM", at, 0x20000000)
        yield word(f"directory: table {number} shorter", at + 4, original.read(at + 4) - 1)
        yield word(f"directory: table {number} wider", at + 4, original.read(at + 4) + (4 << 16))


POLICY_SIZES = {"domain": 20, "vcpu": 8, "route": 4, "event": 4}  # bytes of an element
POLICY_DIRECTORY = 8 + 8 * len(POLICY_SIZES)  # bytes


def of_policy(original: Original) -> Iterator[Mutant]:
    """Every byte of the hypervisor's policy tables, and its directory of them."""
    for table, place in original.policy.places.items():
        for address in place:
            old = original.subject.memory.find(address, 1)
            assert old is not None
            number, offset = divmod(address - place.start, POLICY_SIZES[table])
            yield byte(f"policy: {table} {number}, byte {offset}", address, old[0] ^ 1)
    directory = original.tables.domains[0].flash_base + HEADER_BYTES
    yield word("policy: magic", directory, 0)
    yield word("policy: version", directory + 4, 2)
    for number, table in enumerate(POLICY_SIZES):
        at = directory + 8 + 8 * number
        yield word(f"policy: {table} elsewhere", at, original.read(at) + 4)
        yield word(f"policy: {table} in a domain", at, original.tables.domains[1].flash_base)
        yield word(f"policy: {table} shorter", at + 4, original.read(at + 4) - 1)
        yield word(f"policy: {table} wider", at + 4, original.read(at + 4) + (4 << 16))


def meaningful(original: Original) -> list[int]:
    """Every address whose byte has a meaning of its own: vectors, directory, tables, headers."""
    start = original.vector(0)
    ranges = [range(start, original.tables.end), *original.tables.places.values()]
    ranges += [range(d.flash_base, d.flash_base + HEADER_BYTES) for d in original.tables.domains]
    directory = original.tables.domains[0].flash_base + HEADER_BYTES
    ranges += [range(directory, directory + POLICY_DIRECTORY), *original.policy.places.values()]
    return sorted({address for place in ranges for address in place})


def harmless(original: Original, mutant: Mutant) -> str | None:
    """Why a mutant that no check finds does no harm."""
    if any(address < original.tables.end for address in mutant.patches):
        return None
    for domain in original.tables.domains:
        entries = [domain.flash_base + 8 + 8 * slot for slot in range(domain.thread_count)]
        moved = original.mutated(mutant).memory
        if any(e <= a < e + 4 for a in mutant.patches for e in entries) and all(
            domain.flash_base < (moved.word(e) or 0) < domain.flash_end for e in entries
        ):
            return "it starts elsewhere in its own code, confined by its regions as ever"
    tables = original.mutated(mutant).tables
    changed = [
        (old, new)
        for good, bad in zip(original.tables.domains, tables.domains, strict=True)
        for (_, old), (_, new) in zip(good.regions, bad.regions, strict=True)
        if old != new
    ]
    if changed and all(o ^ n == SHAREABLE and o & TYPE == DEVICE for o, n in changed):
        return "device memory is shareable whatever this bit says (Armv7-M ARM, B3.5.10)"
    steps = original.tables.places["boot"]
    in_boot = all(address in steps for address in mutant.patches)
    before = registers_after(original, original.tables.boot)
    if in_boot and registers_after(original, tables.boot) == before:
        return "clocks and pins are set up the same"
    return None


def registers_after(original: Original, steps: Iterable[BootStep]) -> dict[int, int]:
    """What a boot table leaves in the registers; the reset values are the composer's."""
    chip = original.subject.chip
    reset = family_of(chip).reset_state(chip)
    registers = defaultdict(int, {address: value for address, (_, value, _) in reset.items()})
    for step in steps:
        if step.kind == 0:
            registers[step.address] = step.value
        elif step.kind == 1:
            registers[step.address] = registers[step.address] & ~step.mask | step.value
    return {address: value for address, value in registers.items() if value}
