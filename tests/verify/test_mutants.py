"""Every single change of a good image is found for what it means, not only by a hash.

In CI a part of them, chosen by a fixed seed; with FVM_FULL all of them, and 1000 random
ones.
"""

from __future__ import annotations

import random

import pytest

from tests.support.built import Built
from tests.support.campaign import FULL
from tests.verify.mutation import (
    Mutant,
    Original,
    by_hashes,
    byte,
    caught,
    harmless,
    meaningful,
    of_directory,
    of_domains,
    of_entries,
    of_numbers,
    of_policy,
    of_regions,
)

pytestmark = pytest.mark.campaign

GROUPS = {
    "regions": of_regions,
    "domains": of_domains,
    "numbers": of_numbers,
    "policy": of_policy,
    "entries": of_entries,
    "directory": of_directory,
}
RANDOM = 1000 if FULL else 30
SHARE = {"entries": 15}  # in CI; of most entries the code has to be followed to judge them


@pytest.fixture(scope="session")
def original(example: Built) -> Original:
    return Original(example)


def mutants(original: Original, group: str, share: int) -> list[Mutant]:
    found = [
        mutant
        for mutant in GROUPS[group](original)
        if any(
            original.subject.memory.find(address, len(patch)) != patch
            for address, patch in mutant.patches.items()
        )
    ]
    return random.Random(3).sample(found, min(share, len(found)))


def missed(original: Original, chosen: list[Mutant]) -> list[str]:
    return [
        mutant.what
        for mutant in chosen
        if caught(original.mutated(mutant)) is None and harmless(original, mutant) is None
    ]


@pytest.mark.timeout(3600)
def test_a_change_of_meaning_is_found(original: Original) -> None:
    for group in GROUPS:
        share = 1000 if FULL else SHARE.get(group, 80)
        assert missed(original, mutants(original, group, share)) == []


@pytest.mark.timeout(3600)
def test_a_random_change_of_meaning_is_found(original: Original) -> None:
    source = random.Random(RANDOM)
    places = meaningful(original)
    chosen = []
    for _ in range(RANDOM):
        address = source.choice(places)
        old = original.subject.memory.find(address, 1)
        assert old is not None
        value = old[0] ^ source.randrange(1, 256)
        chosen.append(byte(f"0x{address:08x}: 0x{value:02x}", address, value))
    assert missed(original, chosen) == []


@pytest.mark.parametrize("group", GROUPS)
def test_the_hashes_find_every_change_too(original: Original, group: str) -> None:
    assert all(by_hashes(original, mutant) for mutant in mutants(original, group, 10))


def test_there_are_enough_mutants(original: Original) -> None:
    assert sum(len(mutants(original, group, 1000)) for group in GROUPS) >= 800
