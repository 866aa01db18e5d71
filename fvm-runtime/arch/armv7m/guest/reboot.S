/* hyp_reboot on ARMv7-M: a leaf that keeps lr, so that the log can name who asked by the return
 * address. */
#include <fvm/hypercall.h>

    .syntax unified
    .thumb
    .section .text.hyp_reboot, "ax", %progbits
    .thumb_func
    .global hyp_reboot
    .type hyp_reboot, %function
hyp_reboot:
    mov r12, #FVM_CALL_REBOOT
    svc FVM_SVC
    b hyp_reboot
    .size hyp_reboot, . - hyp_reboot
