/* Which vCPUs want to run and may, and how one joins them: it has to be quick inside the entry of
 * an interrupt. scheduler.c explains what the masks mean and chooses by them. */
#ifndef FVM_KERNEL_TURN_H
#define FVM_KERNEL_TURN_H

#include "kernel/kernel.h"

struct vcpus {                       /* together: one address for all */
    uint32_t ready, funded, boosted; /* bit: vCPU */
    uint32_t turn;                   /* bit: the vCPU that owns the turn */
    uint32_t preferred;              /* bit: of several boosted ones of a priority it runs first: */
    uint32_t served;                 /* who woke last, then this one, which each tick moves on; a
                                        bit for each priority */
};
extern struct vcpus vcpus;

#define RANK_VCPU 1u /* above idle, below every other process */

/* A thread of it became ready, while nothing of it runs. */
static inline void turn_join(struct vcpu *vcpu, struct thread *thread)
{
    if ((vcpus.ready & vcpu->bit) != 0) {
        return;
    }
    vcpus.ready |= vcpu->bit;
    vcpus.preferred = vcpu->bit;
    vcpus.boosted |= vcpu->bit & vcpus.funded;
    const struct thread *best = cpu.next;
    if (best->rank > RANK_VCPU) {
        return;
    }
    /* What the scheduler would choose: of equals the preferred one, else the more urgent. Idle may
     * stand for a VM that was not looked for yet: whose turn it is, stays. */
    if ((vcpus.boosted & vcpu->bit) == 0) {
        if (best->rank < RANK_VCPU) {
            scheduler_look_again();
        }
    } else if (best->rank < RANK_VCPU || best->vcpu->bit > vcpu->bit ||
               (vcpu->config->peers & best->vcpu->bit) != 0) {
        cpu.next = thread;
    }
}

/* scheduler_wake in a call of a VM: while one runs every process waits, so this one runs next. */
static inline void turn_hand_over(struct thread *process)
{
    process->state = THREAD_READY;
    cpu.ready |= process->bit;
    cpu.next = process;
}

#endif
