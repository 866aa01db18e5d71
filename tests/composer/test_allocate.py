"""Placing areas: as little rounding as the regions allow, and full memories."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from composer.layout.allocate import DoesNotFit, Range, Request, allocate, least_rounding
from composer.layout.pmsav7 import Pmsav7

UNIT = Pmsav7(8)
RAM = Range(0x20002000, 0x20020000)


def test_a_power_of_two_and_its_eighths_lose_nothing() -> None:
    for size in (1024, 4096, 5 * 1024, 6 * 1024, 48 * 1024, 64 * 1024):
        assert least_rounding(size, 1, UNIT) == 0


def test_more_regions_round_less() -> None:
    roundings = [least_rounding(33000, regions, UNIT) for regions in (1, 2, 3)]
    assert roundings[0] > roundings[1] >= roundings[2]
    assert roundings[1] < 33000 // 32


def test_the_failure_says_what_was_free() -> None:
    with pytest.raises(DoesNotFit) as caught:
        allocate([Request("a", 100 * 1024, 1), Request("b", 64 * 1024, 1)], RAM, UNIT)
    assert caught.value.request.name in "ab"
    assert caught.value.free


def random_requests(seed: int, fill: float, regions: int) -> list[Request]:
    """Areas that together take this part of the memory."""
    generator = random.Random(seed)
    total = int(RAM.size * fill) // 32
    cuts = sorted(generator.sample(range(32, total), generator.randint(2, 7)))
    borders = [0, *cuts, total]
    return [
        Request(str(n), 32 * (end - start), regions)
        for n, (start, end) in enumerate(pairwise(borders))
    ]


@pytest.mark.parametrize(("fill", "regions", "least"), [(0.8, 1, 38), (0.95, 2, 38), (0.95, 3, 40)])
def test_full_memories_are_packed(fill: float, regions: int, least: int) -> None:
    fitted = 0
    for seed in range(40):
        requests = random_requests(seed, fill, regions)
        try:
            placed, free = allocate(requests, RAM, UNIT)
        except DoesNotFit:
            continue
        fitted += 1
        areas = [*((p.base, p.end) for p in placed.values()), *((f.base, f.end) for f in free)]
        areas.sort()
        assert areas[0][0] == RAM.base
        assert areas[-1][1] == RAM.end
        assert all(end == base for (_, end), (base, _) in pairwise(areas))
        for request in requests:
            area = placed[request.name]
            assert area.granted >= request.size
            cover = UNIT.cover(area.base, area.granted)
            assert cover is not None and cover <= regions
    assert fitted >= least
