/* The VCT thread, which runs handlers, and what USR does while it has nothing to do.
 *
 * VCT clears a vector's pending byte before it calls the handler, so what arrives meanwhile is seen
 * on the next look. Order: the virtual priorities of the interrupts and events, then the supervisor
 * call, the tick, the context switch. Handlers don't nest. Masked vectors stay pending and set
 * int_pend, which sends the guest's next unmask here. A look costs by the vectors that are pending,
 * not by those that exist.
 */
#include <stddef.h>

#include <fvm/guest.h>
#include <fvm/trap.h>

#include "call.h"
#include "vectors.h"

#define GROUPS (FVM_VECTORS_MAX / FVM_VECTOR_GROUP)

_Static_assert((uint32_t)NOT_ACKNOWLEDGED == FVM_NONE, "what VCT_WAIT is told");
_Static_assert(GROUPS == 8 && FVM_VECTOR_GROUP == 8, "flags() takes eight bytes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "flags()");

/* Eight bytes that are 0 or 1 each, as one word: bit 8k for byte k, bit 8k + 4 for byte k + 4. */
static inline uint32_t flags(const volatile uint8_t *bytes)
{
    struct fvm_pair word = fvm_load_pair(bytes);
    return word.first | word.second << 4;
}

static inline bool any_flag(const volatile uint8_t *bytes)
{
    struct fvm_pair word = fvm_load_pair(bytes);
    return (word.first | word.second) != 0;
}

/* The byte of the lowest bit that is set. */
static inline uint32_t first_flag(uint32_t set)
{
    uint32_t bit = (uint32_t)__builtin_ctz(set);
    return (bit & 4u) + (bit >> 3);
}

static inline uint32_t without_first(uint32_t set) { return set & (set - 1u); }

static bool before(uint32_t id, uint32_t other)
{
    uint32_t urgency = vector[id].urgency, others = vector[other].urgency;
    return urgency < others || (urgency == others && id < other);
}

/* The more urgent of `best` and the vectors of a group that may run now. Those that a mask holds
 * are left for the unmask, those that are disabled for hyp_irq_ena. */
static uint32_t look_at(uint32_t group, uint32_t best)
{
    fvm_state.pending_group[group] = 0; /* before the look: a later pend sets it again */
    uint32_t first = group * FVM_VECTOR_GROUP;
    for (uint32_t set = flags(&fvm_state.pending[first]); set != 0; set = without_first(set)) {
        uint32_t id = first + first_flag(set);
        if (vector[id].disabled) {
            continue;
        }
        fvm_state.pending_group[group] = 1;
        if (vector_held(id)) {
            fvm_state.int_pend.byte.vector = 1;
        } else if (best == FVM_NONE || before(id, best)) {
            best = id;
        }
    }
    return best;
}

/* The most urgent vector that may run now, or FVM_NONE. */
static uint32_t most_urgent(void)
{
    uint32_t best = FVM_NONE;
    fvm_state.int_pend.byte.vector = 0; /* before the look: a later pend sets it again */
    for (uint32_t set = flags(fvm_state.pending_group); set != 0; set = without_first(set)) {
        best = look_at(first_flag(set), best);
    }
    return best;
}

/* Runs what is pending, the most urgent first. An acknowledgement may wait for the next one: the
 * last is named by VCT's wait itself. Returns that. */
static __attribute__((noinline)) uint32_t serve_all(uint32_t served)
{
    for (uint32_t id = most_urgent(); id != FVM_NONE; id = most_urgent()) {
        fvm_state.pending[id] = 0;
        if (vector_run[id] != NULL) {
            vector_run[id]();
        }
        if (vector_served[id] <= 0) {
            continue;
        }
        if (served != FVM_NONE) {
            (void)hyp_irq_done(served);
        }
        served = id;
    }
    return served;
}

/* The only vector that is pending, if it is of this group and may run; or FVM_NONE. */
static inline __attribute__((always_inline)) uint32_t alone_in(uint32_t group)
{
    fvm_state.pending_group[group] = 0;
    uint32_t set = flags(&fvm_state.pending[group * FVM_VECTOR_GROUP]);
    if (set != 0 && without_first(set) == 0 && fvm_load_half(&fvm_state.int_mask.both) == 0) {
        uint32_t id = group * FVM_VECTOR_GROUP + first_flag(set);
        if (vector_run[id] != NULL) {
            return id;
        }
    }
    fvm_state.pending_group[group] = 1;
    return FVM_NONE;
}

/* The only vector that is pending, as mostly there is one; FVM_NONE if there is another number of
 * them, or one has to look closer. */
static inline __attribute__((always_inline)) uint32_t alone(void)
{
    uint32_t groups = flags(fvm_state.pending_group);
    if (groups == 1u) {
        return alone_in(0);
    }
    if (groups != 0 && without_first(groups) == 0) {
        return alone_in(first_flag(groups));
    }
    return FVM_NONE;
}

_Noreturn void fvm_vct_main(void); /* from the generated start-up */

_Noreturn void fvm_vct_main(void)
{
    guest_switch_init();
    for (;;) {
        uint32_t served = FVM_NONE;
        fvm_state.vct_act = 1;
        fvm_state.int_pend.byte.vector = 0; /* before the look: a later pend sets it again */
        uint32_t id = alone();
        if (id != FVM_NONE) {
            fvm_state.pending[id] = 0;
            vector_run[id]();
            served = (uint32_t)(int32_t)vector_served[id];
        }
        for (;;) {
            if (any_flag(fvm_state.pending_group)) {
                served = serve_all(served);
                if (fvm_load_half(&fvm_state.int_mask.both) != 0) {
                    break; /* it holds what is left */
                }
            } else if (fvm_load_byte(&fvm_state.int_pend.byte.yield) == 0 ||
                       fvm_load_half(&fvm_state.int_mask.both) != 0) {
                break;
            } else {
                fvm_state.int_pend.byte.yield = 0;
                vector_run[FVM_VIRT_SWITCH]();
                if (fvm_state.int_pend.any == 0) {
                    break; /* what the kernel pended meanwhile ends the wait at once */
                }
            }
        }
        fvm_state.vct_act = 0;
        (void)fvm_trap1(FVM_CALL_VCT_WAIT, served);
    }
}

/* True if an enabled vector is pending, held by a mask or not. */
static bool something_pending(void)
{
    if (fvm_state.int_pend.byte.yield != 0) {
        return true;
    }
    for (uint32_t set = flags(fvm_state.pending_group); set != 0; set = without_first(set)) {
        uint32_t first = first_flag(set) * FVM_VECTOR_GROUP;
        uint32_t some = flags(&fvm_state.pending[first]);
        for (; some != 0; some = without_first(some)) {
            if (!vector[first + first_flag(some)].disabled) {
                return true;
            }
        }
    }
    return false;
}

int hyp_vct_wait(void)
{
    if (virt_in_vct() || something_pending()) {
        return FVM_OK; /* a handler may not block; WFI may be a no-operation */
    }
    return fvm_trap1(FVM_CALL_VCT_WAIT, FVM_NONE);
}
