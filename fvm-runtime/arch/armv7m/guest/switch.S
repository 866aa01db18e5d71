/* Task switches in user mode on ARMv7-M.
 *
 * A yield is a C call, so only r4-r11, lr and, with live FPU state, S16-S31 and FPSCR have to
 * survive. Its frame has the shape that legacy switch code expects, {r4-r11, EXC_RETURN} at SP, so
 * both kinds of frame can lie on the task stacks and either side can resume either kind:
 *
 *   preempted    r4-r11, EXC_RETURN (negative), [S16-S31], exception frame
 *   cooperative  r4-r11, mark (positive, bit 4 set: "no FPU block follows" to legacy code), lr,
 *                [padding, FPSCR, S16-S31]
 *
 * The mark is the address of fvm_state.task_switch, with FPU state the one MARK_FPU behind it.
 * An RTOS without EXC_RETURN in its frames (FVM_FRAMES_SHORT; only without FPU) has them so:
 *
 *   preempted    r4-r11, exception frame
 *   cooperative  r4-r11, six words, return address, 0 where xPSR with its T bit would be
 *
 * int_mask.pri is set from before the save until SP is on the new stack: VCT must not run its own
 * switch in between. A preempted task goes on in user mode, too, unless its frame stands inside an
 * IT block or a load multiple, is padded, or FPU state is in it or in the way: then the kernel's
 * resume call does it, which also lifts the mask.
 */
#include <fvm/hypercall.h>

    .syntax unified
    .thumb

/* Offsets in fvm_state from fvm_state.task_switch; frame.c checks them. */
#define BUSY -16
#define MASK_PRI -14
#define PEND -12
#define PEND_YIELD -11
#define FRAMES -3
#define FRAMES_SHORT 1
#define BLOCK_ENTER 112         /* of guest_block */

#define CONTROL_FPCA_SHIFT 2    /* of CONTROL: above it there is nothing */
#define MARK_FPU 32             /* as in frame.c */

/* Of a frame behind {r4-r11, mark}. */
#define SAVED_MARK 32
#define SAVED_PC (36 + 24)
#define SAVED_XPSR (36 + 28)
#define XPSR_IT_OR_PADDED 0x0600FE00
#define XPSR_T 0x01000000
#define XPSR_PADDED 0x00000200
#define FRAME_SIZE 32
#define EXC_RETURN_BASIC 0x10

/* Offsets of USR_REG in fvm_state, and in it. */
#define USR_REG 32
#define USR_TASK_SWITCH -16
#define USR_LR 32
#define USR_FPU 40

/* Of a short frame behind {r4-r11}. */
#define SHORT_PC (32 + 24)
#define SHORT_XPSR (32 + 28)

/* The registers are saved, the mask is set. r2: how far the chosen task's mark is behind r7. */
    .macro choose_task
    ldm r0, {r5-r7}             /* task, choose, self */
    ldr r3, [r5]
    str sp, [r3]
    blx r6
    ldr r3, [r5]
    ldr r0, [r3]
    ldr r4, [r0, #SAVED_MARK]
    mov sp, r0                  /* not loaded: errata 752770, 752419 */
    subs r2, r4, r7
    .endm

/* Goes on as the chosen task. */
    .macro choose_next
    choose_task
    bne other_frame
    strb r2, [r7, #MASK_PRI]
    ldr r3, [r7, #PEND]
    cbnz r3, 1f
    pop {r4-r11, r12, pc}
1:  mov r0, r7
    bl guest_unmask
    pop {r4-r11, r12, pc}
    .endm

    .section .text.guest_switch, "ax", %progbits

/* r0: fvm_state.task_switch, whose lowest byte is not 0. Slow half of unmask: the mask is lifted. */
    .balign 4
    .thumb_func
    .global virt_unmask_pending
    .type virt_unmask_pending, %function
virt_unmask_pending:
    ldrd r1, r2, [r0, #BUSY]    /* and PEND */
    orrs r1, r1, r2, lsl #24    /* not 0: the other mask, VCT or a vector */
#ifdef __ARM_FP
    mrs r3, control
    orrs r3, r1, r3, lsr #CONTROL_FPCA_SHIFT
    bne unmask_fpu
#else
    bne.w guest_unmask
    ldrb r3, [r0, #FRAMES]
    cbnz r3, other_unmask
#endif
    mov r12, r0
    push {r4-r11, r12, lr}
    strb r0, [r0, #MASK_PRI]
    strb r1, [r0, #PEND_YIELD]
    choose_next
#ifndef __ARM_FP
other_unmask:                   /* r1: 0, r3: FRAMES */
    strb r1, [r0, #PEND_YIELD]
    b other_switch
#endif
    .size virt_unmask_pending, . - virt_unmask_pending

#ifdef __ARM_FP
unmask_fpu:                     /* FPU state is live, or it is one of the other cases */
    cmp r1, #0
    bne.w guest_unmask
    strb r1, [r0, #PEND_YIELD]
switch_fpu:
    ldrb r3, [r0, #FRAMES]
    strb r0, [r0, #MASK_PRI]
    cbnz r3, 1f
    vmrs r3, fpscr
    vpush {s16-s31}
    push {r2, r3}
    movs r3, #0
    vmsr fpscr, r3              /* what a task finds that never used the FPU: FPDSCR is 0 */
    add r12, r0, #MARK_FPU
    push {r4-r11, r12, lr}
    choose_task                 /* most likely one with FPU state, too */
    cmp r2, #MARK_FPU
    beq with_fpu
    cmp r2, #0
    bne preempted
    b go_on
1:  ldr r3, =guest_block        /* linked where it is used */
    ldr pc, [r3, #BLOCK_ENTER]
#endif

/* r0 as above. From USR, unmasked. */
    .balign 4
    .thumb_func
    .global guest_switch
    .type guest_switch, %function
guest_switch:
#ifdef __ARM_FP
    mrs r3, control
    lsls r2, r3, #31 - CONTROL_FPCA_SHIFT
    bmi switch_fpu
#else
    ldrb r3, [r0, #FRAMES]
    cbnz r3, 2f
#endif
    mov r12, r0
    push {r4-r11, r12, lr}
    strb r0, [r0, #MASK_PRI]
    choose_next
#ifndef __ARM_FP
2:  b.w other_switch
#endif

#ifdef __ARM_FP
go_on:
    strb r2, [r7, #MASK_PRI]
    ldr r3, [r7, #PEND]
    cbz r3, 1f
    mov r0, r7
    bl guest_unmask
1:  pop {r4-r11, r12, pc}
#endif

other_frame:
#ifdef __ARM_FP
    cmp r2, #MARK_FPU
    bne preempted
with_fpu:
    movs r2, #0
    strb r2, [r7, #MASK_PRI]
    ldr r3, [r7, #PEND]
    cbz r3, 1f
    mov r0, r7
    bl guest_unmask
1:  pop {r4-r11, r12, lr}
    pop {r2, r3}
    vmsr fpscr, r3
    vpop {s16-s31}
    bx lr
#endif

preempted:
    adds r2, r4, #3             /* EXC_RETURN 0xFFFFFFFD: a frame without FPU state */
    bne by_kernel
#ifdef __ARM_FP
    mrs r3, control
    lsls r3, r3, #31 - CONTROL_FPCA_SHIFT
    bmi by_kernel
#endif
    ldr r1, [sp, #SAVED_XPSR]
    ldr r3, =XPSR_IT_OR_PADDED
    tst r1, r3
    bne by_kernel
    ldr r3, [sp, #SAVED_PC]
    orr r3, r3, #1
    str r3, [sp, #SAVED_PC]
    strb r2, [r7, #MASK_PRI]
    ldr r3, [r7, #PEND]
    cbz r3, 1f
    mov r0, r7
    bl guest_unmask
1:  clrex                       /* as the exception return that this stands for */
    ldr r1, [sp, #SAVED_XPSR]
#ifdef __ARM_FEATURE_SIMD32
    msr apsr_nzcvqg, r1
#else
    msr apsr_nzcvq, r1
#endif
    pop {r4-r11, r12}
    pop {r0-r3, r12, lr}
    ldr pc, [sp], #8

by_kernel:
    mov r1, r4
    pop {r4-r11, r12}
#ifdef __ARM_FP
    tst r1, #0x10
    it eq
    vpopeq {s16-s31}
#endif
    mov r0, sp
    mov r12, #FVM_CALL_RESUME
    svc FVM_SVC                 /* doesn't return here */
    udf #0
    .ltorg
    .size guest_switch, . - guest_switch

#ifndef __ARM_FP
    .balign 4
    .thumb_func
    .type other_switch, %function
other_switch:                   /* r3: FRAMES */
    strb r0, [r0, #MASK_PRI]
    subs r2, r3, #FRAMES_SHORT
    bne.w enter_handler
    mov r1, lr
    push {r1, r2}
    sub sp, #24
    push {r4-r11}
    ldm r0, {r5-r7}             /* task, choose, self */
    ldr r3, [r5]
    str sp, [r3]
    blx r6
    ldr r3, [r5]
    ldr r0, [r3]
    ldr r1, [r0, #SHORT_XPSR]
    mov sp, r0                  /* not loaded: errata 752770, 752419 */
    cbnz r1, short_preempted
    strb r1, [r7, #MASK_PRI]
    ldr r3, [r7, #PEND]
    cbz r3, 1f
    mov r0, r7
    bl guest_unmask
1:  pop {r4-r11}
    add sp, #24
    pop {r1, r2}
    bx r1

short_preempted:
    ldr r3, =XPSR_IT_OR_PADDED
    tst r1, r3
    bne short_by_kernel
    ldr r3, [sp, #SHORT_PC]
    orr r3, r3, #1
    str r3, [sp, #SHORT_PC]
    movs r2, #0
    strb r2, [r7, #MASK_PRI]
    ldr r3, [r7, #PEND]
    cbz r3, 1f
    mov r0, r7
    bl guest_unmask
1:  clrex                       /* as the exception return that this stands for */
    ldr r1, [sp, #SHORT_XPSR]
#ifdef __ARM_FEATURE_SIMD32
    msr apsr_nzcvqg, r1
#else
    msr apsr_nzcvq, r1
#endif
    pop {r4-r11}
    pop {r0-r3, r12, lr}
    ldr pc, [sp], #8

enter_handler:                  /* linked where it is used */
    ldr r3, =guest_block
    ldr pc, [r3, #BLOCK_ENTER]

short_by_kernel:
    pop {r4-r11}
    mov r0, sp
    mvn r1, #2                  /* EXC_RETURN 0xFFFFFFFD */
    mov r12, #FVM_CALL_RESUME
    svc FVM_SVC                 /* doesn't return here */
    udf #0
    .ltorg
    .size other_switch, . - other_switch
#endif

/* In VCT: as guest_switch, for the USR whose context lies in USR_REG. A cooperative task goes on
 * with its registers still on its stack. */
    .section .text.guest_switch_preempted, "ax", %progbits
    .balign 4
    .thumb_func
    .global guest_switch_preempted
    .type guest_switch_preempted, %function
guest_switch_preempted:
    push {r3-r11, lr}
    ldr r0, =fvm_state + USR_REG
    ldm r0, {r4-r11, r12, lr}   /* r4-r11, EXC_RETURN, SP */
    tst r12, #EXC_RETURN_BASIC
    beq save_fpu
1:  stmdb lr!, {r4-r11, r12}
    mov r4, r0
    ldrd r5, r6, [r4, #USR_TASK_SWITCH] /* task, choose */
    ldr r3, [r5]
    str lr, [r3]
    blx r6
    ldr r3, [r5]
    ldr r0, [r3]
    ldr r3, [r0, #SAVED_MARK]
    cmp r3, r4
    bhi other_in_vct            /* EXC_RETURN or the mark of an FPU frame, behind USR_REG */
    ldr r1, =guest_resume_all
resume_at:                      /* r1, with SP at r0 */
    tst r0, #7
    bne pad
    mov r2, #XPSR_T
    strd r1, r2, [r0, #-8]
    subs r0, #FRAME_SIZE
2:  mvn r3, #2                  /* 0xFFFFFFFD: basic frame, PSP */
    strd r3, r0, [r4, #USR_LR]
    pop {r3-r11, pc}

pad:                            /* legacy code that yields with a stack pointer of 4 mod 8 */
    ldr r2, =XPSR_T | XPSR_PADDED
    subs r0, #4
    strd r1, r2, [r0, #-8]
    subs r0, #FRAME_SIZE
    b 2b

other_in_vct:
#ifdef __ARM_FP
    ldr r1, =guest_resume_all_fpu
    cmp r3, #0
    bge resume_at
#endif
    ldm r0!, {r5-r12}
    stm r4, {r5-r12}
    adds r0, #4
    tst r3, #EXC_RETURN_BASIC
    beq load_fpu
3:  strd r3, r0, [r4, #USR_LR]
    pop {r3-r11, pc}

save_fpu:
    add r1, r0, #USR_FPU
    sub lr, #64
    ldm r1!, {r4-r11}
    stm lr, {r4-r11}
    add r2, lr, #32
    ldm r1, {r4-r11}
    stm r2, {r4-r11}
    ldm r0, {r4-r11}
    b 1b

load_fpu:
    add r1, r4, #USR_FPU
    ldm r0!, {r5-r12}
    stm r1!, {r5-r12}
    ldm r0!, {r5-r12}
    stm r1, {r5-r12}
    b 3b
    .ltorg
    .size guest_switch_preempted, . - guest_switch_preempted

/* Where such a task goes on. */
    .section .text.guest_resume_all, "ax", %progbits
    .balign 4
    .thumb_func
guest_resume_all:
    pop {r4-r11, r12, pc}
#ifdef __ARM_FP
    .balign 4
    .thumb_func
guest_resume_all_fpu:
    pop {r4-r11, r12}
    b guest_resume_fpu
#endif

/* Where a handler that loaded {r4-r11, mark} itself makes a cooperative task go on. */
    .section .text.guest_resume, "ax", %progbits
    .balign 4
    .thumb_func
    .global guest_resume
    .type guest_resume, %function
guest_resume:
    pop {pc}
    .size guest_resume, . - guest_resume

#ifdef __ARM_FP
    .section .text.guest_resume_fpu, "ax", %progbits
    .balign 4
    .thumb_func
    .global guest_resume_fpu
    .type guest_resume_fpu, %function
guest_resume_fpu:
    pop {r1, r2, r3}            /* lr, padding, FPSCR */
    vmsr fpscr, r3
    vpop {s16-s31}
    bx r1
    .size guest_resume_fpu, . - guest_resume_fpu
#endif
