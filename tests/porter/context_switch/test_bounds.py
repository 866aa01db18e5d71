"""Tasks in an array: where an index has no bound, the reason says that it is the index."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.trees import M3, fixture

TEXT = """
#include <stdint.h>
uint32_t *task_sp[4];
volatile uint8_t cur_task, next_task;
__attribute__((naked)) void PendSV_Handler(void)
{{
    __asm volatile(
        "mrs r0, psp \\n stmdb r0!, {{r4-r11}} \\n ldr r1, =cur_task \\n ldr r2, =task_sp \\n"
        "ldrb r3, [r1] \\n {bound} \\n"
        "{index} r0, {place} \\n"
        "ldr r3, =next_task \\n ldrb r3, [r3] \\n {bound} \\n strb r3, [r1] \\n"
        "ldr r0, [r2, r3, lsl #2] \\n ldmia r0!, {{r4-r11}} \\n msr psp, r0 \\n bx lr \\n .ltorg");
}}
"""
ONE = {"index": "str", "place": "[r2, r3, lsl #2]"}
ADDED = {"index": "add r12, r2, r3, lsl #2 \\n str", "place": "[r12]"}


def ported(folder: Path, bound: str, form: dict[str, str]) -> SwitchPort:
    ports = fixture(folder, TEXT.format(bound=bound, **form), M3).port()
    (port,) = [port for port in ports if port.name == "PendSV_Handler"]
    return port


@pytest.mark.parametrize("form", [ONE, ADDED], ids=["one access", "a sum"])
def test_an_index_without_a_bound_is_named(form: dict[str, str], tmp_path: Path) -> None:
    port = ported(tmp_path, "nop", form)
    assert port.status == "escalated" and "ends as 0x" in port.reason
    assert "lsl #2" in port.reason and "beyond the end of task_sp; if it never is" in port.reason


@pytest.mark.parametrize("form", [ONE, ADDED], ids=["one access", "a sum"])
def test_a_mask_is_bound_enough(form: dict[str, str], tmp_path: Path) -> None:
    port = ported(tmp_path, "and r3, #3", form)
    assert port.status == "rewritten" and port.proof is not None, port.reason
