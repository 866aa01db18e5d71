/* Who runs: the highest ready process thread; else one vCPU of the round, VCT before USR; else
 * idle.
 *
 * vCPUs take turns. Each gets one budget a round, in cycles: the hypervisor is asked for it when
 * the turn comes to a vCPU or passes over one that sleeps, and time is charged from the timer at
 * every switch away. A turn ends with the budget or by sleeping. What is left of a budget is good
 * until the next turn: a vCPU that wakes with some left runs ahead of the owner of the turn
 * ("boosted"), so an interrupt doesn't wait for another VM's slice, and sleeping just before the
 * end of a slice gains nothing. All choices are by bit mask.
 */
#include "kernel/kernel.h"

struct cpu cpu;
struct thread thread_table[FVM_THREADS];

static struct thread *process_thread[32];              /* by priority */
static uint32_t process_ready;                         /* bit: priority */
static uint32_t vcpu_ready, vcpu_funded, vcpu_boosted; /* bit: vCPU */
static uint32_t turn;                                  /* bit: the vCPU that owns the turn */
static uint32_t preferred;  /* bit: of several boosted ones it runs first */
static uint32_t charged_at; /* cycles */

#define EVERY_VCPU ((1u << FVM_VCPUS) - 1u)

void scheduler_init(void)
{
    for (uint32_t i = 0; i < FVM_THREADS - FVM_PORTS; i++) {
        if (thread_table[i].vcpu == NULL) {
            process_thread[thread_table[i].priority] = &thread_table[i];
        }
    }
    vcpu_funded = EVERY_VCPU;
    turn = 1;
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
        vcpu_boosted |= bit & vcpu_funded;
        preferred = bit;
    }
}

static uint32_t first_bit(uint32_t mask) { return mask & (0u - mask); }

/* The next bit of a mask after `bit`, from the end on from the start again; 0 if there is none. */
static uint32_t next_bit(uint32_t mask, uint32_t bit)
{
    uint32_t above = mask & ~(bit | (bit - 1u));
    return first_bit(above != 0 ? above : mask);
}

/* The turn goes to the next ready vCPU, which may be its owner again. It and those between, which
 * sleep, are due for the budget of a new round. */
static void pass_turn(void)
{
    uint32_t below = turn - 1u, above = EVERY_VCPU & ~(turn | below);
    uint32_t next = next_bit(vcpu_ready, turn);
    if (next == 0) {
        return; /* nobody wants it */
    }
    uint32_t due = next | (next > turn ? above & (next - 1u) : above | (below & (next - 1u)));
    for (uint32_t i = 0; i < FVM_VCPUS; i++) {
        if ((due & vcpu_table[i].bit) != 0) {
            request_budget(&vcpu_table[i]);
        }
    }
    turn = next;
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
        if (vcpu->bit == turn) {
            pass_turn();
        }
    }
}

void scheduler_replace(struct thread *thread, struct thread *by)
{
    by->priority = thread->priority;
    process_thread[by->priority] = by;
}

struct thread *scheduler_runs_for(const struct thread *thread)
{
    return process_thread[thread->priority];
}

/* The vCPU to run, or 0: none is ready, or the hypervisor was asked for the next turn's budget. */
static uint32_t choose_vcpu(void)
{
    uint32_t candidates = vcpu_ready & vcpu_funded;
    uint32_t boosted = candidates & vcpu_boosted;
    if (boosted != 0) {
        return (boosted & preferred) != 0 ? preferred : first_bit(boosted);
    }
    if ((candidates & turn) == 0) {
        pass_turn();
        return 0;
    }
    return turn;
}

static struct thread *first_process(void)
{
    return process_thread[31 -
                          __builtin_clz(process_ready)]; /* idle, priority 0, is always ready */
}

void scheduler_choose(void)
{
    cpu.next = first_process();
    if (cpu.next->priority != 0) {
        return;
    }
    uint32_t bit = choose_vcpu();
    if (bit == 0) {
        cpu.next = first_process();
        return;
    }
    struct vcpu *vcpu = &vcpu_table[__builtin_ctz(bit)];
    cpu.next = vcpu->vct->state == THREAD_READY ? vcpu->vct : vcpu->usr;
}

/* The vCPU pays; at the end of its budget it waits for its next turn. */
static void pay(struct vcpu *vcpu, uint32_t cycles)
{
    vcpu->budget -= (int32_t)cycles;
    if (vcpu->budget > 0 || (vcpu_funded & vcpu->bit) == 0) {
        return;
    }
    vcpu_funded &= ~vcpu->bit;
    vcpu_boosted &= ~vcpu->bit;
    if (vcpu->bit == turn) {
        pass_turn();
    }
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

/* A vCPU that never switches must still notice the end of its budget; and of several boosted ones
 * none computes for longer than a tick while another waits. */
void scheduler_tick(void)
{
    scheduler_charge();
    struct vcpu *running = cpu.current->vcpu;
    if (running != NULL && (vcpu_boosted & running->bit) != 0) {
        preferred = next_bit(vcpu_boosted, running->bit);
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
