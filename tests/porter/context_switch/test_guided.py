"""Where no random state leads, z3 finds one that does, and the emulator says what it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.proof import NotProved
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.model import Model
from tests.porter.context_switch.test_proof import COMMAND, LOAD, NAKED, SAVE, SWITCH, objects

HEAD = """
#include <fvm/guest.h>
extern fvm_word *task, *ring, *end;
fvm_word choose(fvm_word);
void PendSV_Handler(void);
void PendSV_Handler(void)
{{
    fvm_word *sp = (fvm_word *)USR_REG->Reg.SP;
    USR_STMDB(sp, R4, R11);
    *task = (fvm_word)sp;
    {middle}
    sp = (fvm_word *)*task;
    USR_LDMIA(sp, R4, R11);
    USR_REG->Reg.SP = (uint32_t)sp;
}}
"""
# What the original does, its port, and another one that differs where it is rare.
RARE: dict[str, tuple[str, str, str]] = {
    "the end of a ring": (
        "ldr r3, =ring\\n ldr r0, [r3]\\n adds r0, #4\\n ldr r2, =end\\n ldr r2, [r2]\\n"
        " cmp r0, r2\\n bne 1f\\n movs r0, #0\\n 1: str r0, [r3]\\n",
        "fvm_word *at = ring + 1; ring = at == end ? 0 : at;",
        "fvm_word *at = ring + 1; ring = at == end ? ring : at;",
    ),
    "two words of a block": (
        "ldr r0, [r2, #4]\\n ldr r3, [r2, #8]\\n subs r0, r3\\n cmp r0, #77\\n bne 1f\\n"
        " str r0, [r2, #12]\\n 1:\\n",
        "if (task[1] - task[2] == 77) { task[3] = 77; }",
        "if (task[1] - task[2] == 77) { task[3] = 76; }",
    ),
    "what a call returns": (
        "ldr r0, [r2, #4]\\n push {r1, lr}\\n bl choose\\n pop {r1, lr}\\n ldr r2, [r1]\\n"
        " ldr r3, [r2, #8]\\n adds r3, #5\\n cmp r0, r3\\n bne 1f\\n str r0, [r2, #16]\\n 1:\\n",
        "fvm_word got = choose(task[1]); if (got == task[2] + 5) { task[4] = got; }",
        "fvm_word got = choose(task[1]); if (got == task[2] + 5) { task[5] = got; }",
    ),
}


def both(folder: Path, name: str, ported: str) -> None:
    pair = objects(folder, NAKED.format(text=SAVE + RARE[name][0] + LOAD).replace(
        "extern uint32_t *task;", "extern uint32_t *task; uint32_t choose(uint32_t);"
    ), HEAD.format(middle=ported))  # fmt: skip
    names = ("PendSV_Handler", "PendSV_Handler")
    model = Model("switch", (("choose", 1),)) if "choose" in ported else SWITCH
    compare(*link_pair(*pair, names, dict(model.arguments), COMMAND), model, 400, 50)


@pytest.mark.parametrize("name", RARE)
def test_what_is_too_rare_for_chance_is_compared_too(name: str, tmp_path: Path) -> None:
    both(tmp_path, name, RARE[name][1])


@pytest.mark.parametrize("name", RARE)
def test_a_difference_there_is_found(name: str, tmp_path: Path) -> None:
    with pytest.raises(NotProved, match="in the original and"):
        both(tmp_path, name, RARE[name][2])
