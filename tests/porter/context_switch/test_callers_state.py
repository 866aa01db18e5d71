"""A handler that resumes a task at a supervisor call finds no registers of its caller."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.trees import M3, fixture

HANDLER = """\
    .syntax unified
    .thumb
    .text
    .global {name}
    .type {name}, %function
{name}:
    push    {{r4, lr}}
    {before}
    mrs     r0, psp
    stmdb   r0!, {{r4-r11}}
    {middle}
    bl      next
    ldmia   r0!, {{r4-r11}}
    msr     psp, r0
    {behind}
    pop     {{r4, pc}}
"""
HEADER = "void *next(void *sp, unsigned number, void *argument);\n"
SAVED = "ldr r1, [r0, #{}]\nmov r2, r0"
NEXT = (
    '#include "os.h"\nvoid *next(void *sp, unsigned number, void *argument)\n{{ {} return sp; }}\n'
)
WORD = "unsigned *all = sp; if (all[{}]) {{ }}"


def port(folder: Path, body: dict[str, str], c: str = "", name: str = "SVC_Handler") -> SwitchPort:
    lines = {"before": "", "middle": SAVED.format(0), "behind": "", **body}
    tree = fixture(folder, HANDLER.format(name=name, **lines), M3, "switch.S")
    (folder / "os.h").write_text(HEADER)
    (folder / "os.c").write_text(NEXT.format(c))
    files = (*tree.files, folder / "os.h", folder / "os.c")
    (found,) = [it for it in replace(tree, files=files).port() if it.name == name]
    return found


READ = {
    "r0": ({"middle": SAVED.format(32)}, ""),
    "r3": ({"middle": SAVED.format(44)}, ""),
    "the address behind the call": ({"middle": SAVED.format(56)}, ""),
    "before it is saved": (
        {"before": "mrs r3, psp\nldr r3, [r3]\nldr r12, =last\nstr r3, [r12]"},
        "",
    ),
    "a block": ({"before": "mrs r3, psp\nldmia r3!, {r1, r2}\nldr r12, =last\nstr r2, [r12]"}, ""),
    "C": ({}, WORD.format(8)),
    "C, its pc": ({}, WORD.format(14)),
}


@pytest.mark.parametrize("name", READ)
def test_registers_of_the_caller_are_none_of_the_ports(name: str, tmp_path: Path) -> None:
    found = port(tmp_path, *READ[name])
    assert found.status == "escalated"
    assert "a register of its caller" in found.reason and "supervisor_call.c" in found.reason


NOT_READ = {
    "saved registers": ({"middle": SAVED.format(28)}, WORD.format(7)),
    "xPSR": ({"middle": SAVED.format(60)}, WORD.format(15)),
    "another task's": ({"behind": "ldr r1, [r0]\nldr r2, =last\nstr r1, [r2]"}, ""),
}


@pytest.mark.parametrize("name", NOT_READ)
def test_other_words_of_its_stack_are(name: str, tmp_path: Path) -> None:
    found = port(tmp_path, *NOT_READ[name])
    assert found.status == "rewritten", found.reason


def test_an_interrupt_interrupts_a_task_where_it_is(tmp_path: Path) -> None:
    found = port(tmp_path, *READ["r0"], name="PendSV_Handler")
    assert found.status == "rewritten", found.reason
