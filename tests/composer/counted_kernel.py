"""A "kernel" and a domain written so that every path's number of instructions is known.

The domain makes call 7, pends line 5, then line 6, whose handler pends line 7 so that this one
follows without a thread in between; then it reads where nothing is, in the middle of a block.
"""

from __future__ import annotations

from pathlib import Path

from composer.image.composed import Composed, read_composed
from tests.composer import tiny_system

RESET, CALL, FAULT = 6, 23, 13
LINES = {5: 10, 6: 13, 7: 4}
ALPHA = 33
KERNEL = RESET + CALL + FAULT + sum(LINES.values())

KERNEL_C = """
#include <stdint.h>
uint8_t thread_table[4 * 28], domain_table[2 * 8];
const uint8_t fvm_thread[4][4] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
const uint8_t fvm_irq_route[8][4] = {{1}};
__asm__(
    ".syntax unified\\n"
    ".macro function name\\n .thumb_func\\n .global \\\\name\\n .type \\\\name, %function\\n"
    "\\\\name:\\n .endm\\n"
    ".section .vectors, \\"a\\"\\n"
    ".global vector_table\\n"
    "vector_table: .word 0x20004000, reset, 0, fault_stub, fault_stub, fault_stub, fault_stub\\n"
    ".word 0, 0, 0, 0, call_stub, 0, 0, start_stub, timer_stub\\n"
    ".rept 7\\n .word line_stub\\n .endr\\n"
    ".word own_stub\\n"
    ".text\\n"
    "function reset\\n"
    "ldr r0, =0xE000E100\\n movs r1, #0xE0\\n str r1, [r0]\\n" /* lines 5 to 7 are open */
    "ldr r0, =0x08004008\\n ldr r0, [r0]\\n bx r0\\n"          /* the domain's first entry */
    "function timer_stub\\n"
    "bx lr\\n"
    "function call_stub\\n"
    ".rept 19\\n nop\\n .endr\\n"
    "b enter\\n"
    "function enter\\n" /* thread 3 goes on */
    "ldr r1, =thread_table + 84\\n ldrd r2, r3, [r1]\\n bx lr\\n"
    "function start_stub\\n"
    "bx lr\\n"
    "function fault_stub\\n" /* thread 2 is stopped, its domain restarted; the read is skipped */
    "ldr r1, [sp, #24]\\n adds r1, #2\\n str r1, [sp, #24]\\n"
    "push {r3, lr}\\n bl fault_raise\\n bl domain_start_again\\n pop {r3, pc}\\n"
    "function fault_raise\\n"
    "ldr r0, =thread_table + 56 + 8\\n ldr r1, [r0]\\n"
    "bx lr\\n"
    ".size fault_raise, . - fault_raise\\n"
    "function domain_start_again\\n"
    "ldr r0, =domain_table + 8\\n ldr r1, [r0]\\n"
    "bx lr\\n"
    ".size domain_start_again, . - domain_start_again\\n"
    "function line_stub\\n"
    "mrs r0, ipsr\\n push {r3, lr}\\n subs r0, #16\\n bl interrupt_dispatch\\n pop {r3, pc}\\n"
    "function interrupt_dispatch\\n"
    "ldr r1, =fvm_irq_route\\n ldrb r2, [r1, r0, lsl #2]\\n cmp r0, #6\\n bne 1f\\n"
    "ldr r1, =0xE000E200\\n movs r2, #0x80\\n str r2, [r1]\\n"
    "1: bx lr\\n"
    ".size interrupt_dispatch, . - interrupt_dispatch\\n"
    "function own_stub\\n"
    "nop\\n nop\\n nop\\n bx lr\\n"
    ".ltorg\\n");
"""

ALPHA_C = """
#include <stdint.h>
__asm__(
    ".syntax unified\\n"
    ".macro function name\\n .thumb_func\\n .global \\\\name\\n .type \\\\name, %function\\n"
    "\\\\name:\\n .endm\\n"
    ".text\\n"
    "function main\\n"
    "movs r1, #7\\n bl fvm_call\\n"
    "ldr r4, =0xE000E200\\n movs r5, #0x20\\n str r5, [r4]\\n .rept 8\\n nop\\n .endr\\n"
    "movs r5, #0x40\\n str r5, [r4]\\n .rept 8\\n nop\\n .endr\\n"
    "ldr r4, =0xA0000000\\n nop\\n ldr r5, [r4]\\n nop\\n" /* nothing is there */
    "movs r0, #0x18\\n ldr r1, =0x20026\\n bkpt 0xAB\\n"   /* the end, said by semihosting */
    ".size main, . - main\\n"
    ".ltorg\\n"
    "function fvm_call\\n"
    "mov r12, r1\\n svc 245\\n"
    ".global after_call\\n"
    "after_call: bx lr\\n"
    ".size fvm_call, . - fvm_call\\n");
void main(void);
__attribute__((section(".fvm_header"), used)) const uint32_t header[10] = {
    0x444D5646u, 1, (uint32_t)main, 0x20005000, (uint32_t)main, 0x20005000};
"""


def make(folder: Path) -> Composed:
    """Compiled, and described as compose would describe it."""
    tiny_system.compose(folder)
    flash, _, ram, _ = tiny_system.PLACES["alpha"]
    tiny_system.build(folder, "alpha", ALPHA_C, flash=flash, ram=ram, entry="main")
    tiny_system.build_domain(folder, "beta")
    tiny_system.build(
        folder, "kernel", KERNEL_C, flash=tiny_system.FLASH, ram=tiny_system.RAM, entry="reset"
    )
    return read_composed(folder)
