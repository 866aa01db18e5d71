/* Cooperative task switch on ARMv7-M.
 *
 * A yield is a C call, so only r4-r11, lr and, with live FPU state, S16-S31 have to survive. The
 * frame has the shape that legacy switch code expects, {r4-r11, EXC_RETURN} at SP, so both kinds of
 * frame can lie on the task stacks and either side can resume either kind:
 *
 *   preempted    r4-r11, EXC_RETURN (negative), [S16-S31], exception frame
 *   cooperative  r4-r11, address of a trampoline below (positive, bit 4 set: "no FPU block
 *                follows" to legacy code), [S16-S31, padding, FPSCR], lr
 *
 * int_mask.pri is set from before the save until SP is on the new stack: VCT must not run its own
 * switch in between. A preempted task goes on through the kernel's resume call, because its frame
 * can stand inside an IT block or a load multiple; the kernel also lifts the mask then.
 */
#include <fvm/hypercall.h>

    .syntax unified
    .thumb

#define STATE_MASK_PRI 2
#define STATE_PEND 4
#define STATE_PEND_YIELD 5
#define STATE_PENDING_SWITCH 128
#define CONTROL_FPCA 4

    .section .text.guest_switch, "ax", %progbits
    .balign 32
    .space 16, 0
    .thumb_func
trampoline:                     /* bit 4 of its address is set */
    pop {pc}
    .balign 32
    .space 16, 0
#ifdef __ARM_FP
    .thumb_func
trampoline_fp:
    vpop {s16-s31}
    pop {r2, r3}
    vmsr fpscr, r3
    pop {pc}
#endif

    .balign 4
    .thumb_func
    .global guest_switch
    .type guest_switch, %function
guest_switch:
    push {lr}
    ldr r1, =fvm_state
    movs r2, #1
    strb r2, [r1, #STATE_MASK_PRI]
    movs r2, #0
    strb r2, [r1, #STATE_PENDING_SWITCH]
    strb r2, [r1, #STATE_PEND_YIELD]
    ldr r12, =trampoline
#ifdef __ARM_FP
    mrs r3, control
    tst r3, #CONTROL_FPCA
    beq 1f
    vmrs r3, fpscr
    push {r2, r3}
    vpush {s16-s31}
    vmsr fpscr, r2              /* what a task finds that never used the FPU: FPDSCR is 0 */
    ldr r12, =trampoline_fp
1:
#endif
    push {r4-r11, r12}
    mov r0, sp
    ldr r2, =guest_pick
    ldr r2, [r2]
    blx r2
    ldr r12, [r0, #32]
    cmp r12, #0
    blt resume_preempted
    ldmia r0!, {r4-r11, r12}
    mov sp, r0
    ldr r1, =fvm_state
    movs r2, #0
    strb r2, [r1, #STATE_MASK_PRI]
    ldrh r2, [r1, #STATE_PEND]
    cbnz r2, wake
    bx r12
wake:
    mov r3, r12
    mov r12, #FVM_CALL_VCT_WAKE
    svc FVM_SVC
    bx r3

resume_preempted:
    ldmia r0!, {r4-r11, r12}
#ifdef __ARM_FP
    tst r12, #0x10
    it eq
    vldmiaeq r0!, {s16-s31}
#endif
    mov r1, r12
    mov r12, #FVM_CALL_RESUME
    svc FVM_SVC                 /* doesn't return here */
    udf #0
    .size guest_switch, . - guest_switch
