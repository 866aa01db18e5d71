/* The fault log and what to do about a fault, for the hypervisor and processes that may. */
#include <stdbool.h>

#include <fvm/native.h>

#define WORDS_A_CALL 3u

_Static_assert(sizeof(struct fvm_fault) == 4 * FVM_FAULT_WORDS, "record layout is ABI");

int32_t fvm_fault_read(uint32_t cap, uint32_t after, struct fvm_fault *record)
{
    uint32_t *word = (uint32_t *)record;
    uint32_t from = 0;
    int32_t serial = 0;
    while (from < FVM_FAULT_WORDS) {
        struct fvm_result part = fvm_call(FVM_CALL_FAULT_READ, cap, after, from, 0);
        if (part.r0 <= 0) {
            return part.r0;
        }
        if (from != 0 && part.r0 != serial) {
            from = 0; /* it gave way to a newer one meanwhile: read that */
            continue;
        }
        serial = part.r0;
        const uint32_t found[WORDS_A_CALL] = {part.r1, part.r2, part.r3};
        for (uint32_t i = 0; i < WORDS_A_CALL && from < FVM_FAULT_WORDS; i++) {
            word[from++] = found[i];
        }
    }
    return 1;
}

static int32_t by_steps(uint32_t call, uint32_t cap)
{
    int32_t result;
    do {
        result = fvm_call(call, cap, 0, 0, 0).r0;
    } while (result == FVM_MORE);
    return result;
}

int32_t fvm_domain_stop(uint32_t cap) { return by_steps(FVM_CALL_DOMAIN_STOP, cap); }

int32_t fvm_domain_restart(uint32_t cap) { return by_steps(FVM_CALL_DOMAIN_RESTART, cap); }

/* The record of why a domain is stopped; serial 0 if the log has none. */
static struct fvm_fault reason(uint32_t log, uint8_t domain)
{
    uint32_t restarts = (uint32_t)fvm_call(FVM_CALL_STATUS, log, FVM_STATUS_DOMAIN, domain, 0).r0;
    struct fvm_fault found = {.domain = domain}, record;
    for (uint32_t after = 0; fvm_fault_read(log, after, &record) == 1; after = record.serial) {
        if (record.domain == domain && record.restarts == restarts + 1) {
            found = record;
        }
    }
    return found;
}

static bool is_stopped(uint32_t log, uint8_t domain)
{
    uint32_t stopped = fvm_call(FVM_CALL_STATUS, log, FVM_STATUS_KERNEL, 0, 0).r3;
    return (stopped >> domain & 1u) != 0;
}

/* True if the domain is to stay stopped. */
static bool settle(uint32_t log, const struct fvm_watched *watched,
                   enum fvm_decision (*decide)(const struct fvm_fault *fault))
{
    struct fvm_fault fault = reason(log, watched->domain);
    enum fvm_decision decision = (enum fvm_decision)fault.decision;
    if (decision == FVM_UNDECIDED) {
        decision = decide(&fault);
        (void)fvm_call(FVM_CALL_FAULT_DECIDED, watched->cap, (uint32_t)decision, 0, 0);
    }
    int32_t result = decision == FVM_RESTART ? fvm_domain_restart(watched->cap) : FVM_OK;
    if (result != FVM_OK && result != FVM_E_BUSY) {
        decision = FVM_STOP; /* the header in flash is bad, and stays so */
        (void)fvm_call(FVM_CALL_FAULT_DECIDED, watched->cap, (uint32_t)decision, 0, 0);
    }
    return decision == FVM_STOP;
}

_Noreturn void fvm_fault_serve(uint32_t faults, uint32_t log, const struct fvm_watched *watched,
                               uint32_t count,
                               enum fvm_decision (*decide)(const struct fvm_fault *fault))
{
    uint32_t settled = 0; /* bit: index in `watched` */
    for (;;) {
        /* First without a wait: one may have stopped before this process started again. */
        for (uint32_t i = 0; i < count; i++) {
            if ((settled >> i & 1u) == 0 && is_stopped(log, watched[i].domain) &&
                settle(log, &watched[i], decide)) {
                settled |= 1u << i;
            }
        }
        (void)fvm_signal_wait(faults);
    }
}
