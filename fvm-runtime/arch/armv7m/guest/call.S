/* guest_call on ARMv7-M: number in r12, arguments in r0-r2, result in r0. A leaf that keeps lr, so
 * that the frame the kernel sees has the return address into the caller. */
#include <fvm/hypercall.h>

    .syntax unified
    .thumb
    .section .text.guest_call, "ax", %progbits
    .thumb_func
    .global guest_call
    .type guest_call, %function
guest_call:
    mov r12, r0
    mov r0, r1
    mov r1, r2
    mov r2, r3
    svc FVM_SVC
    bx lr
    .size guest_call, . - guest_call

/* hyp_reboot: a leaf too, so that the log can name who asked by the return address. */
    .section .text.hyp_reboot, "ax", %progbits
    .thumb_func
    .global hyp_reboot
    .type hyp_reboot, %function
hyp_reboot:
    mov r12, #FVM_CALL_REBOOT
    svc FVM_SVC
    b hyp_reboot
    .size hyp_reboot, . - hyp_reboot
