/* Virtual vectors: registration, pending in software, enabling and disabling.
 *
 * The vector of a line that the guest disabled stays pending, as in the NVIC: it neither runs nor
 * ends a wait until the line is enabled. Who runs the handlers is in vct.c.
 */
#include <stddef.h>

#include <fvm/guest.h>

#include "call.h"
#include "vectors.h"

/* Of the virtual priorities; what comes after all of them. */
#define ORDER_SVC 0x10000u
#define ORDER_TICK 0x10001u
#define ORDER_SWITCH 0x10002u

struct vector vector[FVM_VECTORS_MAX];

static uint32_t urgency(uint32_t virt_id, uint32_t prio)
{
    switch (virt_id) {
    case FVM_VIRT_SWITCH:
        return ORDER_SWITCH;
    case FVM_VIRT_TICK:
        return ORDER_TICK;
    case FVM_VIRT_SVC:
        return ORDER_SVC;
    default:
        return prio < ORDER_SVC ? prio : ORDER_SVC - 1u;
    }
}

/* Of equally urgent ones the first runs first, as in the NVIC. */
static uint32_t order_of(uint32_t virt_id, uint32_t prio)
{
    return urgency(virt_id, prio) * FVM_VECTORS_MAX + virt_id;
}

int virt_vct_set(uint32_t virt_id, virt_handler handler, uint32_t prio, uint32_t attr)
{
    if (virt_id >= FVM_VECTORS_MAX || handler == NULL) {
        return FVM_E_ARGUMENT;
    }
    struct vector *entry = &vector[virt_id];
    entry->handler = handler;
    entry->order = order_of(virt_id, prio);
    /* A supervisor call isn't held by BASEPRI: its caller can't go on without it. */
    entry->transparent = attr == VIRT_TRANSPARENT || virt_id == FVM_VIRT_SVC;
    entry->acknowledge = entry->acknowledge || virt_id == FVM_VIRT_TICK;
    return FVM_OK;
}

int virt_vct_prio(uint32_t virt_id, uint32_t prio)
{
    if (virt_id >= FVM_VECTORS_MAX || vector[virt_id].handler == NULL) {
        return FVM_E_ARGUMENT;
    }
    vector[virt_id].order = order_of(virt_id, prio);
    return FVM_OK;
}

int hyp_vct_phys(uint32_t phys_id, uint32_t virt_id)
{
    int result = guest_call(FVM_CALL_VCT_PHYS, phys_id, virt_id, 0);
    if (result == FVM_OK && virt_id < FVM_VECTORS_MAX) {
        vector[virt_id].acknowledge = 1;
        vector[virt_id].disabled = 1;
    }
    return result;
}

void guest_vector_split(uint32_t virt_id, struct fvm_split *split)
{
    vector[virt_id].split = split;
    vector[virt_id].disabled = 1;
}

/* Sees to it that VCT runs the vector if it is pending and may run, now or at the unmask. */
static int serve(uint32_t virt_id)
{
    if (virt_in_vct() || vector[virt_id].disabled || fvm_state.pending[virt_id] == 0) {
        return FVM_OK; /* in VCT: it looks again before it waits */
    }
    if (vector_held(virt_id)) {
        fvm_state.int_pend.byte.vector = 1;
        return FVM_OK;
    }
    return guest_call(FVM_CALL_VCT_WAKE, 0, 0, 0);
}

int virt_vct_trig(uint32_t virt_id)
{
    if (virt_id == FVM_VIRT_SWITCH) {
        virt_yield();
        return FVM_OK;
    }
    if (virt_id >= FVM_VECTORS_MAX || vector[virt_id].handler == NULL) {
        return FVM_E_ARGUMENT;
    }
    struct fvm_split *split = vector[virt_id].split;
    if (split != NULL) {
        split->block->asked = 1; /* before the event: it posts even what it would postpone */
        return hyp_evt_snd(split->pend);
    }
    vector_pend(virt_id);
    return serve(virt_id);
}

int hyp_irq_ena(int32_t phys_id)
{
    int virt_id = guest_call(FVM_CALL_IRQ_ENA, (uint32_t)phys_id, 0, 0);
    if (virt_id < 0) {
        return virt_id;
    }
    vector[virt_id].disabled = 0;
    if (fvm_state.pending[virt_id] != 0) {
        vector_pend((uint32_t)virt_id); /* VCT passed over it */
    }
    return serve((uint32_t)virt_id);
}

int hyp_irq_dis(int32_t phys_id)
{
    int virt_id = guest_call(FVM_CALL_IRQ_DIS, (uint32_t)phys_id, 0, 0);
    if (virt_id < 0) {
        return virt_id;
    }
    vector[virt_id].disabled = 1;
    return FVM_OK;
}

int virt_vct_clear(uint32_t virt_id)
{
    if (virt_id >= FVM_VECTORS_MAX) {
        return FVM_E_ARGUMENT;
    }
    if (virt_id == FVM_VIRT_SWITCH) {
        fvm_state.int_pend.byte.yield = 0;
    }
    if (vector[virt_id].split != NULL) {
        return FVM_OK; /* its records are like a source that stays asserted */
    }
    if (fvm_state.pending[virt_id] != 0) {
        fvm_state.pending[virt_id] = 0;
        if (vector[virt_id].acknowledge) {
            (void)hyp_irq_done(virt_id); /* or it stays closed, a tick owed for ever */
        }
    }
    return FVM_OK;
}

int virt_vct_pending(uint32_t virt_id)
{
    return virt_id < FVM_VECTORS_MAX && fvm_state.pending[virt_id] != 0;
}
