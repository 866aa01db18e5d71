"""CPACR: opening the FPU means nothing in a machine, closing it does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.porter.helpers import DOMAIN, escalations, port_files, port_text

HEAD = """\
#define REG (*(volatile unsigned *)0xE000ED88)
#define FPU (0xFu << 20)
#define SET_BIT(r, b) ((r) |= (b))
#define CLEAR_BIT(r, b) ((r) &= ~(b))
#define MODIFY_REG(r, c, s) ((r) = (((r) & ~(c)) | (s)))
typedef struct { volatile unsigned CPUID, gap[33], CPACR; } SCB_Type;
#define SCB ((SCB_Type *)0xE000ED00)
extern unsigned x;
void put(volatile unsigned *p, unsigned x);
"""
CLOSE = "#define CLOSE() (REG &= ~FPU)\n"


@pytest.mark.parametrize(
    "statement",
    [
        "REG |= FPU;",
        "REG |= x;",
        "SCB->CPACR |= (3UL << 10 * 2) | (3UL << 11 * 2);",
        "REG = FPU;",
        "REG = REG | (3u << 20);",
        "REG = (REG & ~FPU) | FPU;",
        "REG = (REG & ~1u) | x;",
        "REG &= ~1u;",
        "SET_BIT(REG, FPU);",
        "MODIFY_REG(REG, FPU, FPU);",
        "volatile unsigned *const p = &SCB->CPACR; *p |= FPU;",
        "unsigned v = REG; v |= FPU; REG = v;",
        "unsigned v = REG | FPU; REG = v;",
        "unsigned v = FPU; REG = v;",
    ],
)
def test_what_opens_it_is_taken_out(tmp_path: Path, statement: str) -> None:
    ported, _ = port_text(tmp_path, f"{HEAD}void f(void) {{ {statement} g(); }}\n".encode())
    assert b"void f(void) { g(); }" in ported


@pytest.mark.parametrize(
    "statement",
    [
        "REG &= ~FPU;",
        "REG &= ~(3u << 22);",
        "REG &= x;",
        "REG = 0;",
        "REG = 5u << 20;",
        "REG = x;",
        "REG = REG & ~FPU;",
        "REG = REG & x;",
        "REG ^= FPU;",
        "REG -= FPU;",
        "SCB->CPACR &= ~FPU;",
        "CLEAR_BIT(REG, FPU);",
        "MODIFY_REG(REG, FPU, 0);",
        "MODIFY_REG(REG, FPU, x);",
        "CLOSE();",
        "volatile unsigned *const p = &SCB->CPACR; *p = 0;",
        "volatile unsigned *p = &REG; *p &= ~FPU;",
        "put(&REG, 0);",
        "*((volatile unsigned char *)0xE000ED8A) &= ~0xF0;",
        "unsigned v = REG; REG |= FPU; g(); REG = v;",
        "unsigned v = REG; v |= FPU; v = x; REG = v;",
        "unsigned v = REG; v |= FPU; v &= x; REG = v;",
        "unsigned v = REG; if (x) v |= FPU; REG = v;",
        "unsigned v = FPU; if (x) v = 0; REG = v;",
        "unsigned v = FPU; put(&v, x); REG = v;",
        "unsigned v; v = 0; put(&v, (v = FPU)); REG = v;",
        "if (x) REG |= FPU; else REG &= ~FPU;",
        'asm volatile("ldr r0, =0xE000ED88\\n mov r1, #0\\n str r1, [r0]" ::: "r0", "r1");',
        'asm volatile("ldr r0, =0xE000ED88\\n ldr r1, [r0]\\n bic r1, r1, #0xF00000\\n'
        ' str r1, [r0]" ::: "r0", "r1");',
        'asm volatile("ldr r0, =0xE000ED88\\n str %0, [r0]" :: "r"(x) : "r0");',
    ],
)
def test_what_may_close_it_needs_a_person(tmp_path: Path, statement: str) -> None:
    macro = CLOSE if "CLOSE" in statement else ""
    text = f"{HEAD}{macro}void f(void) {{ {statement} g(); }}\n"
    assert escalations(port_files(tmp_path, {"main.c": text.encode()}))


@pytest.mark.parametrize("fpu", [True, False])
def test_who_closes_it_is_told_why(tmp_path: Path, fpu: bool) -> None:
    text = f"{HEAD}void f(void) {{ REG &= ~FPU; }}\n".encode()
    (told,) = escalations(port_files(tmp_path, {"main.c": text}, replace(DOMAIN, fpu=fpu)))
    assert "may close the FPU" in told and "S16-S31" in told


def test_instructions_that_open_it_are_taken_out(tmp_path: Path) -> None:
    text = (
        'void f(void) { asm volatile("ldr r0, =0xE000ED88\\n ldr r1, [r0]\\n'
        ' orr r1, r1, #0xF00000\\n str r1, [r0]" ::: "r0", "r1"); g(); }\n'
    )
    ported, _ = port_text(tmp_path, text.encode())
    assert b"void f(void) { g(); }" in ported


def test_without_the_grant_opening_it_needs_a_person(tmp_path: Path) -> None:
    text = f"{HEAD}void f(void) {{ REG |= FPU; }}\n".encode()
    (told,) = escalations(port_files(tmp_path, {"main.c": text}, replace(DOMAIN, fpu=False)))
    assert "doesn't grant it" in told


def test_a_switch_that_closes_it_needs_a_person(tmp_path: Path) -> None:
    text = """\
    .syntax unified
    .thumb
    .global PendSV_Handler
    .type PendSV_Handler, %function
    .thumb_func
PendSV_Handler:
    mrs   r0, psp
    stmdb r0!, {r4-r11, lr}
    ldr   r4, =current
    ldr   r1, [r4]
    str   r0, [r1]
    bl    pick
    ldr   r2, =0xE000ED88
    WRITE
    str   r3, [r2]
    ldr   r1, [r4]
    ldr   r0, [r1]
    ldmia r0!, {r4-r11, lr}
    msr   psp, r0
    bx    lr
    .pool
"""
    for number, write in enumerate(
        ("mov r3, #0", "ldr r3, [r2]\n    bic r3, r3, #0xF00000", "mov r3, #0x300000")
    ):
        source = text.replace("WRITE", write).encode()
        assert escalations(port_files(tmp_path / str(number), {"switch.S": source}))
