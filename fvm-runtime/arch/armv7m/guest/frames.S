/* Yields in user mode for any RTOS whose switch handler saves r4-r11 right below the exception
 * frame, or below S16-S31 there: virt_yield_frames. The yielding task gets the frame that PendSV
 * would have found, whole and true, so the RTOS's own handler resumes it as it resumes others, and
 * whoever looks into it finds what he would find on the machine:
 *
 *   what the pick puts there, r4-r11, [S16-S31], r0-r3, r12, lr, pc, xPSR, [S0-S15, FPSCR, -]
 *
 * lr is the yield's own, pc guest_go_on, which goes there: by that a cooperative frame is known,
 * and r0-r3, r12, the flags and S0-S15, which no call keeps, aren't loaded.
 *
 * It is what switch.S calls as choose(), and doesn't return: with r3 pointing to {-, pick}, r7 to
 * fvm_state.task_switch, int_mask.pri set, and the frame of switch.S on the stack.
 */
#include <fvm/hypercall.h>

    .syntax unified
    .thumb

/* Offsets in fvm_state from fvm_state.task_switch; frame.c checks them. */
#define MASK_PRI -14
#define PEND -12

#define CONTROL_FPCA_SHIFT 2
#define XPSR_T 0x01000000
#define XPSR_IT_OR_PADDED 0x0600FE00
#define EXC_RETURN_BASIC 0x10

/* Of the frame of switch.S, of an exception frame, and their sizes. */
#define SAVED_MARK 32
#define SAVED_LR 36
#define SAVED_FPSCR 44
#define SIZE 40
#define SIZE_FPU (48 + 64)
#define FRAME_LR 20
#define FRAME_PC 24
#define FRAME_XPSR 28
#define FRAME_FPSCR 96
#define FRAME_SIZE 32
#define FRAME_SIZE_FPU 104
#define ROOM 8 /* for what the pick puts below r4-r11 */

/* From the stack at r0, with r4 as r7 was: VCT may come now. */
    .macro unmask
    mov sp, r0                  /* not loaded: errata 752770, 752419 */
    movs r2, #0
    strb r2, [r4, #MASK_PRI]
    ldr r3, [r4, #PEND]
    cbz r3, 1f
    mov r0, r4
    bl guest_unmask
1:
    .endm

    .section .text.guest_choose_by_frame, "ax", %progbits
    .balign 4
    .thumb_func
    .global guest_choose_by_frame
    .type guest_choose_by_frame, %function
guest_choose_by_frame:
    ldr r3, [r3, #4]
    mov r12, r7
    ldr r2, [sp, #SAVED_LR]
#ifdef __ARM_FP
    ldr r1, [sp, #SAVED_MARK]
    cmp r1, r7
    bne with_fpu
#endif
    pop {r4-r11}
    add sp, #SIZE - 32
    ldr r0, =guest_go_on
    mov r1, #XPSR_T
    push {r0, r1}
    mov lr, r2
    push {r0-r3, r12, lr}
    add r0, sp, #0
    push {r4-r11}
    mvn r1, #2                  /* EXC_RETURN 0xFFFFFFFD */
pick:
    mov r4, r12
    sub sp, #ROOM
    push {r0, r1}
    mov r0, sp
    blx r3
    pop {r0, r1}
    ldr r2, [r0, #FRAME_PC]
    ldr r3, =guest_go_on
#ifdef __ARM_FP
    tst r1, #EXC_RETURN_BASIC
    beq to_fpu
#endif
    cmp r2, r3
    bne preempted
    subs r0, #32
    unmask
    pop {r4-r11}
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
    subs r0, #32
    unmask
    clrex                       /* as the exception return that this stands for */
    ldr r1, [sp, #32 + FRAME_XPSR]
#ifdef __ARM_FEATURE_SIMD32
    msr apsr_nzcvqg, r1
#else
    msr apsr_nzcvq, r1
#endif
    pop {r4-r11}
    pop {r0-r3, r12, lr}
    ldr pc, [sp], #8

#ifdef __ARM_FP
with_fpu:
    ldr r1, [sp, #SAVED_FPSCR]
    pop {r4-r11}
    add sp, #SIZE_FPU - 32
    push {r1, r2}
    sub sp, #64                 /* S0-S15 */
    ldr r0, =guest_go_on
    mov r1, #XPSR_T
    push {r0, r1}
    mov lr, r2
    push {r0-r3, r12, lr}
    add r0, sp, #0
    vpush {s16-s31}
    push {r4-r11}
    mvn r1, #0x12               /* EXC_RETURN 0xFFFFFFED */
    b pick

to_fpu:
    cmp r2, r3
    bne by_kernel
    subs r0, #96
    unmask
    pop {r4-r11}
    vpop {s16-s31}
    ldr r3, [sp, #FRAME_FPSCR]
    vmsr fpscr, r3
    ldr lr, [sp, #FRAME_LR]
    add sp, #FRAME_SIZE_FPU
    bx lr
#endif

by_kernel:                      /* which lifts the mask */
    mov r2, r0
#ifdef __ARM_FP
    tst r1, #EXC_RETURN_BASIC
    it eq
    vldmdbeq r2!, {s16-s31}
#endif
    ldmdb r2, {r4-r11}
    mov sp, r0
    mov r12, #FVM_CALL_RESUME
    svc FVM_SVC                 /* doesn't return here */
    udf #0
    .ltorg
    .size guest_choose_by_frame, . - guest_choose_by_frame

    .section .text.guest_go_on, "ax", %progbits
    .balign 4
    .global guest_go_on         /* an address without its bit 0, as a frame has it */
guest_go_on:
    bx lr
    .size guest_go_on, . - guest_go_on
