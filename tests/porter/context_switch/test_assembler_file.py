"""Handlers in assembler files: what is understood is said, and the file is left to a person."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.porter.context_switch.trees import M3, Tree, fixture

HANDLER = """\
    .syntax unified
    .thumb
    .text
    .global PendSV_Handler
    .type PendSV_Handler, %function
PendSV_Handler:
    mrs     r0, psp
    stmdb   r0!, {r4-r11}       @ save
    ldr     r1, =current
    ldr     r2, [r1]
    str     r0, [r2]
    push    {r1, lr}
    bl      choose
    pop     {r1, lr}
    ldr     r2, [r1]
    ldr     r0, [r2]
    ldmia   r0!, {r4-r11}
    msr     psp, r0
    bx      lr
    .size PendSV_Handler, . - PendSV_Handler
    .global Reset_Handler
    .type Reset_Handler, %function
Reset_Handler:
    ldr     r0, =0x20001000
    b       Reset_Handler
"""


def with_header(folder: Path, prototype: str) -> Tree:
    tree = fixture(folder, HANDLER, M3, "switch.S")
    header = folder / "os.h"
    header.write_text(prototype)
    return replace(tree, files=(*tree.files, header))


def test_understood_handler_is_named_with_its_role(tmp_path: Path) -> None:
    (found,) = with_header(tmp_path, "void choose(void);\n").port()
    assert (found.status, found.role, found.name) == ("escalated", "switch", "PendSV_Handler")
    assert "13 instructions understood" in found.reason
    assert found.file.read_bytes()[found.start :].startswith(b"PendSV_Handler:")


def test_prototypes_come_from_the_projects_headers(tmp_path: Path) -> None:
    (found,) = with_header(tmp_path, "void other(void);\n").port()
    assert "no prototype of choose()" in found.reason
