/* The fault thread, the most urgent of all: what becomes of a domain that faulted, ran into its
 * watchdog or asked for a reset.
 *
 * Faults of a domain that follow each other within a time form a row. The first restart of a row
 * comes at once, each further one twice as late as the one before, up to a longest delay: a domain
 * that faults as soon as it starts takes little from the others. A row may have a length after
 * which the domain stays stopped; for a VM that never got going it has one.
 */
#include <fvm/native.h>

#include "hyp_config.h"
#include "hypervisor/policy.h"

enum state {
    RUNNING,
    DELAYED, /* restarts at `due` */
    STOPPED, /* for good */
};

struct row {
    uint32_t last, due; /* kernel ticks */
    uint16_t length;
    uint8_t state;
    uint8_t later; /* it is not the first since the chip started */
};

static struct row row_table[HYP_DOMAINS];

static uint32_t delay_of(const struct hyp_fault_policy *policy, uint32_t length)
{
    if (!HYP_DELAYS || length < 2) {
        return 0;
    }
    uint32_t delay = policy->delay;
    for (uint32_t i = 2; i < length && delay < policy->longest; i++) {
        delay *= 2; /* less than 2^32: `longest` is a signed number of ticks */
    }
    return delay < policy->longest ? delay : policy->longest;
}

static void tell(const struct hyp_domain *domain, enum fvm_decision decision, uint32_t delay)
{
    (void)fvm_call(FVM_CALL_FAULT_DECIDED, domain->cap, (uint32_t)decision, delay, 0);
}

static void give_up(const struct hyp_domain *domain, struct row *row)
{
    row->state = STOPPED;
    tell(domain, FVM_STOP, 0);
}

/* The time is over. A process that decides is asked only now, so a domain that faults again and
 * again costs the others little whatever is decided. */
static int32_t let_go(const struct hyp_domain *domain)
{
    if (domain->fault.action != HYP_OTHERS) {
        return fvm_domain_restart(domain->cap);
    }
    tell(domain, FVM_ASK, 0);
    return fvm_domain_stop(domain->cap);
}

static int had_tick(const struct hyp_domain *domain)
{
    uint32_t index = (uint32_t)(domain - hyp_domain);
    return fvm_call(FVM_CALL_STATUS, HYP_CAP_LOG, FVM_STATUS_DOMAIN, index, 0).r2 != 0;
}

/* Whether the row is longer than the policy lets it be. */
static int is_over(const struct hyp_domain *domain, const struct row *row)
{
    const struct hyp_fault_policy *policy = &domain->fault;
    if (policy->most == 0 || row->length <= policy->most) {
        return 0;
    }
    return policy->starting == 0 || (row->later == 0 && !had_tick(domain));
}

/* A new fault. */
static void decide(const struct hyp_domain *domain, struct row *row, uint32_t tick)
{
    const struct hyp_fault_policy *policy = &domain->fault;
    if (tick - row->last > policy->within) {
        row->length = 0;
        row->later = 1;
    }
    row->last = tick;
    if (row->length != UINT16_MAX) {
        row->length++;
    }
    if (policy->action == HYP_STOP || is_over(domain, row)) {
        give_up(domain, row);
        return;
    }
    uint32_t delay = delay_of(policy, row->length);
    row->state = DELAYED;
    row->due = tick + delay;
    tell(domain, policy->action == HYP_OTHERS ? FVM_UNDECIDED : FVM_RESTART, delay);
}

/* Ticks until a stopped domain is to be restarted, 0 if there is nothing to wait for. */
static uint32_t serve(const struct hyp_domain *domain, struct row *row, uint32_t tick)
{
    if (row->state == RUNNING) {
        decide(domain, row, tick);
    }
    if (row->state == STOPPED) {
        return 0;
    }
    int32_t left = (int32_t)(row->due - tick);
    if (left > 0) {
        return (uint32_t)left;
    }
    row->state = RUNNING;
    if (let_go(domain) != FVM_OK) {
        give_up(domain, row); /* the header in flash is bad, and stays so */
    }
    return 0;
}

_Noreturn void hyp_fault_thread(void)
{
    for (;;) {
        (void)fvm_signal_wait(HYP_CAP_FAULT);
        while (!HYP_WRITES_LOG && fvm_call(FVM_CALL_FAULT_NEXT, HYP_CAP_LOG, 0, 0, 0).r0 > 0) {
            /* so that the log has the newest records, for others to read */
        }
        struct fvm_result kernel = fvm_call(FVM_CALL_STATUS, HYP_CAP_LOG, FVM_STATUS_KERNEL, 0, 0);
#if HYP_WRITES_LOG
        (void)fvm_call(FVM_CALL_TIMER_SET, HYP_CAP_LOG_TIMER, 1, 0, 0);
#endif
        uint32_t soonest = 0;
        for (uint32_t i = 0; i < HYP_DOMAINS; i++) {
            if ((kernel.r3 >> i & 1u) == 0) {
                continue;
            }
            /* Before anything else of it can run. */
            int32_t stop = fvm_domain_stop(hyp_domain[i].cap);
            if (hyp_domain[i].fault.action == HYP_OTHERS && stop == FVM_OK) {
                continue; /* it isn't held back: a process decides */
            }
            uint32_t left = serve(&hyp_domain[i], &row_table[i], (uint32_t)kernel.r0);
            soonest = soonest == 0 || (left != 0 && left < soonest) ? left : soonest;
        }
#if HYP_DELAYS
        if (soonest != 0) {
            (void)fvm_call(FVM_CALL_TIMER_SET, HYP_CAP_RETRY, soonest, 0, 0);
        }
#endif
    }
}
