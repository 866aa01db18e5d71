"""One budget a VM: equal shares, no gain by sleeping, no delay for those that slept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.support.built import Built, described_otherwise, once, with_other_kernel
from tests.support.counted import Board, run

SLEEPER, BUSY, GREEDY, BURSTER, SLACKER, FLOODER, FLOODER_WITH_FPU, STRADDLER, INTERRUPTED = range(
    9
)
OVERDRAWN, PUNCTUAL, EVERY_OTHER = range(9, 12)
CONSOLES = {"first": 1, "second": 2, "third": 3}
PATIENCE = 30.0  # a flood of exceptions is slow to emulate
UNTIL = 1500  # kernel ticks: those of the VMs are counted to 1200


@dataclass(frozen=True)
class Share:
    """Computing done in 1000 ticks, and the longest time between two tick handlers."""

    work: int
    longest_us: int


@cache
def compete(system: Built, *roles: int, mill: int = 0) -> list[Share]:
    """Runs the three VMs in these roles; the process works for `mill` instructions an event."""
    words = {system.symbol(name, "plan"): role for name, role in zip(CONSOLES, roles, strict=True)}
    words[system.symbol("mill", "plan")] = mill
    with tempfile.TemporaryDirectory() as folder:
        image = system.patched(Path(folder, "system.elf"), words)
        found = run(image, CONSOLES, UNTIL, patience=PATIENCE)
    return [Share(found.values(n)["work"], found.values(n)["longest_us"]) for n in CONSOLES]


def part(share: Share, *all_of: Share) -> float:
    return share.work / sum(s.work for s in all_of)


@pytest.fixture
def shares(system: Callable[[str], Built]) -> Built:
    return system("shares")


@pytest.mark.campaign
def test_two_busy_vms_get_equal_shares(shares: Built) -> None:
    first, second, _ = compete(shares, BUSY, BUSY, SLEEPER)
    assert part(first, first, second) == pytest.approx(0.5, abs=0.025)


def test_three_busy_vms_get_equal_shares(shares: Built) -> None:
    found = compete(shares, BUSY, BUSY, BUSY)
    for share in found:
        assert part(share, *found) == pytest.approx(1 / 3, abs=1 / 3 * 0.05)


@pytest.mark.campaign
@pytest.mark.parametrize("greedy", [0, 1])
def test_sleeping_before_the_slice_ends_gains_nothing(shares: Built, greedy: int) -> None:
    roles = [BUSY, BUSY, SLEEPER]
    roles[greedy] = GREEDY
    found = compete(shares, *roles)
    assert part(found[greedy], *found[:2]) <= 0.5 * 1.05


@pytest.mark.campaign
def test_what_one_doesnt_use_the_others_get(shares: Built) -> None:
    busy, slacker, _ = compete(shares, BUSY, SLACKER, SLEEPER)
    assert part(slacker, busy, slacker) < 0.2


def test_an_interrupt_of_a_sleeping_vm_comes_at_once(shares: Built) -> None:
    *_, sleeper = compete(shares, BUSY, BUSY, SLEEPER)
    assert sleeper.longest_us <= 1050, "its ticks, while two others are busy"


@pytest.mark.campaign
def test_vms_that_woke_together_share_at_every_tick(shares: Built) -> None:
    *_, sleeper = compete(shares, BURSTER, BURSTER, SLEEPER)
    assert sleeper.longest_us <= 3050, "two others compute for 4.5 ms after the same tick"


@pytest.mark.campaign
def test_wakes_of_another_vm_dont_change_whose_tick_it_is(shares: Built) -> None:
    """The first wakes for each of its ticks while the others compute after the same one."""
    _, *bursters = compete(shares, SLEEPER, BURSTER, BURSTER)
    assert all(burster.longest_us <= 3050 for burster in bursters)
    assert part(bursters[0], *bursters) == pytest.approx(0.5, abs=0.1)


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


@pytest.mark.campaign
def test_an_urgent_vm_waits_for_no_other_that_woke_with_it(urgent: Built) -> None:
    """At equal priorities it has to wait for their ticks of computing, see above."""
    *_, sleeper = compete(urgent, BURSTER, BURSTER, SLEEPER)
    assert sleeper.longest_us <= 1050


@pytest.mark.campaign
def test_an_urgent_vm_gets_no_larger_share(urgent: Built) -> None:
    found = compete(urgent, BUSY, BUSY, BUSY)
    for share in found:
        assert part(share, *found) == pytest.approx(1 / 3, abs=1 / 3 * 0.05)


def test_an_urgent_vm_starves_nobody(urgent: Built) -> None:
    """It computes without end; others wait for what is left of its budget and for its next one."""
    first, second, third = compete(urgent, SLEEPER, BUSY, BUSY)
    assert first.longest_us <= 11_100, "two budgets of 5 ms, and a tick"
    assert part(second, second, third) == pytest.approx(0.5, abs=0.025)


@pytest.fixture(scope="module")
def fair(system: Callable[[str], Built]) -> dict[str, Share]:
    """What each gets when all three compute without end."""
    found = compete(system("shares"), BUSY, BUSY, BUSY)
    return dict(zip(CONSOLES, found, strict=True))


@pytest.mark.campaign
@pytest.mark.parametrize("mill", [0, 300, 3000, 100_000])
def test_a_vm_pays_for_the_process_that_it_floods(
    shares: Built, fair: dict[str, Share], mill: int
) -> None:
    """The process is more urgent than any VM, and uses up the budget of the one that floods it."""
    _, second, third = compete(shares, FLOODER, BUSY, BUSY, mill=mill)
    assert second.work >= 0.98 * fair["second"].work
    assert third.work >= 0.98 * fair["third"].work


@pytest.mark.campaign
def test_it_pays_if_its_fpu_registers_are_live_at_the_call(
    shares: Built, fair: dict[str, Share]
) -> None:
    _, second, third = compete(shares, FLOODER_WITH_FPU, BUSY, BUSY, mill=3000)
    assert second.work >= 0.98 * fair["second"].work
    assert third.work >= 0.98 * fair["third"].work


@pytest.mark.campaign
def test_an_urgent_vm_gets_its_share_beside_a_flooded_process(urgent: Built) -> None:
    *_, alone = compete(urgent, BUSY, SLEEPER, BUSY)
    *_, found = compete(urgent, FLOODER, SLEEPER, BUSY, mill=3000)
    assert found.work >= 0.98 * alone.work


@pytest.mark.campaign
def test_a_call_across_the_tick_hides_no_time(shares: Built, fair: dict[str, Share]) -> None:
    """It computes, and calls the process just before each tick, so that the tick comes into it."""
    _, second, third = compete(shares, STRADDLER, BUSY, BUSY)
    assert second.work >= 0.98 * fair["second"].work
    assert third.work >= 0.98 * fair["third"].work


@pytest.mark.campaign
@pytest.mark.parametrize(
    "pays", [True, False], ids=["who wakes pays", "control: who is interrupted"]
)
def test_interrupts_that_wake_a_vm_take_nothing_from_the_others(
    system: Callable[[str], Built],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    pays: bool,
) -> None:
    """Each comes while another VM computes, and the switch is that one's time at first."""
    wakes = system("wakes")
    if not pays:
        change = ("    beq vm_to_vm\n", "    beq from_vm\n")
        wakes = once(
            tmp_path_factory,
            "wakes at the cost of others",
            lambda room: with_other_kernel(wakes, room, "arch/armv7m/entry.S", change),
        )
    consoles = {"first": 2, "second": 3, "third": 4}

    def work(*roles: int) -> list[int]:
        words = {wakes.symbol(n, "plan"): r for n, r in zip(consoles, roles, strict=True)}
        image = wakes.patched(tmp_path / "system.elf", words)
        found = run(image, consoles, UNTIL, board=Board("mps2-an385", 5, 1, 5))
        return [found.values(name)["work"] for name in ("second", "third")]

    fair, interrupted = work(BUSY, BUSY, BUSY), work(INTERRUPTED, BUSY, BUSY)
    kept = min(now / before for now, before in zip(interrupted, fair, strict=True))
    assert (kept >= 0.98) is pays, kept


@pytest.mark.campaign
@pytest.mark.parametrize("looks", [True, False], ids=["turn kept", "control: turn passed"])
def test_who_wakes_while_another_vm_goes_to_sleep_takes_nobodys_turn(
    system: Callable[[str], Built],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    looks: bool,
) -> None:
    """The first sleeps with its budget used up. Its timer rings in the middle of the call by which
    the third goes to sleep, in the turn of the second, which does nothing but compute."""
    wakes = system("wakes")
    if not looks:
        change = ("{ put_off(LATE_CHOICE); }", "{ put_off(LATE_CHOICE | LATE_TURN); }")
        wakes = once(
            tmp_path_factory,
            "wakes that pass the turn",
            lambda room: with_other_kernel(wakes, room, "kernel/scheduler.c", change),
        )

    def work(before: int) -> int:
        plan = {name: wakes.symbol(name, "plan") for name in ("first", "second", "third")}
        words = {plan["first"]: OVERDRAWN, plan["second"]: BUSY, plan["third"]: PUNCTUAL}
        words |= {plan["first"] + 4: -160 & 0xFFFFFFFF, plan["third"] + 4: before & 0xFFFFFFFF}
        image = wakes.patched(tmp_path / "system.elf", words)
        found = run(image, {"second": 3}, UNTIL, board=Board("mps2-an385", 5, 1, 5))
        return found.values("second")["work"]

    apart = work(100)
    kept = min(work(before) for before in (-20, -40, -60)) / apart
    assert (kept >= 0.98) is looks, kept
    assert (kept <= 0.3) is not looks, kept


URGENT = """
  <vm name="fourth" priority="1" flash="4K" ram="4K" catchup="100">
    <project path="{tests}" port="no">
      <source>runtime/guests/report.c</source>
      <source>runtime/guests/plan.c</source>
      <source>runtime/guests/share.c</source>
      <define>TEST_CMSDK_UART=0x40009000</define>
    </project>
    <tick handler="tick_handler"/>
    <device name="UART4"/>
  </vm>
"""


@pytest.mark.campaign
@pytest.mark.parametrize("apart", [True, False], ids=["each priority", "control: one for all"])
def test_more_urgent_vms_dont_change_whose_tick_it_is(
    system: Callable[[str], Built],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    apart: bool,
) -> None:
    """Two urgent ones compute across every other tick, the others in what is left."""
    urgent = URGENT.format(tests=Path(__file__).parents[1])
    old = '<vm name="first" flash'
    four = once(
        tmp_path_factory,
        "wakes of two priorities",
        lambda room: described_otherwise(
            system("wakes"), room, old, urgent + '<vm name="first" priority="1" flash'
        ),
    )
    if not apart:
        base, change = four, ("(vcpus.served & ~peers) |", "")
        four = once(
            tmp_path_factory,
            "wakes of two priorities, one tick",
            lambda room: with_other_kernel(base, room, "kernel/scheduler.c", change),
        )
    ms = 25_000
    roles = {"fourth": (EVERY_OTHER, ms // 20), "first": (EVERY_OTHER, ms * 51 // 50)}
    roles |= {"second": (BURSTER, 0), "third": (BURSTER, 0)}
    words = {}
    for name, (role, cycles) in roles.items():
        words |= {four.symbol(name, "plan"): role, four.symbol(name, "plan") + 4: cycles}
    image = four.patched(tmp_path / "system.elf", words)
    found = run(image, {"second": 3, "third": 4}, UNTIL, board=Board("mps2-an385", 5, 1, 5))
    longest = [found.values(name)["longest_us"] for name in ("second", "third")]
    assert (max(longest) <= 1.1 * min(longest)) is apart, longest


@pytest.mark.campaign
def test_if_nobody_paid_for_processes_a_flood_would_take_the_time_of_others(
    shares: Built, fair: dict[str, Share], tmp_path_factory: pytest.TempPathFactory
) -> None:
    payment = ("    cbz r4, nobody_paid\n", "    b nobody_paid\n")
    changed = once(
        tmp_path_factory,
        "shares without payment for processes",
        lambda room: with_other_kernel(shares, room, "arch/armv7m/entry.S", payment),
    )
    _, second, _ = compete(changed, FLOODER, BUSY, BUSY, mill=3000)
    assert second.work < 0.8 * fair["second"].work


@pytest.mark.campaign
def test_without_the_boost_it_waits_for_the_others_slices(
    shares: Built, tmp_path_factory: pytest.TempPathFactory
) -> None:
    boost = ("vcpus.boosted |= vcpu->bit & vcpus.funded;", "")
    changed = once(
        tmp_path_factory,
        "shares without boost",
        lambda room: with_other_kernel(shares, room, "kernel/turn.h", boost),
    )
    *_, sleeper = compete(changed, BUSY, BUSY, SLEEPER)
    assert sleeper.longest_us > 4000
