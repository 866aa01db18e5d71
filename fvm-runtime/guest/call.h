/* What the parts of the guest library share. */
#ifndef FVM_GUEST_CALL_H
#define FVM_GUEST_CALL_H

#include <stdint.h>

#include <fvm/split.h>

/* One system call: the number, up to three arguments, the result. The architecture part, which also
 * has hyp_reboot: there the caller's return address must reach the kernel. */
int guest_call(uint32_t number, uint32_t a0, uint32_t a1, uint32_t a2);

/* Architecture part of the cooperative switch: saves this task's callee-saved registers, lets pick
 * choose, goes on as the chosen task. Only from USR, unmasked, outside VCT. */
void guest_switch(void);

/* The pick function that virt_yield_set was given, or NULL. */
extern uint32_t *(*guest_pick)(uint32_t *sp);

/* The vector's line is served by a process first, which is asked when the vector is pended in
 * software. Disabled until hyp_irq_ena. */
void guest_vector_split(uint32_t virt_id, struct fvm_split *split);

/* Turns a cooperative frame that a switch handler loaded into USR_REG into one that the kernel can
 * resume; leaves a preempted one alone. */
void guest_complete_frame(void);

#endif
