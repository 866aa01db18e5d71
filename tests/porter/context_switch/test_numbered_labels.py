"""Numbered labels in the text of a function that is taken out of its file: who else goes there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.test_assembler_file import named
from tests.porter.context_switch.trees import M3, fixture

GNU = """\
    .syntax unified
    .thumb
    .text
    .global mark, lock, next
    .type mark, %function
    .type lock, %function
    .type next, %function
mark:
    ldr     r1, =ready
    mov     r0, #1
1:  subs    r0, r0, #1
    bne     1b
    bx      lr
lock:
    cpsid   i
1:  ldr     r1, =ready
0:  str     r0, [r1]
    bx      lr
next:
    cmp     r0, #9
    blo     0f
    mov     r0, #0
    bx      lr
0:  adds    r0, r0, #1
    bx      lr
"""
ARM = """\
        AREA    |.text|, CODE, READONLY
        THUMB
        EXPORT  mark
        EXPORT  lock
        EXPORT  next
        IMPORT  ready
mark
1       LDR     R1, =ready
        MOVS    R0, #3
        BX      LR
lock
        CPSID   I
        LDR     R1, =ready
1       STR     R0, [R1]
        BX      LR
next
        CMP     R0, #9
        BLO     %F1
        BX      LR
1       ADDS    R0, R0, #1
        BX      LR
        END
"""
FAULT = """\
    .global HardFault_Handler
    .type HardFault_Handler, %function
HardFault_Handler:
    mrs     r0, psp
2:  b       2b
"""
C = "extern int ready;\nvoid mark(void);\nint lock(int it);\nint next(int it);\n"

INTO_IT = {
    "forwards": (GNU.replace("bne     1b\n    bx      lr", "bne     1b\n    b       0f"), "mark"),
    "backwards": (GNU.replace("blo     0f", "bls     1b"), "next"),
    "an address": (GNU.replace("mov     r0, #0\n", "adr     r0, 1b\n", 1), "next"),
    "a word": (GNU + "    .align 2\n    .word 1b - .\n", "next"),
    "by a macro": (
        "#define AGAIN 1b\n" + GNU.replace("blo     0f", "bls     AGAIN"),
        "next",
    ),
    "a label of a macro": (
        "    .macro entry\n1:  ldr     r1, =ready\n    .endm\n"
        + GNU.replace("i\n1:  ldr     r1, =ready", "i\n    entry").replace("blo     0f", "bls 1b"),
        "next",
    ),
    "Arm's, forwards": (ARM.replace("#3\n        BX      LR", "#3\n        B       %F1"), "mark"),
    "Arm's, backwards": (ARM.replace("%F1", "%B1"), "next"),
    "Arm's, any way": (ARM.replace("%F1", "%1"), "next"),
}


@pytest.mark.parametrize("how", INTO_IT)
def test_a_function_that_others_go_into_by_a_number_stays(how: str, tmp_path: Path) -> None:
    text, user = INTO_IT[how]
    found = port(tmp_path, text, "lock")
    assert found.status == "escalated"
    assert f"{user} goes to a label in the text that goes" in found.reason


OWN = {
    "its own": GNU,
    "its own, of Arm's": ARM,
    "of what stays": GNU.replace(
        "bne     1b\n    bx      lr", "bne     1b\n    b       5f"
    ).replace("0:  adds", "5:\n0:  adds"),
    "of what stays, in front": GNU.replace("1:  ldr", "    ldr").replace(
        "blo     0f", "bls     1b"
    ),
    "by name": GNU.replace("blo     0f", "blo     lock"),
    "beginning at a label": GNU.replace("    cpsid   i\n1:", "7:  cpsid   i\n1:"),
}


@pytest.mark.parametrize("how", OWN)
def test_numbers_of_its_own_go_with_it(how: str, tmp_path: Path) -> None:
    assert port(tmp_path, OWN[how], "lock").status == "rewritten"


def test_two_that_share_a_label_go_together(tmp_path: Path) -> None:
    text = GNU.replace("    mov     r0, #0\n    bx      lr", "    cpsid   i\n    b       1b")
    assert port(tmp_path, text, "next").status == "rewritten"


@pytest.mark.parametrize(("user", "status"), [("2f", "escalated"), ("0f", "rewritten")])
def test_a_handler_of_faults_may_be_needed(user: str, status: str, tmp_path: Path) -> None:
    text = (
        GNU.replace("blo     0f", f"blo     {user}")
        + FAULT
        + "    .type last, %function\nlast:\n2: bx lr\n"
    )
    assert port(tmp_path, text, "HardFault_Handler").status == status


def port(folder: Path, text: str, name: str) -> SwitchPort:
    """What becomes of one function."""
    tree = fixture(folder, text, M3, "switch.S")
    header = folder / "os.c"
    header.write_text(C)
    return named(replace(tree, files=(*tree.files, header)).port(), name)
