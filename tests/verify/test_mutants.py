"""Every single change of a good image is found for what it means, not only by a hash."""

from __future__ import annotations

import os
import random

import pytest

from tests.support.built import Built
from tests.verify.mutation import (
    Mutant,
    Original,
    by_hashes,
    caught,
    of_directory,
    of_domains,
    of_entries,
    of_numbers,
    of_regions,
)

GROUPS = {
    "regions": of_regions,
    "domains": of_domains,
    "numbers": of_numbers,
    "entries": of_entries,
    "directory": of_directory,
}
# How many of a group are tried: all with FVM_MUTANTS=all.
SHARE = None if os.environ.get("FVM_MUTANTS") == "all" else 90


@pytest.fixture(scope="session")
def original(example: Built) -> Original:
    return Original(example)


@pytest.mark.parametrize("group", GROUPS)
def test_a_change_of_meaning_is_found(original: Original, group: str) -> None:
    mutants = [m for m in GROUPS[group](original) if changes(original, m)]
    chosen = (
        mutants if SHARE is None else random.Random(3).sample(mutants, min(SHARE, len(mutants)))
    )
    missed = [m.what for m in chosen if caught(original.mutated(m)) is None]
    assert missed == []


def changes(original: Original, mutant: Mutant) -> bool:
    return any(
        original.subject.memory.find(address, len(patch)) != patch
        for address, patch in mutant.patches.items()
    )


def test_there_are_enough_mutants(original: Original) -> None:
    assert sum(len(list(group(original))) for group in GROUPS.values()) >= 500


@pytest.mark.parametrize("group", GROUPS)
def test_the_hashes_find_every_change_too(original: Original, group: str) -> None:
    mutants = [m for m in GROUPS[group](original) if changes(original, m)]
    assert all(by_hashes(original, mutant) for mutant in mutants[::10])
