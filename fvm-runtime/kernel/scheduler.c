/* Who runs: the highest ready process thread; else one vCPU, VCT before USR; else idle.
 *
 * vCPUs take vcpus. Each gets one budget a round, in cycles: the hypervisor is asked for it when
 * the turn comes to a vCPU or passes over one that sleeps, and time is charged from the timer at
 * every switch away, that of processes to the vCPU whose call made them work. A turn ends with the
 * budget or by sleeping. What is left of a budget is good until the next turn: a vCPU that wakes
 * with some left runs ahead of the owner of the turn
 * ("boosted"), so an interrupt doesn't wait for another VM's slice, and sleeping just before the
 * end of a slice gains nothing. Of those that may run the highest priority does; it changes no
 * vCPU's share.
 *
 * cpu.next is kept right at every change of readiness, but for what may wait until the end of the
 * entry: a budget that is used up, a turn that is over, a choice among several that would make the
 * entry too long. These are noted in cpu.late, and the deferred exception sees to them, which comes
 * before any thread's next instruction. All choices are by bit mask: no path here grows with the
 * number of threads or vCPUs.
 */
#include "kernel/kernel.h"
#include "kernel/turn.h"

struct cpu cpu;
struct thread thread_table[FVM_THREADS];

struct thread *process_thread[32];
struct vcpus vcpus;

#define EVERY_VCPU ((1u << FVM_VCPUS) - 1u)
_Static_assert(FVM_VCPUS <= 28, "a mask has flags, too: the composer refuses such a system");

/* In cpu.late, beside the vCPUs that used their budgets up. */
#define LATE_TURN (1u << 31)   /* the turn is over */
#define LATE_CHOICE (1u << 30) /* cpu.next may not be the best one */
#define LATE_FAULT (1u << 29)  /* the fault thread is to be told */
#define LATE_MOVE (1u << 28)   /* threads are to get other priorities */
#define IDLE 1u                /* in cpu.ready: always set */

/* Cycles, of a vCPU whose call made a process work for seconds. */
#define LARGEST_DEBT (INT32_MIN / 2)

static inline __attribute__((always_inline)) void settle(struct thread *thread, uint32_t priority)
{
    thread->bit = 1u << priority;
    thread->priority = (uint8_t)priority;
    thread->rank = (uint8_t)(2u * priority);
}

void scheduler_init(void)
{
    for (uint32_t i = 0; i < FVM_THREADS; i++) {
        struct thread *thread = &thread_table[i];
        if (vcpu_of_thread(thread) == NULL && i < FVM_THREADS - FVM_PORTS) {
            process_thread[thread->priority] = thread;
            settle(thread, thread->priority);
        } else {
            thread->rank = RANK_VCPU;
        }
    }
    vcpus.funded = EVERY_VCPU;
    vcpus.turn = 1;
    cpu.current = cpu.next = process_thread[0];
    cpu.left = FVM_VCPUS == 0 ? NULL : vcpu_table;
    cpu.charged = timer_arch_count();
}

static void put_off(uint32_t what)
{
    cpu.late |= what;
    cpu_arch_defer();
}

void scheduler_look_again(void) { put_off(LATE_CHOICE); }

static uint32_t first_bit(uint32_t mask) { return mask & (0u - mask); }

static struct vcpu *vcpu_of(uint32_t bit) { return &vcpu_table[__builtin_ctz(bit)]; }

/* The next bit of a mask after `bit`, the first after 0, from the end on from the start again; 0 if
 * there is none. */
static inline __attribute__((always_inline)) uint32_t next_bit(uint32_t mask, uint32_t bit)
{
    uint32_t above = mask & ~(bit | (bit - 1u));
    return first_bit(above != 0 ? above : mask);
}

/* The turn goes to the next ready vCPU, which may be its owner again. It and those between, which
 * sleep, are due for the budget of a new round. */
static void pass_turn(void)
{
    uint32_t behind = ~(vcpus.turn | (vcpus.turn - 1u));
    if (vcpus.ready == 0) {
        return; /* nobody wants it */
    }
    bool wraps = (vcpus.ready & behind) == 0;
    uint32_t next = first_bit(wraps ? vcpus.ready : vcpus.ready & behind);
    uint32_t up_to = next | (next - 1u);
    vcpus.turn = next;
    request_budget((wraps ? behind | up_to : behind & up_to) & EVERY_VCPU);
}

/* The next of several boosted ones of a priority. Those of another one don't change whose tick it
 * is among these. */
static inline void prefer(uint32_t peers, uint32_t boosted, uint32_t after)
{
    vcpus.preferred = next_bit(boosted, after);
    vcpus.served = (vcpus.served & ~peers) | vcpus.preferred;
}

/* No process but idle is ready: a vCPU runs, or idle while none may. */
static void choose_vcpu(void)
{
    cpu.next = process_thread[0];
    uint32_t candidates = vcpus.ready & vcpus.funded & (vcpus.boosted | vcpus.turn);
    if (candidates == 0) {
        if (vcpus.ready != 0) {
            put_off(LATE_TURN); /* somebody wants a budget: the hypervisor will be asked */
        } else {
            cpu.payer = NULL;
        }
        return;
    }
    uint32_t bit = first_bit(candidates);
    uint32_t peers = vcpu_of(bit)->config->peers, boosted = candidates & vcpus.boosted & peers;
    if (boosted != 0) {
        if ((boosted & vcpus.preferred) == 0) {
            /* It waits again: whom it interrupted goes on, so no wake changes whose tick it is. */
            prefer(peers, boosted, (vcpus.served & peers) >> 1);
        }
        bit = vcpus.preferred;
    }
    struct vcpu *vcpu = vcpu_of(bit);
    cpu.next = vcpu->vct->state == THREAD_READY ? vcpu->vct : vcpu->usr;
}

static void choose(void)
{
    uint32_t ready = cpu.ready & ~IDLE;
    if (ready != 0) {
        cpu.next = process_thread[31 - __builtin_clz(ready)];
    } else if (FVM_VCPUS != 0) {
        choose_vcpu();
    } else {
        cpu.next = process_thread[0];
    }
}

void scheduler_wake(struct thread *thread)
{
    thread->state = THREAD_READY;
    cpu.ready |= thread->bit;
    if (thread->rank > cpu.next->rank) {
        cpu.next = thread;
    }
}

void scheduler_wake_later(struct thread *thread)
{
    thread->state = THREAD_READY;
    cpu.ready |= thread->bit;
    put_off(LATE_CHOICE);
}

void scheduler_wake_vcpu(struct vcpu *vcpu, struct thread *thread)
{
    thread->state = THREAD_READY;
    if (cpu.next == vcpu->usr) {
        cpu.next = vcpu->vct; /* the one that became ready */
    } else {
        turn_join(vcpu, thread);
    }
}

/* No process but idle is ready. The VM that was left last goes on if it may and no other one wants
 * to; else who runs is looked at later, where it makes no entry longer. */
static void go_on(void)
{
    const struct vcpu *vcpu = cpu.left;
    uint32_t may = vcpus.funded & (vcpus.boosted | vcpus.turn);
    if ((vcpus.ready & may) == vcpu->bit) {
        cpu.next = vcpu->vct->state == THREAD_READY ? vcpu->vct : vcpu->usr;
    } else if (vcpus.ready == 0) {
        cpu.next = process_thread[0];
        cpu.payer = NULL;
    } else {
        put_off(LATE_CHOICE);
    }
}

void scheduler_block(struct thread *thread, uint8_t state)
{
    thread->state = state;
    cpu.ready &= ~thread->bit;
    if (cpu.next == thread) {
        if (FVM_VCPUS == 0 || (cpu.ready & ~IDLE) != 0) {
            choose();
        } else {
            go_on();
        }
    }
}

void scheduler_halt(struct thread *thread)
{
    thread->state = THREAD_STOPPED;
    cpu.ready &= ~thread->bit;
    put_off(LATE_CHOICE);
}

/* The turn of a halted vCPU passes when nobody else may run. What was left of its budget is of no
 * use before its next turn: whoever starts anew runs ahead of nobody by that. */
void scheduler_halt_vcpu(struct vcpu *vcpu)
{
    vcpu->vct->state = vcpu->usr->state = THREAD_STOPPED;
    vcpus.ready &= ~vcpu->bit;
    vcpus.boosted &= ~vcpu->bit;
    vcpus.funded &= ~vcpu->bit;
    put_off(LATE_CHOICE);
}

/* After a halt, which asked for the deferred work already. */
void scheduler_tell_fault(void) { cpu.late |= LATE_FAULT; }

void scheduler_block_vcpu(struct vcpu *vcpu, struct thread *thread)
{
    struct thread *other = thread == vcpu->vct ? vcpu->usr : vcpu->vct;
    thread->state = THREAD_WAITING;
    if (other->state == THREAD_READY) {
        if (cpu.next == thread) {
            cpu.next = other;
        }
        return;
    }
    vcpus.ready &= ~vcpu->bit;
    vcpus.boosted &= ~vcpu->bit;
    if (cpu.next == thread) {
        cpu.next = process_thread[0];
    }
    if (vcpus.ready != 0) { /* whose turn it is, or who is to run, is looked at later */
        put_off(vcpu->bit == vcpus.turn ? LATE_TURN : LATE_CHOICE);
    }
}

void scheduler_give_place(const struct thread *thread, struct thread *to)
{
    to->priority = thread->priority;
    to->bit = thread->bit;
    to->rank = thread->rank;
    process_thread[to->priority] = to;
}

void scheduler_replace(struct thread *thread, struct thread *by)
{
    scheduler_give_place(thread, by);
    by->state = THREAD_READY;
    if (cpu.next == thread) {
        cpu.next = by;
    }
}

/* What scheduler_move was asked for last. */
static struct move {
    struct call_frame *frame; /* of the call, whose thread doesn't run before */
    struct thread *a, *b;
    uint8_t to, b_to; /* bytes: fvmkit verify sees how far they reach */
} move;

/* Where a thread is now, or what runs in its place. */
static inline __attribute__((always_inline)) uint32_t take_away(const struct thread *thread,
                                                                struct thread **runs)
{
    uint32_t ready = cpu.ready & thread->bit;
    *runs = process_thread[thread->priority];
    process_thread[thread->priority] = NULL;
    cpu.ready &= ~thread->bit;
    return ready;
}

static inline __attribute__((always_inline)) void put(struct thread *thread, struct thread *runs,
                                                      uint32_t priority, uint32_t ready)
{
    settle(thread, priority);
    settle(runs, priority);
    process_thread[priority] = runs;
    cpu.ready |= ready != 0 ? thread->bit : 0u;
}

static bool free_for(uint32_t priority, const struct thread *a, const struct thread *b)
{
    const struct thread *there = process_thread[priority];
    return there == NULL || there == process_thread[a->priority] ||
           (b != NULL && there == process_thread[b->priority]);
}

bool scheduler_is_free(uint32_t priority) { return process_thread[priority] == NULL; }

void scheduler_add(struct thread *thread, uint32_t priority)
{
    settle(thread, priority);
    process_thread[priority] = thread;
}

void scheduler_remove(struct thread *thread)
{
    process_thread[thread->priority] = NULL; /* it stopped before */
}

int32_t scheduler_move(struct call_frame *frame, struct thread *a, uint32_t to, struct thread *b,
                       uint32_t b_to)
{
    if (b != NULL && (a == b || to == b_to)) {
        return FVM_E_ARGUMENT;
    }
    move = (struct move){frame, a, b, (uint8_t)to, (uint8_t)b_to};
    put_off(LATE_MOVE);
    return FVM_OK;
}

static void carry_out(void)
{
    if (!free_for(move.to, move.a, move.b) ||
        (move.b != NULL && !free_for(move.b_to, move.a, move.b))) {
        move.frame->r[0] = (uint32_t)FVM_E_BUSY;
        return;
    }
    struct thread *runs, *b_runs = NULL;
    uint32_t ready = take_away(move.a, &runs), b_ready = 0;
    if (move.b != NULL) {
        b_ready = take_away(move.b, &b_runs);
        put(move.b, b_runs, move.b_to, b_ready);
    }
    put(move.a, runs, move.to, ready);
}

struct thread *scheduler_runs_for(const struct thread *thread)
{
    return process_thread[thread->priority];
}

/* A vCPU whose budget is used up waits for its next turn. */
void scheduler_catch_up(void)
{
    if (invocation_break_off()) {
        return; /* LATE_CHOICE stays: the next step, or who runs then */
    }
    uint32_t late = cpu.late, spent = late & vcpus.funded;
    if ((late & LATE_FAULT) != 0) {
        cpu.late = late & ~LATE_FAULT;
        signal_send(FVM_FAULT_SIGNAL);
        return;
    }
    if (FVM_THREAD_CALLS > 0 && (late & LATE_MOVE) != 0) {
        cpu.late = (late & ~LATE_MOVE) | LATE_CHOICE;
        carry_out();
        return;
    }
    cpu.late = 0;
    vcpus.funded &= ~spent;
    vcpus.boosted &= ~spent;
    if ((spent & vcpus.turn) != 0 || (late & LATE_TURN) != 0) {
        if (interrupt_hold(process_thread[0])) {
            cpu.late = LATE_TURN; /* lines that waited come first: their VMs may want the turn */
            return;
        }
        pass_turn();
    }
    choose();
}

/* A vCPU that never switches must still notice the end of its budget, and so must one that makes
 * processes work; and of several boosted ones none computes for longer than a tick while another
 * waits. */
void scheduler_tick(void)
{
    struct vcpu *running = vcpu_of_thread(cpu.current);
    struct vcpu *payer = FVM_VCPUS == 0 || running != NULL ? running : cpu.payer;
    int32_t cycles = timer_arch_tick(&cpu.charged);
    if (payer != NULL && payer->budget > LARGEST_DEBT) {
        payer->budget -= cycles;
        if (payer->budget <= 0) {
            put_off(payer->bit);
        }
    }
    if (running == NULL) {
        return;
    }
    uint32_t peers = running->config->peers, boosted = vcpus.boosted & peers;
    if ((boosted & running->bit) != 0 && boosted != running->bit) {
        prefer(peers, boosted, running->bit);
        put_off(LATE_CHOICE);
    }
}

/* A fixed sum: reading the timer twice would cost more than what it measures. Whether it was the
 * last of the budget is seen when the vCPU pays next. */
void scheduler_charge_stub(struct vcpu *target)
{
    cpu.charged -= TIMER_ARCH_STUB; /* not the interrupted one's time */
    target->budget -= (int32_t)TIMER_ARCH_STUB;
}

void scheduler_pay(struct vcpu *vcpu)
{
    if (FVM_VCPUS == 0 || vcpu == NULL || vcpu == cpu.payer) {
        return;
    }
    int32_t cycles = timer_arch_spent(&cpu.charged);
    if (cpu.payer != NULL) {
        cpu.payer->budget -= cycles; /* if that was the last of it is seen when it pays next */
    }
    cpu.payer = vcpu;
}

int32_t scheduler_replenish(struct vcpu *vcpu, uint32_t cycles)
{
    if (cycles > vcpu->config->budget) {
        return FVM_E_ARGUMENT;
    }
    int32_t budget = vcpu->budget + (int32_t)cycles; /* debt is paid first */
    vcpu->budget = budget < (int32_t)vcpu->config->budget ? budget : (int32_t)vcpu->config->budget;
    if (vcpu->budget > 0) {
        vcpus.funded |= vcpu->bit;
    }
    return FVM_OK;
}
