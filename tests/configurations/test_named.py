"""The named systems: what is done by hand is met, and a kernel that cannot cope is noticed."""

from __future__ import annotations

import pytest

from tests.configurations.branches import FALLS, TAKEN
from tests.configurations.named import NAMED
from tests.configurations.statement import line_of
from tests.support.built import Built, once, with_other_kernel

pytestmark = pytest.mark.campaign

HERE = "arch/armv7m"
SYSTEM = NAMED["decisions"]
ONLY_HERE = [
    ("entry.S", "cbz r0, 1f", "mvn lr, #2", TAKEN),
    ("request.inc", "bne next_saved", "cbnz r5, next_saved", TAKEN),
    ("request.inc", "cbnz r5, next_saved", "#if FVM_HELD_WORDS", TAKEN),
    ("request.inc", "bne next_saved", "#endif", TAKEN),
    ("request.inc", "it ne", "movne r3, r5", FALLS),
]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return once(
        tmp_path_factory,
        "named decisions",
        lambda room: SYSTEM.build(room.with_suffix(".in.xml"), room),
    )


def test_every_decision_is_right_and_a_fault_without_status_is_nobodys(system: Built) -> None:
    outcome = SYSTEM.run(system)
    assert outcome.complaints == []
    for name, text, following, way in ONLY_HERE:
        assert (line_of(name, text, following), way) in outcome.ways


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("fault.c", "if (!hard && status == 0) {", "if (!hard && status == 1) {"),
        ("request.inc", "    ldmia r3, {r4-r11}\nnext_long", "    ldmia r3, {r6-r11}\nnext_long"),
    ],
    ids=["whose fault", "registers of who decides"],
)
def test_a_kernel_that_cannot_cope_is_noticed(
    system: Built, file: str, old: str, new: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    changed = once(
        tmp_path_factory,
        f"named decisions, other {file}",
        lambda room: with_other_kernel(system, room, f"{HERE}/{file}", (old, new)),
    )
    assert SYSTEM.run(changed).complaints
