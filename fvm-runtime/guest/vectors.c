/* Virtual vectors: registration, pending in software, and the VCT thread that runs handlers.
 *
 * VCT clears a vector's pending byte before it calls the handler, so what arrives meanwhile is seen
 * on the next pass. Order: the virtual priorities of the interrupts and events, then the supervisor
 * call, the tick, the context switch. Handlers don't nest. Masked vectors stay pending and set
 * int_pend, which sends the guest's next unmask here. The vector of a line that the guest disabled
 * stays pending, as in the NVIC: it neither runs nor ends a wait until the line is enabled.
 */
#include <stdbool.h>
#include <stddef.h>

#include <fvm/guest.h>

#include "call.h"

#define ORDER_SVC 0x10000u
#define ORDER_TICK 0x10001u
#define ORDER_SWITCH 0x10002u

struct vector {
    virt_handler handler;
    uint32_t order; /* smaller runs first */
    uint8_t transparent;
    uint8_t acknowledge;     /* the kernel waits to hear that it was served */
    uint8_t disabled;        /* of a line: until hyp_irq_ena */
    struct fvm_split *split; /* of a line that a process serves first, or NULL */
};

static struct vector vector[FVM_VECTORS_MAX];
static uint32_t vectors; /* highest registered + 1 */

static uint32_t order_of(uint32_t virt_id, uint32_t prio)
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
    if (virt_id >= vectors) {
        vectors = virt_id + 1;
    }
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

static bool held(uint32_t virt_id)
{
    return (vector[virt_id].transparent ? fvm_state.int_mask.byte.pri : fvm_state.int_mask.both) !=
           0;
}

/* Sees to it that VCT runs the vector if it is pending and may run, now or at the unmask. */
static int serve(uint32_t virt_id)
{
    if (virt_in_vct() || vector[virt_id].disabled || fvm_state.pending[virt_id] == 0) {
        return FVM_OK; /* in VCT: it looks again before it waits */
    }
    if (held(virt_id)) {
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
    fvm_state.pending[virt_id] = 1;
    return serve(virt_id);
}

int hyp_irq_ena(int32_t phys_id)
{
    int virt_id = guest_call(FVM_CALL_IRQ_ENA, (uint32_t)phys_id, 0, 0);
    if (virt_id < 0) {
        return virt_id;
    }
    vector[virt_id].disabled = 0;
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

int hyp_vct_wait(void)
{
    if (virt_in_vct()) {
        return FVM_OK; /* a handler may not block; WFI may be a no-operation */
    }
    for (uint32_t id = 0; id < vectors; id++) {
        if (fvm_state.pending[id] != 0 && !vector[id].disabled) {
            return FVM_OK;
        }
    }
    return guest_call(FVM_CALL_VCT_WAIT, FVM_NONE, 0, 0);
}

/* The most urgent vector that may run now, or FVM_NONE. */
static uint32_t next_vector(void)
{
    uint32_t best = FVM_NONE;
    fvm_state.int_pend.byte.vector = 0; /* before the look: a later pend sets it again */
    for (uint32_t id = 0; id < vectors; id++) {
        if (fvm_state.pending[id] == 0 || vector[id].disabled) {
            continue;
        }
        if (held(id)) {
            fvm_state.int_pend.byte.vector = 1;
        } else if (best == FVM_NONE || vector[id].order < vector[best].order) {
            best = id;
        }
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
