"""Reads of DWT->CYCCNT become virt_cycles(); to both oracles each look shows another number."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.proof import NotProved
from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.equivalence import equivalent
from porter.context_switch.proof.link import link_pair
from tests.porter.context_switch.campaign import STATES
from tests.porter.context_switch.test_proof import COMMAND, LOAD, NAKED, SAVE, SWITCH, middle
from tests.porter.context_switch.trees import fixture

TWICE = (
    "ldr r3, =0xE0001000\\n ldr r5, [r3, #4]\\n str r5, [r2, #4]\\n"
    "ldr r6, [r3, #4]\\n str r6, [r2, #8]\\n"
)
PORTED = (
    "uint32_t first = virt_cycles(), second = virt_cycles(); task[1] = first; task[2] = second;"
)
WRONG = {
    "one look for two": "uint32_t now = virt_cycles(); task[1] = now; task[2] = now;",
    "the other way round": "task[2] = virt_cycles(); task[1] = virt_cycles();",
    "a look too many": f"(void)virt_cycles(); {PORTED}",
    "none": "task[1] = 0; task[2] = 0;",
}
REFUSED = {
    "a write": ("str r0, [r3, #4]", "accesses DWT->CYCCNT, which is the kernel's"),
    "a part of it": ("ldrh r5, [r3, #4]\\n str r5, [r2, #4]", "accesses DWT->CYCCNT"),
    "another register": ("ldr r5, [r3]\\n str r5, [r2, #4]", "accesses DWT->CTRL"),
    "a block of registers": ("ldm r3, {r5, r6}\\n str r6, [r2, #4]", "register"),
}
PLAIN = """
#include <stdint.h>
uint32_t now(void);
__attribute__((naked)) uint32_t now(void)
{ __asm volatile("mrs r1, primask\\n ldr r0, =0xE0001004\\n ldr r0, [r0]\\n bx lr\\n .ltorg"); }
"""


def test_each_read_of_a_handler_is_a_call(tmp_path: Path) -> None:
    ports = fixture(tmp_path, NAKED.format(text=SAVE + TWICE + LOAD)).port()
    (port,) = [port for port in ports if port.proof is not None]
    assert port.status == "rewritten"
    handler, _, choice = port.replacement.partition(b"_choose(void)")
    assert [it.count(b"virt_cycles()") for it in (handler, choice)] == [2, 2]


def test_a_plain_function_returns_it(tmp_path: Path) -> None:
    ports = fixture(tmp_path, PLAIN).port()
    (port,) = [port for port in ports if port.name == "now"]
    assert port.status == "rewritten" and b"virt_cycles()" in port.replacement, port.reason


@pytest.mark.parametrize(("access", "reason"), REFUSED.values(), ids=REFUSED)
def test_only_reads_of_it_have_a_counterpart(access: str, reason: str, tmp_path: Path) -> None:
    text = SAVE + f"ldr r3, =0xE0001000\\n {access}\\n" + LOAD
    ports = fixture(tmp_path, NAKED.format(text=text)).port()
    reasons = [port.reason for port in ports if port.status == "escalated"]
    assert reasons and reason in reasons[0]


@pytest.mark.parametrize("ported", WRONG.values(), ids=WRONG)
def test_both_oracles_tell_looks_apart(ported: str, tmp_path: Path) -> None:
    names = ("PendSV_Handler", "PendSV_Handler")
    right = link_pair(*middle(tmp_path / "right", TWICE, PORTED), names, (), COMMAND)
    assert equivalent(*right, SWITCH) == 1
    assert compare(*right, SWITCH, STATES, STATES // 3)[0].states > STATES // 3
    wrong = link_pair(*middle(tmp_path / "wrong", TWICE, ported), names, (), COMMAND)
    with pytest.raises(NotProved):
        equivalent(*wrong, SWITCH)
    with pytest.raises(NotProved):
        compare(*wrong, SWITCH, STATES, STATES // 3)
