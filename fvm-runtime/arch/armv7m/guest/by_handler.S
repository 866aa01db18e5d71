/* Yields in user mode by the RTOS's own switch handler, whatever it does: VIRT_YIELD_HANDLER. USR
 * runs it on VCT's stack, which VCT doesn't use while it waits, over a register block of the
 * library's in place of the kernel's. So it finds what it would find in VCT: vct_act is 1, and
 * int_mask.pri keeps VCT away. The yielding task gets the frame that PendSV would have found:
 *
 *   r0-r3, r12, lr, pc, xPSR, [S0-S15, FPSCR, -]
 *
 * lr is the yield's own, pc guest_go_on, which goes there: by that a cooperative frame is known,
 * and r0-r3, r12, the flags and S0-S15, which no call keeps, aren't loaded.
 *
 * From switch.S, with r0 pointing to fvm_state.task_switch, int_mask.pri set and nothing saved; or
 * as choose(), which doesn't return: with r7 for r0, and the frame of switch.S on the stack.
 */
#include <fvm/hypercall.h>

    .syntax unified
    .thumb

/* Offsets in fvm_state from fvm_state.task_switch; frame.c checks them. */
#define BUSY -16
#define MASK_PRI -14
#define PEND -12
#define KERNELS 16              /* usr_reg, which the kernel saves USR to */

#define CONTROL_FPCA_SHIFT 2
#define XPSR_T 0x01000000
#define XPSR_IT_OR_PADDED 0x0600FE00
#define EXC_RETURN_BASIC 0x10

/* Of the block: struct fvm_usr_reg, then where VCT's stack is free, and the handler. */
#define BLOCK_LR 32
#define BLOCK_FPU 40
#define BLOCK_STACK 104

/* Of the frame of switch.S, of an exception frame, and their sizes. */
#define SAVED_LR 36
#define SIZE 40
#define FRAME_LR 20
#define FRAME_PC 24
#define FRAME_XPSR 28
#define FRAME_FPSCR 96
#define FRAME_SIZE 32
#define FRAME_SIZE_FPU 104

/* What of the frame is the same with FPU state and without. r0: the block; r12: as r0 was. */
    .macro push_frame
    ldr r1, =guest_go_on
    mov r3, #XPSR_T
    push {r1, r3}
    push {r0-r3, r12, lr}
    mov r12, r0
    ldr r0, =guest_block
    .endm

/* With that r12: VCT may come now. */
    .macro unmask
    movs r2, #0
    strb r2, [r12, #MASK_PRI]
    ldr r3, [r12, #PEND]
    cbz r3, 1f
    mov r0, r12
    bl guest_unmask
1:
    .endm

    .section .text.guest_choose_by_handler, "ax", %progbits
    .balign 4
    .thumb_func
    .global guest_choose_by_handler
    .type guest_choose_by_handler, %function
guest_choose_by_handler:
    mov r0, r7
    ldr lr, [sp, #SAVED_LR]
    pop {r4-r11}
    add sp, #SIZE - 32
#ifndef __ARM_FP
    .thumb_func
    .global guest_enter_handler
    .type guest_enter_handler, %function
guest_enter_handler:
#endif
    push_frame
    mvn r1, #2                  /* EXC_RETURN 0xFFFFFFFD */
    stm r0, {r4-r11}
choose:
    mov r3, sp
    strd r1, r3, [r0, #BLOCK_LR]
    mov r4, r0
    mov r5, r12
    ldrd r1, r3, [r4, #BLOCK_STACK]
    ldr r6, =virt_usr_reg
    movs r2, #1
    str r4, [r6]
    strb r2, [r5, #BUSY]
    mov sp, r1                  /* not loaded: errata 752770, 752419 */
    blx r3
    movs r2, #0
    adds r3, r5, #KERNELS
    strb r2, [r5, #BUSY]
    str r3, [r6]
    ldrd r1, r0, [r4, #BLOCK_LR]
    mov r12, r5
    mov sp, r0
#ifdef __ARM_FP
    tst r1, #EXC_RETURN_BASIC
    beq to_fpu
#endif
    ldm r4, {r4-r11}
    ldr r2, [r0, #FRAME_PC]
    ldr r3, =guest_go_on
    cmp r2, r3
    bne preempted
    unmask
    ldr lr, [sp, #FRAME_LR]
    add sp, #FRAME_SIZE
    bx lr

preempted:
    adds r2, r1, #3             /* EXC_RETURN 0xFFFFFFFD: a frame without FPU state */
    bne by_kernel
#ifdef __ARM_FP
    mrs r3, control
    lsls r3, r3, #31 - CONTROL_FPCA_SHIFT
    bmi by_kernel
#endif
    ldr r2, [r0, #FRAME_XPSR]
    ldr r3, =XPSR_IT_OR_PADDED
    tst r2, r3
    bne by_kernel
    ldr r3, [r0, #FRAME_PC]
    orr r3, r3, #1
    str r3, [r0, #FRAME_PC]
    unmask
    clrex                       /* as the exception return that this stands for */
    ldr r1, [sp, #FRAME_XPSR]
#ifdef __ARM_FEATURE_SIMD32
    msr apsr_nzcvqg, r1
#else
    msr apsr_nzcvq, r1
#endif
    pop {r0-r3, r12, lr}
    ldr pc, [sp], #8

#ifdef __ARM_FP
    .thumb_func
    .global guest_enter_handler
    .type guest_enter_handler, %function
guest_enter_handler:            /* FPU state is live */
    vmrs r1, fpscr
    movs r2, #0
    push {r1, r2}
    sub sp, #64                 /* S0-S15 */
    vmsr fpscr, r2              /* what a task finds that never used the FPU: FPDSCR is 0 */
    push_frame
    mvn r1, #0x12               /* EXC_RETURN 0xFFFFFFED */
    add r3, r0, #BLOCK_FPU
    stm r0, {r4-r11}
    vstm r3, {s16-s31}
    b choose

to_fpu:
    add r2, r4, #BLOCK_FPU
    ldm r4, {r4-r11}
    vldm r2, {s16-s31}
    ldr r2, [r0, #FRAME_PC]
    ldr r3, =guest_go_on
    cmp r2, r3
    bne by_kernel
    unmask
    ldr r3, [sp, #FRAME_FPSCR]
    ldr lr, [sp, #FRAME_LR]
    vmsr fpscr, r3
    add sp, #FRAME_SIZE_FPU
    bx lr
#endif

by_kernel:                      /* which lifts the mask */
    mov r12, #FVM_CALL_RESUME
    svc FVM_SVC                 /* doesn't return here */
    udf #0
    .ltorg
    .size guest_choose_by_handler, . - guest_choose_by_handler

    .section .text.guest_go_on, "ax", %progbits
    .balign 4
    .global guest_go_on         /* an address without its bit 0, as a frame has it */
guest_go_on:
    bx lr
    .size guest_go_on, . - guest_go_on

    .section .data.virt_usr_reg, "aw", %progbits
    .balign 4
    .global virt_usr_reg
    .type virt_usr_reg, %object
virt_usr_reg:
    .word fvm_state + 32
    .size virt_usr_reg, 4
