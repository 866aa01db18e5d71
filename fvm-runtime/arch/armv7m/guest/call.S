/* A supervisor call that hands over registers, as `svc 0` in C with r0-r3 and r12 does: its handler
 * finds them in the frame on the task's stack, and what it leaves in r0-r3 there the caller gets.
 *
 * VCT may come at any instruction behind the unmask, by an interrupt too. So the registers wait in
 * guest_call, and VCT puts them into the frame wherever that stands, with guest_call_served as the
 * PC (guest_call_frame). The other registers of the caller but lr are kept, the flags too.
 */
#include <fvm/hypercall.h>

    .syntax unified
    .thumb

/* Offsets in fvm_state from fvm_state.task_switch; supervisor.c checks them. */
#define VCT_ACT -16
#define MASK_PRI -14
#define PENDING_GROUP 120
#define PENDING_SVC 130

    .section .text.virt_svc_call, "ax", %progbits
    .balign 4
    .thumb_func
    .global virt_svc_call
    .type virt_svc_call, %function
virt_svc_call:
    push {r4-r6, lr}
    mrs r6, apsr
    ldr r4, =fvm_state + 16
    ldrb r5, [r4, #VCT_ACT]
    cbnz r5, no_call
    ldrb r5, [r4, #MASK_PRI]
    cbnz r5, no_call
    strb r4, [r4, #MASK_PRI]    /* no other task's call in between; the byte isn't 0 */
    ldr r5, =guest_call
    stm r5, {r0-r3, r6, r12}
    ldr r5, =guest_before_call
    ldr r6, =guest_call_frame
    str r6, [r5]
    movs r6, #1
    strb r6, [r4, #PENDING_SVC]
    strb r6, [r4, #PENDING_GROUP]
    movs r6, #0
    strb r6, [r4, #MASK_PRI]
1:  mov r12, #FVM_CALL_VCT_WAKE
    svc FVM_SVC
    b 1b                        /* VCT goes on at guest_call_served */
no_call:
    udf #0                      /* a fault on the machine, too: from a handler, or under PRIMASK */
    .hword 0xDF00               /* nobody executes it: the `svc 0` in front of its caller's PC */
    .global guest_call_served
    .type guest_call_served, %function
    .thumb_func
guest_call_served:
    pop {r4-r6, pc}
    .ltorg
    .size virt_svc_call, . - virt_svc_call
