/* A program whose counts are known: between the marks `block` are 5 + 3 * 40 instructions outside of
 * exceptions and 2 in the SVC's handler, 2 words loaded and 3 stored; a line's entry is 3 before the
 * mark `handler`. With FPU defined the SVC's handler stores two of S16-S31 and loads them. It ends with an exit status: the instructions of the block by the free running
 * SysTick, 168 MHz, of which one takes 16 ns. */
    .syntax unified
    .thumb
    .cpu cortex-m4
    .fpu fpv4-sp-d16

    .section .vectors, "a"
    .word 0x20010000
    .word reset + 1
    .fill 9, 4, 0
    .word svc_handler + 1
    .fill 4, 4, 0
    .fill 37, 4, 0
    .word line_handler + 1

    .text
    .thumb_func
reset:
#ifdef FPU
    ldr r0, =0xE000ED88         /* CPACR */
    mov r1, #0xF00000
    str r1, [r0]
    dsb
    isb
    vmov s0, r1                 /* FPU state is live */
#endif
    ldr r0, =0xE000E010
    ldr r1, =0xFFFFFF
    str r1, [r0, #4]
    movs r1, #0
    str r1, [r0, #8]
    movs r1, #5                 /* processor clock, no interrupt */
    str r1, [r0]
    ldr r1, =0xE000E100
    movs r2, #32
    str r2, [r1, #4]            /* line 37 */
    ldr r7, =0xE000E200
    ldr r5, =0x20000000
    ldr r6, rounds_block_place
    ldr r6, [r6]
again:
    ldr r8, [r0, #8]
mark_block_start.1:
    ldrd r1, r2, [r5]           /* 2 words */
    stmia r5, {r1, r2, r3}      /* 3 words */
    svc 0
    movs r4, #40
1:  subs r4, #1
    nop
    bne 1b
    nop
mark_block_stop.1:
    ldr r9, [r0, #8]
    movs r2, #32
    str r2, [r7, #4]            /* pends line 37 */
    dsb
    isb
    subs r6, #1
    bne again

    sub r8, r8, r9
    movs r1, #125
    mul r8, r8, r1
    add r8, r8, #168
    mov r1, #336
    udiv r8, r8, r1
    sub r8, r8, #1              /* the first of the two loads of the timer */
    ldr r1, =0x20000100
    ldr r2, =0x20026
    strd r2, r8, [r1]
    movs r0, #0x20
    bkpt 0xAB
    b .
rounds_block_place:
    .word rounds_block
    .ltorg

    .thumb_func
svc_handler:
    nop
#ifdef FPU
    vstmia r5, {s16, s17}
    vldmia r5, {s16, s17}
#endif
    bx lr

    .thumb_func
line_handler:
    nop
    nop
    nop
mark_handler.1:
    nop
    bx lr

    .section .rodata, "a"
rounds_block:
    .word 3
