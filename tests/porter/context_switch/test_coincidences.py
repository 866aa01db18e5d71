"""Words that are hardly ever equal by chance are made to be: arguments, frames, variables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from porter.context_switch.proof import Model, NotProved
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.riscv import compare as riscv_compare
from porter.context_switch.proof.riscv.equivalence import equivalent, explore
from porter.context_switch.proof.riscv.states import State as RiscvState
from porter.context_switch.proof.states import State
from tests.porter.context_switch.riscv.campaign import HANDLERS, RiscvSubject
from tests.porter.context_switch.test_proof import COMMAND, LOAD, NAKED, SAVE, SWITCH, C, objects
from tests.porter.context_switch.trees import fixture

LABEL_IN_FRAME = 60  # bytes below sp, where switch_tasks puts the address it goes on at
START = Model("start")
FRAME = 64  # words


def _coincidences(
    arguments: list[int], stack: int, state: State | RiscvState, words: int
) -> Counter[str]:
    found = Counter[str]()
    found["equal arguments"] += arguments[0] == arguments[1]
    found["pointer into the frame"] += any(0 < stack - it <= 4 * FRAME for it in arguments)
    variables = {state.variables[4 * i : 4 * i + 4] for i in range(words)}
    found["argument in a variable"] += variables == {arguments[0].to_bytes(4, "little")}
    found["call changes no variable"] += state.effect(0).variables == state.variables
    found["call returns its argument"] += state.effect(0).result((5,)) == 5
    return found


def test_every_proof_meets_them() -> None:
    words, counts = 8, (Counter[str](), Counter[str]())
    for seed in range(300):
        arm, riscv = State(seed, SWITCH, words), RiscvState(seed, START, words)
        counts[0].update(_coincidences(arm.scratch[:2], arm.psp, arm, words))
        counts[1].update(_coincidences(riscv.core[9:11], riscv.core[1], riscv, words))
    for count in counts:
        assert len(count) == 5 and all(number >= 3 for number in count.values()), count


@pytest.fixture(scope="module")
def switch_by_call(tmp_path_factory: pytest.TempPathFactory) -> RiscvSubject:
    handler = next(it for it in HANDLERS if it.name == "switch_tasks")
    return RiscvSubject(handler, tmp_path_factory.mktemp("switch_by_call"))


def test_a_stack_at_a_label_in_the_frame_is_none(
    switch_by_call: RiscvSubject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A task whose stack pointer would be read from where the old one's goes on: code is there,
    another in original and port, and no task has its stack there."""

    class LabelIsStack(RiscvState):
        def __init__(self, seed: int, *others: object) -> None:
            super().__init__(seed, *others)  # type: ignore[arg-type]
            if seed % 2:
                self.core[10] = self.found[10] = self.core[1] - LABEL_IN_FRAME

    monkeypatch.setattr(riscv_compare, "State", LabelIsStack)
    images = switch_by_call.images(switch_by_call.body)
    natives, ways = explore(images[0], START)
    runs, _ = riscv_compare.compare(*images, START, ways, 200, 50)
    assert runs.states < 120
    assert equivalent(natives, images[1], START) == 2


def test_a_pointer_into_the_frame_shows_a_late_store(switch_by_call: RiscvSubject) -> None:
    body, store = switch_by_call.body, "sp[2] = USR_REG->Reg.X1;"
    load = "sp = (fvm_word *)*(fvm_word *)USR_REG->Reg.X11;"
    assert body.count(store) == body.count(load) == 1
    late = f"fvm_word *old = sp; {load} old[2] = USR_REG->Reg.X1;"
    images = switch_by_call.images(body.replace(store, "").replace(load, late))
    _, ways = explore(images[0], START)
    with pytest.raises(NotProved, match="sp = 0x"):
        riscv_compare.compare(*images, START, ways)


def test_what_is_only_compared_lies_where_pointers_lead(tmp_path: Path) -> None:
    """A linker script's end of the stacks, and the idle task by its address."""
    checks = (
        "ldr r3, =stack_limit\\n cmp r0, r3\\n it lo\\n movlo r0, #0\\n"
        "ldr r3, =idle\\n cmp r2, r3\\n it eq\\n streq r2, [r1, #4]\\n"
    )
    tree = fixture(tmp_path, NAKED.format(text=SAVE + checks + LOAD))
    (handler,) = [it for it in tree.port() if it.name == "PendSV_Handler"]
    assert handler.status == "rewritten", handler.reason


def test_a_call_that_returns_its_argument_is_among_them(tmp_path: Path) -> None:
    """A scheduler that gets the stack pointer and gives it back: no switch."""
    hook = "uint32_t *hook(uint32_t *);"
    call = "push {r1, lr}\\n bl hook\\n pop {r1, lr}\\n ldr r2, [r1]\\n str r0, [r2]\\n"
    middle = "uint32_t *found = hook(sp); if (found == sp) { found += 8; } *task = (uint32_t)found;"
    original, ported = objects(
        tmp_path,
        NAKED.format(text=SAVE + call + LOAD),
        C.replace("void PendSV", hook + "\nvoid PendSV", 1).format(middle=middle),
    )
    calls = (("hook", 1),)
    images = link_pair(original, ported, ("PendSV_Handler",) * 2, dict(calls), COMMAND)
    with pytest.raises(NotProved, match="PSP"):
        compare(*images, Model("switch", calls))
