/* The vCPU: virtual interrupts of one VM, its tick and its watchdog.
 *
 * The VM sees its vectors in fvm_state; the kernel stores there and reads only the mask. What it
 * decides by (is VCT waiting, is a line closed, how many ticks are owed) is kernel memory. A vector
 * is pended by storing its byte; VCT is then woken unless the VM masked it, in which case
 * int_pend tells the guest's unmask to wake VCT itself: the halfword read here and the guest's
 * "store, then test int_pend" leave no gap, because the kernel runs between two guest instructions.
 */
#include "kernel/kernel.h"

struct vcpu vcpu_table[FVM_AT_LEAST_ONE(FVM_VCPUS)];

void vcpu_init(void)
{
    for (uint32_t i = 0; i < FVM_VCPUS; i++) {
        struct vcpu *vcpu = &vcpu_table[i];
        vcpu->config = &fvm_vcpu[i];
        vcpu->bit = 1u << i;
        vcpu->vct = &thread_table[vcpu->config->vct];
        vcpu->usr = &thread_table[vcpu->config->usr];
        vcpu->state = (struct fvm_state *)fvm_domain[vcpu->config->domain].ram_base;
        vcpu->budget = (int32_t)vcpu->config->budget;
        __builtin_memset(vcpu->line, FVM_NO_INDEX, sizeof vcpu->line);
    }
}

void vcpu_start(struct vcpu *vcpu) { __builtin_memset(vcpu->state, 0, sizeof *vcpu->state); }

void vcpu_stop(struct vcpu *vcpu)
{
    for (uint32_t id = FVM_VIRT_FIRST; id < vcpu->config->vectors; id++) {
        if (vcpu->line[id] != FVM_NO_INDEX) {
            interrupt_drop(vcpu->line[id]);
            vcpu->line[id] = FVM_NO_INDEX;
        }
    }
    request_drop(vcpu);
    vcpu->wake = vcpu->latch = vcpu->open = vcpu->locked = false;
    vcpu->tick_owed = 0;
    vcpu->tick_period = 0;
    vcpu->watchdog_left = 0;
}

void vcpu_wake(struct vcpu *vcpu)
{
    if (vcpu->vct->state == THREAD_WAITING) {
        scheduler_ready(vcpu->vct);
    } else {
        vcpu->wake = true; /* the next wait returns at once */
    }
}

/* The guest's unmask found something pending. */
void vcpu_wake_self(struct vcpu *vcpu)
{
    if (vcpu->open) {
        vcpu_wake(vcpu);
    }
}

static bool usr_sleeps(const struct vcpu *vcpu)
{
    return vcpu->usr->state == THREAD_WAITING && vcpu->request == FVM_NO_REQUEST;
}

void vcpu_pend(struct vcpu *vcpu, uint32_t virt_id, bool transparent)
{
    struct fvm_state *state = vcpu->state;
    if (vcpu->vct->state == THREAD_STOPPED) {
        return;
    }
    state->pending[virt_id] = 1;
    state->pending_group[virt_id / FVM_VECTOR_GROUP] = 1;
    if (usr_sleeps(vcpu)) {
        scheduler_ready(vcpu->usr); /* a masked vector ends the wait too, as with WFI */
    } else {
        vcpu->latch = true;
    }
    if (!vcpu->open) {
        return;
    }
    if ((transparent ? state->int_mask.byte.pri : state->int_mask.both) != 0) {
        state->int_pend.byte.vector = 1;
    } else {
        vcpu_wake(vcpu);
    }
}

void vcpu_wait(struct thread *thread, uint32_t served)
{
    struct vcpu *vcpu = thread->vcpu;
    bool *reason = &vcpu->latch;
    if (thread == vcpu->vct) {
        (void)vcpu_done(vcpu, served);
        reason = &vcpu->wake;
    }
    if (*reason) {
        *reason = false;
    } else {
        scheduler_block(thread, THREAD_WAITING);
    }
}

int32_t vcpu_done(struct vcpu *vcpu, uint32_t virt_id)
{
    if (virt_id == FVM_VIRT_TICK && vcpu->tick_owed != 0) {
        vcpu->tick_served++;
        if (--vcpu->tick_owed != 0) {
            vcpu_pend(vcpu, FVM_VIRT_TICK, false);
        }
        return FVM_OK;
    }
    if (virt_id >= FVM_VECTORS_MAX || vcpu->line[virt_id] == FVM_NO_INDEX) {
        return FVM_E_ARGUMENT;
    }
    interrupt_reopen(vcpu->line[virt_id]);
    return FVM_OK;
}

/* Fast yield to a preempted task: USR goes on at its frame, unmasked. */
void vcpu_resume(struct vcpu *vcpu, uint32_t stack, uint32_t state)
{
    context_arch_resume(stack, state);
    vcpu->state->int_mask.byte.pri = 0;
    if (vcpu->state->int_pend.any != 0) {
        vcpu_wake_self(vcpu);
    }
}

void vcpu_open(struct vcpu *vcpu, bool open)
{
    vcpu->open = open;
    vcpu->state->int_ena = open;
    if (open) {
        vcpu_wake(vcpu); /* what was pended meanwhile is in the VM: VCT looks */
    }
}

int32_t vcpu_tick_set(struct vcpu *vcpu, uint32_t hz)
{
    if (hz > FVM_TICK_HZ || (hz != 0 && FVM_TICK_HZ % hz != 0)) {
        return FVM_E_ARGUMENT;
    }
    vcpu->tick_period = hz == 0 ? 0 : FVM_TICK_HZ / hz;
    vcpu->tick_left = vcpu->tick_period;
    return FVM_OK;
}

void vcpu_feed(struct vcpu *vcpu) { vcpu->watchdog_left = vcpu->config->watchdog; }

void vcpu_tick(struct vcpu *vcpu)
{
    if (vcpu->watchdog_left != 0 && --vcpu->watchdog_left == 0) {
        struct thread *looping = vcpu->vct->state == THREAD_READY ? vcpu->vct : vcpu->usr;
        fault_raise(looping, FVM_FAULT_WATCHDOG, &(struct fault_detail){0});
        return;
    }
    if (vcpu->tick_period == 0 || --vcpu->tick_left != 0) {
        return;
    }
    vcpu->tick_left = vcpu->tick_period;
    if (vcpu->tick_owed == 0) {
        vcpu->tick_owed = 1;
        vcpu_pend(vcpu, FVM_VIRT_TICK, false);
    } else if (vcpu->tick_owed < vcpu->config->catchup) {
        vcpu->tick_owed++;
    } else {
        vcpu->tick_dropped++;
    }
}
