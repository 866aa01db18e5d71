"""The campaign of test_mutants on systems with ports, rights over threads, kernel functions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runtime.conftest import SYSTEMS
from tests.support.built import build, once
from tests.verify.mutation import Mutant, Original, byte, caught, harmless, word

PORT = 7  # FVM_CAP_PORT; the types behind it are of objects too
ENTRIES, FIRST_PORT, PORTS = 8, 50, 51  # offsets in the header; in struct fvm_domain


@pytest.fixture(scope="session", params=["invocation", "threads", "run-time"])
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Original:
    name = request.param
    return Original(once(tmp_path_factory, name, lambda room: build(SYSTEMS / f"{name}.xml", room)))


def of_capabilities(original: Original) -> Iterator[Mutant]:
    for domain in original.tables.domains:
        for number, capability in enumerate(domain.capabilities):
            if capability.type >= PORT:
                at, name = domain.capability_place + 4 * number, f"'{domain.name}': {number}"
                yield byte(f"{name}: all rights", at + 1, 255)
                for bit in range(8):
                    yield byte(f"{name}: right {bit}", at + 1, capability.rights ^ 1 << bit)
                yield byte(f"{name}: another object", at + 2, capability.index ^ 1)
                yield byte(f"{name}: another limit", at + 3, capability.limit + 1)
                yield byte(f"{name}: another type", at, capability.type ^ 3)


def of_ports(original: Original) -> Iterator[Mutant]:
    for index, domain in enumerate(original.tables.domains):
        place, name = original.row("domain", index), f"'{domain.name}'"
        yield byte(f"{name}: first port", place + FIRST_PORT, domain.port_first + 1)
        yield byte(f"{name}: a port more", place + PORTS, domain.port_count + 1)
        yield byte(f"{name}: first slot", place + 52, domain.slot_first + 1)
        yield byte(f"{name}: a slot more", place + 53, domain.slot_count + 1)
        yield byte(f"{name}: kernel memory elsewhere", place + 54, domain.memory_first + 1)
        yield byte(f"{name}: more kernel memory", place + 56, domain.memory_words + 1)
        for slot in range(4, 4 + domain.port_count):
            entry = domain.flash_base + ENTRIES + 8 * slot
            top = original.read(entry + 4)
            yield word(f"{name}: slot {slot} starts in RAM", entry, domain.ram_base + 1)
            yield word(f"{name}: slot {slot} without Thumb", entry, original.read(entry) & ~1)
            yield word(f"{name}: slot {slot} in the kernel", entry, 0x08000401)
            yield word(f"{name}: slot {slot} on another stack", entry + 4, top - 512)
            yield word(f"{name}: slot {slot} above the RAM", entry + 4, domain.ram_end + 8)


def of_threads(original: Original) -> Iterator[Mutant]:
    for number, thread in enumerate(original.tables.threads):
        at = original.row("thread", number)
        yield byte(f"thread {number}: domain", at, thread.domain ^ 1)
        yield byte(f"thread {number}: slot", at + 1, thread.slot ^ 1)
        yield byte(f"thread {number}: priority", at + 2, thread.priority ^ 1)
        yield byte(f"thread {number}: held", at + 3, thread.held ^ 1)


@pytest.mark.parametrize("group", [of_capabilities, of_ports, of_threads])
def test_a_change_of_objects_is_found(original: Original, group: object) -> None:
    assert callable(group)
    mutants = list(group(original))
    assert len(mutants) >= 10
    missed = [
        m.what
        for m in mutants
        if caught(original.mutated(m)) is None and harmless(original, m) is None
    ]
    assert missed == []
