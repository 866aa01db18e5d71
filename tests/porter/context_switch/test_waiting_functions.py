"""A function in assembler that waits: WFI, and WFE that interrupts alone end, is hyp_vct_wait(),
with what is around it as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.proof import Model, NotProved
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.equivalence import equivalent
from porter.context_switch.proof.link import link_pair
from porter.context_switch.result import SwitchPort
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.campaign import STATES
from tests.porter.context_switch.test_proof import COMMAND, objects
from tests.porter.context_switch.trees import M4F, Tree, fixture

SLEEP = (
    "cpsid i\\n ldr r3, =task\\n ldr r1, [r3]\\n cbnz r1, 1f\\n wfi\\n 1: ldr r0, [r3]\\n"
    "cpsie i\\n bx lr\\n .ltorg"
)
ORIGINAL = f"""
#include <stdint.h>
extern uint32_t task;
uint32_t asleep(void);
__attribute__((naked)) uint32_t asleep(void) {{ __asm volatile("{SLEEP}"); }}
"""
C = """
#include <fvm/guest.h>
extern volatile uint32_t task;
uint32_t asleep(void);
uint32_t asleep(void) {{ uint32_t seen; {body} }}
"""
RIGHT = (
    "virt_int_mask(VIRT_PRIMASK); if (task == 0) {{ hyp_vct_wait(); }} seen = task;"
    "virt_int_unmask(VIRT_PRIMASK); return seen;"
)
WRONG = {
    "no wait": RIGHT.replace("hyp_vct_wait();", ""),
    "always": RIGHT.replace("if (task == 0)", ""),
    "twice": RIGHT.replace("hyp_vct_wait();", "hyp_vct_wait(); hyp_vct_wait();"),
    "what was before the wait": "virt_int_mask(VIRT_PRIMASK); seen = task; if (seen == 0) "
    "{{ hyp_vct_wait(); }} virt_int_unmask(VIRT_PRIMASK); return seen;",
    "with the mask open": "virt_int_mask(VIRT_PRIMASK); if (task == 0) "
    "{{ virt_int_unmask(VIRT_PRIMASK); hyp_vct_wait(); virt_int_mask(VIRT_PRIMASK); }} "
    "seen = task; virt_int_unmask(VIRT_PRIMASK); return seen;",
}
PLAIN = Model("other", returns=True)
CALLED = """
#include <stdint.h>
void idle(void);
__attribute__((naked)) void idle(void) { __asm volatile("wfi\\n bx lr"); }
extern uint32_t *task;
__attribute__((naked)) void PendSV_Handler(void) { __asm volatile(
    "mrs r0, psp\\n stmdb r0!, {r4-r11}\\n ldr r1, =task\\n ldr r2, [r1]\\n str r0, [r2]\\n"
    "push {r1, lr}\\n bl idle\\n pop {r1, lr}\\n"
    "ldr r2, [r1]\\n ldr r0, [r2]\\n ldmia r0!, {r4-r11}\\n msr psp, r0\\n bx lr\\n .ltorg"); }
"""


def test_it_is_transcribed(tmp_path: Path) -> None:
    (port,) = [it for it in fixture(tmp_path, ORIGINAL).port() if it.name == "asleep"]
    assert port.status == "rewritten", port.reason
    assert port.replacement.count(b"hyp_vct_wait();") == 1


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG)
def test_both_oracles_see_the_wait(body: str, tmp_path: Path) -> None:
    names = ("asleep", "asleep")
    right = objects(tmp_path / "right", ORIGINAL, C.format(body=RIGHT.format()))
    images = link_pair(*right, names, (), COMMAND)
    assert equivalent(*images, PLAIN) == 2
    assert compare(*images, PLAIN, STATES, STATES // 3)[0].states > STATES // 3
    wrong = objects(tmp_path / "wrong", ORIGINAL, C.format(body=body.format()))
    images = link_pair(*wrong, names, (), COMMAND)
    with pytest.raises(NotProved):
        equivalent(*images, PLAIN)
    with pytest.raises(NotProved):
        compare(*images, PLAIN, STATES, STATES // 3)


def test_what_a_handler_calls_may_not_wait(tmp_path: Path) -> None:
    ports = fixture(tmp_path, CALLED).port()
    (port,) = [it for it in ports if it.name == "PendSV_Handler"]
    assert port.status == "escalated" and "waits for an interrupt" in port.reason, port.reason


IDLE = """\
    .syntax unified
    .thumb
    .text
    .global idle
    .thumb_func
idle:
    {before}
    WFE
    BX LR
"""
PROTOTYPE = "void idle(void);\nint main(void) {{ {body} idle(); return 0; }}\n"


def waits_for_events(folder: Path, before: str = "", body: str = "") -> SwitchPort:
    options = CompileOptions((folder,), (), M4F, "arm-none-eabi-gcc")
    folder.mkdir()
    files = (folder / "idle.s", folder / "main.c")
    files[0].write_text(IDLE.format(before=before))
    files[1].write_text(PROTOTYPE.format(body=body))
    (port,) = [it for it in Tree(folder, files, options).port() if it.name == "idle"]
    return port


def test_a_wait_for_events_is_one_if_interrupts_alone_end_it(tmp_path: Path) -> None:
    plain = waits_for_events(tmp_path / "plain")
    assert plain.status == "rewritten" and plain.proof is not None, plain.reason
    companion = (tmp_path / "plain" / "idle.s").read_bytes()
    assert b"WFE" in companion
    of_lines = waits_for_events(tmp_path / "lines", body="EXTI->EMR |= 1 << 20;")
    assert of_lines.status == "escalated" and "EXTI" in of_lines.reason, of_lines.reason
    own = waits_for_events(tmp_path / "own", before="STR R1, [R0]")
    assert own.status == "escalated" and "may request what ends" in own.reason, own.reason
