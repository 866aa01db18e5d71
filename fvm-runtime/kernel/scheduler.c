/* Who runs: the highest ready process thread; else one vCPU of the round, VCT before USR; else
 * idle.
 *
 * vCPUs share one round. Each has a budget in cycles, charged from the timer at every switch away
 * from it and replenished only by the hypervisor. A vCPU that wakes from sleep with budget left
 * runs ahead of the round ("boosted"), so an interrupt doesn't wait for another VM's slice; one
 * that used up its budget loses that right until the round reached it again, so sleeping just
 * before the end of a slice gains nothing. All choices are by bit mask: no cost per thread or VM.
 */
#include "kernel/kernel.h"

struct cpu cpu;
struct thread thread_table[FVM_THREADS];

static struct thread *process_thread[32];                          /* by priority */
static uint32_t process_ready;                                     /* bit: priority */
static uint32_t vcpu_ready, vcpu_funded, vcpu_boosted, vcpu_spent; /* bit: vCPU */
static uint32_t round_first; /* index of the vCPU whose turn it is */
static uint32_t charged_at;  /* cycles */

void scheduler_init(void)
{
    for (uint32_t i = 0; i < FVM_THREADS; i++) {
        if (thread_table[i].vcpu == NULL) {
            process_thread[thread_table[i].priority] = &thread_table[i];
        }
    }
    for (uint32_t i = 0; i < FVM_VCPUS; i++) {
        vcpu_funded |= vcpu_table[i].bit;
    }
}

void scheduler_ready(struct thread *thread)
{
    thread->state = THREAD_READY;
    if (thread->vcpu == NULL) {
        process_ready |= 1u << thread->priority;
        return;
    }
    uint32_t bit = thread->vcpu->bit;
    if ((vcpu_ready & bit) == 0) {
        vcpu_ready |= bit;
        vcpu_boosted |= bit & ~vcpu_spent;
    }
}

void scheduler_block(struct thread *thread, uint8_t state)
{
    thread->state = state;
    struct vcpu *vcpu = thread->vcpu;
    if (vcpu == NULL) {
        process_ready &= ~(1u << thread->priority);
    } else if (vcpu->vct->state != THREAD_READY && vcpu->usr->state != THREAD_READY) {
        vcpu_ready &= ~vcpu->bit;
        vcpu_boosted &= ~vcpu->bit;
    }
}

static uint32_t first_bit(uint32_t mask) { return (uint32_t)__builtin_ctz(mask); }

static struct thread *choose_vcpu(void)
{
    uint32_t candidates = vcpu_ready & vcpu_funded;
    if (candidates == 0) {
        return process_thread[0]; /* the idle thread: lowest priority, always ready */
    }
    if ((candidates & vcpu_boosted) != 0) {
        candidates &= vcpu_boosted;
    }
    uint32_t from_turn = candidates & ~((1u << round_first) - 1u);
    struct vcpu *vcpu = &vcpu_table[first_bit(from_turn != 0 ? from_turn : candidates)];
    if ((vcpu_boosted & vcpu->bit) == 0) {
        vcpu_spent &= ~vcpu->bit;
    }
    return vcpu->vct->state == THREAD_READY ? vcpu->vct : vcpu->usr;
}

void scheduler_choose(void)
{
    uint32_t ready = process_ready & ~1u; /* priority 0 is idle, below every vCPU */
    cpu.next = ready != 0 ? process_thread[31 - __builtin_clz(ready)] : choose_vcpu();
}

/* The vCPU pays; at the end of its budget it leaves the round until replenished. */
static void pay(struct vcpu *vcpu, uint32_t cycles)
{
    vcpu->budget -= (int32_t)cycles;
    if (vcpu->budget > 0 || (vcpu_funded & vcpu->bit) == 0) {
        return;
    }
    vcpu_funded &= ~vcpu->bit;
    vcpu_boosted &= ~vcpu->bit;
    vcpu_spent |= vcpu->bit;
    if (&vcpu_table[round_first] == vcpu) {
        round_first = round_first + 1 < FVM_VCPUS ? round_first + 1 : 0;
    }
    request_budget(vcpu);
}

void scheduler_charge(void)
{
    uint32_t now = timer_arch_now();
    uint32_t elapsed = now - charged_at;
    charged_at = now;
    if (cpu.current->vcpu != NULL) {
        pay(cpu.current->vcpu, elapsed);
    }
}

void scheduler_charge_stub(struct vcpu *target, uint32_t since)
{
    uint32_t elapsed = timer_arch_now() - since;
    charged_at += elapsed; /* not the interrupted vCPU's time */
    pay(target, elapsed);
}

int32_t scheduler_replenish(struct vcpu *vcpu, uint32_t cycles)
{
    if (cycles > vcpu->config->budget) {
        return FVM_E_ARGUMENT;
    }
    int32_t budget = vcpu->budget + (int32_t)cycles; /* debt is paid first */
    vcpu->budget = budget < (int32_t)vcpu->config->budget ? budget : (int32_t)vcpu->config->budget;
    if (vcpu->budget > 0) {
        vcpu_funded |= vcpu->bit;
    } else {
        request_budget(vcpu);
    }
    return FVM_OK;
}

/* Called by the architecture after it saved the context of cpu.current. Returns the thread to
 * resume; bit 0 is set if its domain is another one and may use the FPU, whose registers must then
 * not be those of the domain before. */
uint32_t scheduler_switch(void)
{
    struct thread *previous = cpu.current;
    if (previous->vcpu != cpu.next->vcpu) {
        scheduler_charge();
        scheduler_choose(); /* the charge may have woken the hypervisor */
    }
    struct thread *next = cpu.next;
    cpu.current = next;
    if (previous->domain == next->domain) {
        return (uint32_t)next;
    }
    protection_arch_load(&next->domain->protection);
    return (uint32_t)next | next->fpu;
}
