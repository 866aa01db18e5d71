/* What the parts of the guest library share. */
#ifndef FVM_GUEST_CALL_H
#define FVM_GUEST_CALL_H

#include <stdint.h>

#include <fvm/guest.h>
#include <fvm/split.h>

/* The vector's line is served by a process first, which is asked when the vector is pended in
 * software. Disabled until hyp_irq_ena. */
void guest_vector_split(uint32_t virt_id, struct fvm_split *split);

/* Before anything else runs, on VCT's stack: yields go through vector 0 until the RTOS says how it
 * switches. */
void guest_switch_init(void);

/* Vector 0 has this handler: yields run it in user mode if the project says that it may. */
void guest_switch_set(virt_handler handler);

/* The handler of vector 0 switches, in VCT alone. */
void guest_switch_in_vct(void);

/* In VCT the handler of vector 0 switches, in user mode the library. */
void guest_switch_by_handler(void);

/* The switch of VCT: saves the preempted USR on its task's stack, lets the RTOS choose, and makes
 * the chosen task's context USR's. */
void guest_switch_preempted(void);

/* What virt_unmask_pending leaves to C: anything but a switch that USR may make now, in user mode
 * and without live FPU state. */
void guest_unmask(struct fvm_switch *here);

/* What a yield by VIRT_YIELD_HANDLER's handler works on. */
struct guest_block {
    struct fvm_usr_reg usr; /* the handler's USR_REG */
    uint32_t stack;         /* from here on VCT's stack is free while it waits */
    virt_handler handler;
    void (*enter)(void); /* from switch.S, with nothing saved */
};

extern struct guest_block guest_block;

/* Makes the frame of USR that of virt_svc_call's caller. */
void guest_call_frame(void);

/* Before the next supervisor call's handler, or NULL: that, where virt_svc_call is who calls. A
 * pointer, so that a machine which has no such call isn't linked with what it takes. */
extern virt_handler guest_before_call;

/* Turns a cooperative frame that a switch handler loaded into USR_REG into one that the kernel can
 * resume; leaves a preempted one alone. */
void guest_complete_frame(void);

#endif
