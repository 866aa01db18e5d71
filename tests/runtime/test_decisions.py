"""A call that the hypervisor decides on may be interrupted at every instruction, by the VM's own
line, by another VM that then wants to run, by a process: each is decided, and nothing is lost."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support.built import Built, build, once, with_other_kernel
from tests.support.counted import Board, Transcript, run
from tests.support.halted import Halted
from tests.support.invariants import KernelState

pytestmark = pytest.mark.campaign

DESCRIPTION = Path(__file__).parent / "systems" / "decisions.xml"
BOARD = Board("mps2-an386", 5, 1, 5)
CALLS = 3 * 299  # shifts, ticks
SHORT_WAY = "arch/armv7m/request.inc"


class Seen(NamedTuple):
    transcript: Transcript
    violations: list[str]

    @property
    def is_right(self) -> bool:
        values = self.transcript.values("asking")
        lost = [values.get(key) for key in ("refused", "lost", "changed")]
        return lost == [0, 0, 0] and values["fired"] == CALLS and self.violations == []


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return once(tmp_path_factory, "decisions", lambda room: build(DESCRIPTION, room))


def observe(system: Built) -> Seen:
    violations: list[str] = []
    with tempfile.TemporaryDirectory(prefix="fvm-") as folder:
        halted = Halted(Path(folder))

        def inspect() -> None:
            with halted:
                if not halted.leave_kernel():
                    violations.append("the kernel doesn't come to an end")
                else:
                    violations.extend(KernelState(system, system.elf, halted.memory).violations())

        consoles = {"asking": 2, "busybody": 3}
        options = halted.options
        return Seen(
            run(system.elf, consoles, 1000, board=BOARD, options=options, inspect=inspect),
            violations,
        )


def test_every_call_is_decided_and_no_interrupt_or_register_is_lost(system: Built) -> None:
    seen = observe(system)
    assert seen.is_right, (seen.transcript.values("asking"), seen.violations)
    assert seen.transcript.values("asking")["done"] == 1
    assert seen.transcript.values("busybody")["fired"] >= 500
    assert seen.transcript.counts("beat")[-1][1] > 500


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    it ne\n    movne r3, r5 ", "    mov r3, r5 "),
        ("    strd r3, r5, [r12, #CPU_READY] ", "    str r5, [r12, #CPU_PAYER] "),
    ],
    ids=["the handler waits", "the manager doesn't wait"],
)
def test_a_mistake_of_the_short_way_is_noticed(
    system: Built, tmp_path_factory: pytest.TempPathFactory, old: str, new: str
) -> None:
    changed = once(
        tmp_path_factory,
        f"decisions without {old.split()[0]}",
        lambda room: with_other_kernel(system, room, SHORT_WAY, (old, new)),
    )
    assert not observe(changed).is_right
