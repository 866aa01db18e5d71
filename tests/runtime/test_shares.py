"""One budget a VM: equal shares, no gain by sleeping, no delay for those that slept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.built import Built, described_otherwise, once, with_other_kernel
from tests.support.counted import run

SLEEPER, BUSY, GREEDY, BURSTER, SLACKER = range(5)
CONSOLES = {"first": 1, "second": 2, "third": 3}


@dataclass(frozen=True)
class Share:
    """Computing done in 2000 ticks, and the longest time between two tick handlers."""

    work: int
    longest_us: int


def compete(system: Built, folder: Path, *roles: int) -> list[Share]:
    """Runs the three VMs in these roles."""
    words = {system.symbol(name, "plan"): role for name, role in zip(CONSOLES, roles, strict=True)}
    image = system.patched(folder / "system.elf", words)
    found = run(image, CONSOLES, 2750)
    return [Share(found.values(n)["work"], found.values(n)["longest_us"]) for n in CONSOLES]


def part(share: Share, *all_of: Share) -> float:
    return share.work / sum(s.work for s in all_of)


@pytest.fixture
def shares(system: Callable[[str], Built]) -> Built:
    return system("shares")


def test_two_busy_vms_get_equal_shares(shares: Built, tmp_path: Path) -> None:
    first, second, _ = compete(shares, tmp_path, BUSY, BUSY, SLEEPER)
    assert part(first, first, second) == pytest.approx(0.5, abs=0.025)


def test_three_busy_vms_get_equal_shares(shares: Built, tmp_path: Path) -> None:
    found = compete(shares, tmp_path, BUSY, BUSY, BUSY)
    for share in found:
        assert part(share, *found) == pytest.approx(1 / 3, abs=1 / 3 * 0.05)


@pytest.mark.parametrize("greedy", [0, 1])
def test_sleeping_before_the_slice_ends_gains_nothing(
    shares: Built, tmp_path: Path, greedy: int
) -> None:
    roles = [BUSY, BUSY, SLEEPER]
    roles[greedy] = GREEDY
    found = compete(shares, tmp_path, *roles)
    assert part(found[greedy], *found[:2]) <= 0.5 * 1.05


def test_what_one_doesnt_use_the_others_get(shares: Built, tmp_path: Path) -> None:
    busy, slacker, _ = compete(shares, tmp_path, BUSY, SLACKER, SLEEPER)
    assert part(slacker, busy, slacker) < 0.2


def test_an_interrupt_of_a_sleeping_vm_comes_at_once(shares: Built, tmp_path: Path) -> None:
    *_, sleeper = compete(shares, tmp_path, BUSY, BUSY, SLEEPER)
    assert sleeper.longest_us <= 1050, "its ticks, while two others are busy"


def test_vms_that_woke_together_share_at_every_tick(shares: Built, tmp_path: Path) -> None:
    *_, sleeper = compete(shares, tmp_path, BURSTER, BURSTER, SLEEPER)
    assert sleeper.longest_us <= 3050, "two others compute for 4.5 ms after the same tick"


@pytest.fixture
def urgent(shares: Built, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The third VM is more urgent than the others, and so it is the first vCPU."""
    return once(
        tmp_path_factory,
        "shares with priorities",
        lambda room: described_otherwise(
            shares, room, 'name="third" flash', 'name="third" priority="1" flash'
        ),
    )


def test_an_urgent_vm_waits_for_no_other_that_woke_with_it(urgent: Built, tmp_path: Path) -> None:
    """At equal priorities it has to wait for their ticks of computing, see above."""
    *_, sleeper = compete(urgent, tmp_path, BURSTER, BURSTER, SLEEPER)
    assert sleeper.longest_us <= 1050


def test_an_urgent_vm_gets_no_larger_share(urgent: Built, tmp_path: Path) -> None:
    found = compete(urgent, tmp_path, BUSY, BUSY, BUSY)
    for share in found:
        assert part(share, *found) == pytest.approx(1 / 3, abs=1 / 3 * 0.05)


def test_an_urgent_vm_starves_nobody(urgent: Built, tmp_path: Path) -> None:
    """It computes without end; others wait for what is left of its budget and for its next one."""
    first, second, third = compete(urgent, tmp_path, SLEEPER, BUSY, BUSY)
    assert first.longest_us <= 11_100, "two budgets of 5 ms, and a tick"
    assert part(second, second, third) == pytest.approx(0.5, abs=0.025)


def test_without_the_boost_it_waits_for_the_others_slices(
    shares: Built, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    boost = ("vcpus.boosted |= vcpu->bit & vcpus.funded;", "")
    changed = once(
        tmp_path_factory,
        "shares without boost",
        lambda room: with_other_kernel(shares, room, "kernel/turn.h", boost),
    )
    *_, sleeper = compete(changed, tmp_path, BUSY, BUSY, SLEEPER)
    assert sleeper.longest_us > 4000
