"""The short form of the configurations: a few of them, and kernels that must be noticed."""

from __future__ import annotations

import pytest

from tests.configurations.campaign import SEED, make
from tests.configurations.runs import run
from tests.configurations.switches import configurations, name_of, short_form
from tests.support.built import Built, once, with_other_kernel

pytestmark = pytest.mark.campaign

TICKS = 130
SHORT = 5  # configurations: which ones, takes seconds to find out
ENTRY = "arch/armv7m/entry.S"


def built(index: int, factory: pytest.TempPathFactory) -> Built:
    name = name_of(configurations()[index])
    return once(factory, name, lambda room: make(index, room.parent))


@pytest.mark.parametrize("place", range(SHORT))
def test_registers_and_the_kernel_stay_whole(
    place: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    index = short_form(SHORT)[place]
    outcome = run(built(index, tmp_path_factory), configurations()[index], TICKS, SEED)
    assert outcome.complaints == []
    assert min(outcome.compared.values()) > 0
    assert outcome.compared["hypervisor"] > 10


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        # The breach itself: r8 to r10 of a thread that sleeps last aren't loaded again.
        ("ldmia r0, {r4-r11}          /* whoever", "ldmia r0, {r4-r7} /* whoever", "had r9"),
        # What only the guests can tell: a call may change r1, but this one must not.
        ("lr}\n    str r0, [r12]", "lr}\n    strd r0, r0, [r12]", "found"),
    ],
    ids=["apart", "result"],
)
def test_a_kernel_that_loses_registers_is_noticed(
    old: str, new: str, said: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    index = short_form(SHORT)[0]
    base = built(index, tmp_path_factory)
    system = once(
        tmp_path_factory,
        f"{base.folder.name} {said}",
        lambda room: with_other_kernel(base, room, ENTRY, (old, new)),
    )
    outcome = run(system, configurations()[index], TICKS, SEED)
    assert any(said in sentence for sentence in outcome.complaints), outcome.complaints
