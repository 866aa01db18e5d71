/* The vCPU: virtual interrupts of one VM, its tick and its watchdog.
 *
 * The VM sees its vectors in fvm_state; the kernel stores there and reads only the mask. What it
 * decides by (is VCT waiting, is a line closed, how many ticks are owed) is kernel memory. A vector
 * is pended by storing its byte; VCT is then woken unless the VM masked it, in which case
 * int_pend tells the guest's unmask to wake VCT itself: the halfword read here and the guest's
 * "store, then test int_pend" leave no gap, because the kernel runs between two guest instructions.
 */
#include "kernel/kernel.h"
#include "kernel/pend.h"

struct vcpu vcpu_table[FVM_AT_LEAST_ONE(FVM_VCPUS)];

void vcpu_init(void)
{
    for (uint32_t i = 0; i < FVM_VCPUS; i++) {
        struct vcpu *vcpu = &vcpu_table[i];
        vcpu->config = &fvm_vcpu[i];
        vcpu->bit = 1u << i;
        vcpu->index = (uint8_t)i;
        vcpu->vct = &thread_table[vcpu->config->vct];
        vcpu->usr = &thread_table[vcpu->config->usr];
        vcpu->state = (struct fvm_state *)fvm_domain[vcpu->config->domain].ram_base;
        vcpu->budget = (int32_t)vcpu->config->budget;
        __builtin_memset(vcpu->line, FVM_NO_INDEX, sizeof vcpu->line);
    }
}

/* Words a step. */
#define CLEARED (sizeof(struct fvm_state) / sizeof(uint32_t) / VCPU_START_STEPS)
_Static_assert(sizeof(struct fvm_state) == CLEARED * VCPU_START_STEPS * sizeof(uint32_t), "a rest");

/* VCPU_START_STEPS steps; nothing of the VM runs meanwhile. */
void vcpu_start(struct vcpu *vcpu, uint32_t step)
{
    /* As stores: what the compiler takes for a block it gives to memset, which takes longer. */
    volatile uint32_t *word = (volatile uint32_t *)vcpu->state + step * CLEARED;
#pragma GCC unroll 16
    for (uint32_t i = 0; i < CLEARED; i++) {
        word[i] = 0;
    }
    vcpu->locked = 0;
    vcpu->usr_wait = vcpu->vct_wait = WAIT_NONE;
}

void vcpu_halt(struct vcpu *vcpu)
{
    scheduler_halt_vcpu(vcpu);
    request_drop(vcpu);
    vcpu->open = vcpu->watched = false;
    vcpu->usr_wait = vcpu->vct_wait = WAIT_NONE;
    vcpu->tick_owed = 0;
    vcpu->tick_period = 0;
}

void vcpu_drop(struct vcpu *vcpu, uint32_t virt_id)
{
    if (vcpu->line[virt_id] != FVM_NO_INDEX) {
        interrupt_drop(vcpu->line[virt_id]);
        vcpu->line[virt_id] = FVM_NO_INDEX;
    }
}

void vcpu_wake(struct vcpu *vcpu) { (void)pend_wake(vcpu); }

/* The guest's unmask found something pending. */
void vcpu_wake_self(struct vcpu *vcpu)
{
    if (vcpu->open) {
        vcpu_wake(vcpu);
    }
}

void vcpu_pend(struct vcpu *vcpu, uint32_t virt_id, bool transparent)
{
    (void)pend_vector(vcpu, virt_id, transparent);
}

/* True if the thread has to block. */
static bool wait(uint8_t *state)
{
    bool latched = *state == WAIT_LATCHED;
    *state = latched ? WAIT_NONE : WAIT_SLEEPS;
    return !latched;
}

void vcpu_wait(struct thread *thread, uint32_t served)
{
    struct vcpu *vcpu = thread->vcpu;
    bool is_vct = thread == vcpu->vct;
    if (is_vct && served != FVM_NONE) {
        (void)vcpu_done(vcpu, served);
    }
    if (wait(is_vct ? &vcpu->vct_wait : &vcpu->usr_wait)) {
        scheduler_block_vcpu(vcpu, thread);
    }
}

int32_t vcpu_done(struct vcpu *vcpu, uint32_t virt_id)
{
    if (virt_id >= FVM_VECTORS) {
        return FVM_E_ARGUMENT;
    }
    if (vcpu->line[virt_id] != FVM_NO_INDEX) {
        interrupt_reopen(vcpu->line[virt_id]);
        return FVM_OK;
    }
    if (virt_id != FVM_VIRT_TICK || vcpu->tick_owed == 0) {
        return FVM_E_ARGUMENT;
    }
    vcpu->tick_served++;
    if (--vcpu->tick_owed != 0) {
        vcpu_pend(vcpu, FVM_VIRT_TICK, false);
    }
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
    if (hz != 0) {
        time_set_tick(vcpu, vcpu->tick_period);
    }
    return FVM_OK;
}

/* The first feed starts it; the alarm looks up the last one when it rings. */
void vcpu_feed(struct vcpu *vcpu)
{
    vcpu->fed = time_ticks();
    if (FVM_WATCHDOGS != 0 && !vcpu->watched && vcpu->config->watchdog != 0) {
        vcpu->watched = true;
        time_set_watchdog(vcpu, vcpu->config->watchdog);
    }
}

/* The alarm of `expiry` rings. Ticks until it has to ring again; 0: never. */
uint32_t vcpu_watchdog(struct vcpu *vcpu, uint32_t expiry)
{
    uint32_t left = vcpu->fed + vcpu->config->watchdog - expiry;
    if (!vcpu->watched) {
        return 0;
    }
    if (left == 0) {
        struct thread *looping = vcpu->vct->state == THREAD_READY ? vcpu->vct : vcpu->usr;
        fault_raise(looping, FVM_FAULT_WATCHDOG, 0, 0);
    }
    return left;
}

/* As vcpu_watchdog, for the virtual tick. */
uint32_t vcpu_tick(struct vcpu *vcpu)
{
    uint32_t period = vcpu->tick_period;
    if (period == 0) {
        return 0;
    }
    if (vcpu->tick_owed == 0) {
        vcpu->tick_owed = 1;
        vcpu_pend(vcpu, FVM_VIRT_TICK, false);
    } else if (vcpu->tick_owed < vcpu->config->catchup) {
        vcpu->tick_owed++;
    } else {
        vcpu->tick_dropped++;
    }
    return period;
}
