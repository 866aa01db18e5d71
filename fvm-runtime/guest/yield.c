/* Context switches asked for by the guest, and the slow half of unmask. */
#include <stddef.h>

#include <fvm/guest.h>

#include "call.h"
#include "vectors.h"

uint32_t *(*guest_pick)(uint32_t *sp);

void virt_yield_set(uint32_t *(*pick)(uint32_t *sp)) { guest_pick = pick; }

void virt_yield(void)
{
    if (virt_in_vct()) {
        vector_pend(FVM_VIRT_SWITCH);
        return;
    }
    if (fvm_state.int_mask.both != 0) {
        vector_pend(FVM_VIRT_SWITCH);
        fvm_state.int_pend.byte.yield = 1;
    } else if (guest_pick != NULL) {
        guest_switch();
    } else {
        vector_pend(FVM_VIRT_SWITCH);
        (void)guest_call(FVM_CALL_VCT_WAKE, 0, 0, 0);
    }
}

void virt_unmask_pending(void)
{
    if (virt_in_vct()) {
        return; /* VCT looks again before it waits */
    }
    if (fvm_state.int_pend.byte.vector == 0) {
        if (fvm_state.int_mask.both != 0) {
            return; /* the other mask still holds the switch */
        }
        if (guest_pick != NULL) {
            guest_switch();
            return;
        }
    }
    (void)guest_call(FVM_CALL_VCT_WAKE, 0, 0, 0);
}
