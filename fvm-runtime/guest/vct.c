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

#include "call.h"
#include "vectors.h"

#define GROUPS (FVM_VECTORS_MAX / FVM_VECTOR_GROUP)

/* Four bytes that are 0 or 1 each. */
typedef volatile uint32_t __attribute__((may_alias)) four_flags;

_Static_assert(GROUPS == 8 && FVM_VECTOR_GROUP == 8, "flags() takes eight bytes");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "flags()");

/* Eight such bytes as one word: bit 8k for byte k, bit 8k + 4 for byte k + 4. */
static uint32_t flags(const volatile uint8_t *bytes)
{
    const four_flags *word = (const four_flags *)(const volatile void *)bytes;
    return word[0] | word[1] << 4;
}

/* The byte of the lowest bit that is set. */
static uint32_t first_flag(uint32_t set)
{
    uint32_t bit = (uint32_t)__builtin_ctz(set);
    return (bit & 4u) + (bit >> 3);
}

static uint32_t without_first(uint32_t set) { return set & (set - 1u); }

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
        } else if (best == FVM_NONE || vector[id].order < vector[best].order) {
            best = id;
        }
    }
    return best;
}

/* The most urgent vector that may run now, or FVM_NONE. */
static uint32_t next_vector(void)
{
    uint32_t best = FVM_NONE;
    fvm_state.int_pend.byte.vector = 0; /* before the look: a later pend sets it again */
    for (uint32_t set = flags(fvm_state.pending_group); set != 0; set = without_first(set)) {
        best = look_at(first_flag(set), best);
    }
    return best;
}

static void run(uint32_t id)
{
    fvm_state.pending[id] = 0;
    if (id == FVM_VIRT_SWITCH) {
        fvm_state.int_pend.byte.yield = 0;
    }
    if (vector[id].handler != NULL) {
        vector[id].handler();
    }
    if (id == FVM_VIRT_SWITCH || id == FVM_VIRT_SVC) {
        guest_complete_frame();
    }
}

_Noreturn void fvm_vct_main(void); /* from the generated start-up */

_Noreturn void fvm_vct_main(void)
{
    for (;;) {
        uint32_t served = FVM_NONE; /* the last one is named by the wait itself: no extra trap */
        fvm_state.vct_act = 1;
        for (uint32_t id = next_vector(); id != FVM_NONE; id = next_vector()) {
            run(id);
            if (vector[id].acknowledge) {
                if (served != FVM_NONE) {
                    (void)hyp_irq_done(served);
                }
                served = id;
            }
        }
        fvm_state.vct_act = 0;
        (void)guest_call(FVM_CALL_VCT_WAIT, served, 0, 0);
    }
}

/* True if an enabled vector is pending, held by a mask or not. */
static bool something_pending(void)
{
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
    return guest_call(FVM_CALL_VCT_WAIT, FVM_NONE, 0, 0);
}
