/* How a vector gets pended, where it has to be quick: inside the entry of an interrupt. Everybody
 * else calls vcpu_pend. */
#ifndef FVM_KERNEL_PEND_H
#define FVM_KERNEL_PEND_H

#include "kernel/kernel.h"

static inline void pend_wake(struct vcpu *vcpu)
{
    if (vcpu->vct_wait != WAIT_SLEEPS) {
        vcpu->vct_wait = WAIT_LATCHED; /* the next wait returns at once */
        return;
    }
    vcpu->vct_wait = WAIT_NONE;
    struct thread *vct = vcpu->vct;
    if (cpu.next == vcpu->usr) { /* of which VCT takes the place */
        vct->state = THREAD_READY;
        cpu.next = vct;
    } else {
        scheduler_wake_vcpu(vcpu, vct);
    }
}

static inline void pend_vector(struct vcpu *vcpu, uint32_t virt_id, bool transparent)
{
    struct fvm_state *state = vcpu->state;
    state->pending[virt_id] = 1;
    state->pending_group[virt_id / FVM_VECTOR_GROUP] = 1;
    if (vcpu->usr_wait == WAIT_SLEEPS) {
        vcpu->usr_wait = WAIT_NONE;
        scheduler_wake_vcpu(vcpu, vcpu->usr); /* a masked vector ends the wait too, as with WFI */
    } else {
        vcpu->usr_wait = WAIT_LATCHED;
    }
    if (!vcpu->open) {
        return;
    }
    if ((transparent ? state->int_mask.byte.pri : state->int_mask.both) != 0) {
        state->int_pend.byte.vector = 1;
    } else {
        pend_wake(vcpu);
    }
}

#endif
