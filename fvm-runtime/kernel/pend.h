/* How a vector gets pended, where it has to be quick: inside the entry of an interrupt. Everybody
 * else calls vcpu_pend. */
#ifndef FVM_KERNEL_PEND_H
#define FVM_KERNEL_PEND_H

#include "kernel/kernel.h"
#include "kernel/turn.h"

/* True if VCT runs in the place of USR, which was running. */
static inline bool pend_wake(struct vcpu *vcpu)
{
    if (vcpu->vct_wait != WAIT_SLEEPS) {
        vcpu->vct_wait = WAIT_LATCHED; /* the next wait returns at once */
        return false;
    }
    vcpu->vct_wait = WAIT_NONE;
    struct thread *vct = vcpu->vct;
    vct->state = THREAD_READY;
    if (cpu.next != vcpu->usr) {
        turn_join(vcpu, vct);
        return false;
    }
    cpu.next = vct;
    return true;
}

/* As pend_wake. */
static inline bool pend_vector(struct vcpu *vcpu, uint32_t virt_id, bool transparent)
{
    struct fvm_state *state = vcpu->state;
    state->pending[virt_id] = 1;
    state->pending_group[virt_id / FVM_VECTOR_GROUP] = 1;
    bool usr_slept = vcpu->usr_wait == WAIT_SLEEPS;
    if (usr_slept) {
        vcpu->usr_wait = WAIT_NONE;
        vcpu->usr->state = THREAD_READY; /* the scheduler is told below, once for both threads */
    } else {
        vcpu->usr_wait = WAIT_LATCHED;
    }
    if (vcpu->open) {
        uint16_t both; /* a plain load: nothing of the VM runs meanwhile */
        __builtin_memcpy(&both, (const void *)&state->int_mask, sizeof both);
        if ((transparent ? both & 0xFFu : both) != 0) {
            state->int_pend.byte.vector = 1;
        } else {
            bool vct_slept = vcpu->vct_wait == WAIT_SLEEPS;
            bool at_once = pend_wake(vcpu);
            if (vct_slept) {
                return at_once;
            }
        }
    }
    if (usr_slept) {
        scheduler_wake_vcpu(vcpu, vcpu->usr); /* a masked vector ends the wait too, as with WFI */
    }
    return false;
}

#endif
