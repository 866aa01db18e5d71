/* Invocations with every register known: none of them may arrive on the other side. */
#include <fvm/hypercall.h>

    .syntax unified
    .thumb
    .fpu fpv4-sp-d16

    .macro fill high
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    movw r\n, #\n
    movt r\n, #\high
    .endr
    .endm

    .macro fill_fpu
    vmov s0, r4
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23
    vmov s\n, r4
    .endr
    .irp n, 24, 25, 26, 27, 28, 29, 30, 31
    vmov s\n, r4
    .endr
    .endm

/* Client: void invoke_registers(uint32_t cap, uint32_t *seen, uint32_t with_fpu): invokes with
 * 0xCA11nnnn in r4-r11 and, if told so, in s0-s31; then what it finds: r0-r12, s0-s31. */
    .section .text.invoke_registers, "ax", %progbits
    .thumb_func
    .global invoke_registers
    .type invoke_registers, %function
invoke_registers:
    push {r4-r11, lr}
    sub sp, sp, #4
    str r1, [sp]
    fill 0xCA11
    cbz r2, 1f
    fill_fpu
1:  movs r1, #11
    movs r2, #22
    movs r3, #33
    mov r12, #FVM_CALL_INVOKE
    svc FVM_SVC
    str lr, [sp, #-4]!
    ldr lr, [sp, #4]
    stmia lr!, {r0-r12}
    vstmia lr, {s0-s31}
    ldr lr, [sp], #4
    add sp, sp, #4
    pop {r4-r11, pc}
    .size invoke_registers, . - invoke_registers

/* Server: uint32_t serve_registers(a, b, c, broken): notes all registers on the board, leaves
 * 0x5E4Ennnn in them, returns 99. */
    .section .text.serve_registers, "ax", %progbits
    .thumb_func
    .global serve_registers
    .type serve_registers, %function
serve_registers:
    push {r4, lr}
    ldr lr, =board_seen
    ldr lr, [lr]
    stmia lr!, {r0-r12}
    vstmia lr, {s0-s31}
    fill 0x5E4E
    fill_fpu
    movw r1, #1
    movt r1, #0x5E4E
    mov r2, r1
    mov r3, r1
    movs r0, #99
    ldr lr, [sp, #4]
    add sp, sp, #8
    bx lr
    .ltorg
    .size serve_registers, . - serve_registers
