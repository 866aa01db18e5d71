/* Virtual vectors: registration, pending in software, enabling and disabling.
 *
 * The vector of a line that the guest disabled stays pending, as in the NVIC: it neither runs nor
 * ends a wait until the line is enabled. Who runs the handlers is in vct.c.
 */
#include <stddef.h>

#include <fvm/guest.h>
#include <fvm/trap.h>

#include "call.h"
#include "vectors.h"

/* Behind the virtual priorities of interrupts and events. */
#define URGENCY_SVC 0xFFFEu
#define URGENCY_TICK 0xFFFFu

virt_handler vector_run[FVM_VECTORS_MAX];
int8_t vector_served[FVM_VECTORS_MAX];
struct vector vector[FVM_VECTORS_MAX];

static uint16_t urgency_of(uint32_t virt_id, uint32_t prio)
{
    switch (virt_id) {
    case FVM_VIRT_TICK:
        return URGENCY_TICK;
    case FVM_VIRT_SVC:
        return URGENCY_SVC;
    default:
        return (uint16_t)(prio < URGENCY_SVC ? prio : URGENCY_SVC - 1u);
    }
}

static volatile uint8_t serves_call; /* 1 while the project's own handler of calls runs */
static virt_handler once; /* for the next supervisor call, in place of its handler, or NULL */
virt_handler guest_before_call;

/* A supervisor call may start a task, whose frame is the guest's. */
static void run_supervisor_call(void)
{
    if (once != NULL) {
        virt_handler resume = once;
        once = NULL;
        resume();
    } else {
        if (guest_before_call != NULL) {
            virt_handler make_frame = guest_before_call;
            guest_before_call = NULL;
            make_frame();
        }
        serves_call = 1;
        vector[FVM_VIRT_SVC].handler();
        serves_call = 0;
    }
    guest_complete_frame();
}

static void set_run(uint32_t virt_id)
{
    if (virt_id == FVM_VIRT_SWITCH) {
        guest_switch_set(vector[virt_id].handler); /* what VCT calls says yield.c */
        return;
    }
    if (vector[virt_id].disabled) {
        vector_run[virt_id] = NULL;
    } else {
        vector_run[virt_id] =
            virt_id == FVM_VIRT_SVC ? run_supervisor_call : vector[virt_id].handler;
    }
}

static void disable(uint32_t virt_id, bool disabled)
{
    vector[virt_id].disabled = disabled;
    set_run(virt_id);
}

int virt_vct_set(uint32_t virt_id, virt_handler handler, uint32_t prio, uint32_t attr)
{
    if (virt_id >= FVM_VECTORS_MAX || handler == NULL) {
        return FVM_E_ARGUMENT;
    }
    struct vector *entry = &vector[virt_id];
    entry->handler = handler;
    entry->urgency = urgency_of(virt_id, prio);
    /* A supervisor call isn't held by BASEPRI: its caller can't go on without it. */
    entry->transparent = virt_id == FVM_VIRT_SVC ? VIRT_TRANSPARENT : attr & VIRT_TRANSPARENT;
    if (vector_served[virt_id] == 0) { /* hyp_vct_phys may have come first */
        vector_served[virt_id] = virt_id == FVM_VIRT_TICK ? (int8_t)virt_id : NOT_ACKNOWLEDGED;
    }
    set_run(virt_id);
    return FVM_OK;
}

int virt_vct_prio(uint32_t virt_id, uint32_t prio)
{
    if (virt_id >= FVM_VECTORS_MAX || vector[virt_id].handler == NULL) {
        return FVM_E_ARGUMENT;
    }
    vector[virt_id].urgency = urgency_of(virt_id, prio);
    return FVM_OK;
}

int hyp_vct_phys(uint32_t phys_id, uint32_t virt_id)
{
    int result = fvm_trap2(FVM_CALL_VCT_PHYS, phys_id, virt_id);
    if (result == FVM_OK) { /* so it is a vector's, and not the switch's */
        vector_served[virt_id] = (int8_t)virt_id;
        vector[virt_id].disabled = true;
        vector_run[virt_id] = NULL;
    }
    return result;
}

void guest_vector_split(uint32_t virt_id, struct fvm_split *split)
{
    vector[virt_id].split = split;
    disable(virt_id, true);
}

/* Sees to it that VCT runs the vector if it is pending and may run, now or at the unmask. */
static int serve(uint32_t virt_id)
{
    if (vector[virt_id].disabled || fvm_state.pending[virt_id] == 0) {
        return FVM_OK;
    }
    if (virt_in_vct() || vector_held(virt_id)) {
        fvm_state.int_pend.byte.vector = 1; /* VCT looks again before it waits, or the unmask */
        return FVM_OK;
    }
    return fvm_trap0(FVM_CALL_VCT_WAKE);
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

void virt_vct_once(virt_handler resume)
{
    uint32_t masked = virt_int_save(VIRT_PRIMASK);
    struct vector *entry = &vector[FVM_VIRT_SVC];
    once = resume;
    entry->urgency = URGENCY_SVC; /* the guest may have no handler of supervisor calls */
    entry->transparent = VIRT_TRANSPARENT;
    vector_run[FVM_VIRT_SVC] = run_supervisor_call;
    vector_pend(FVM_VIRT_SVC);
    (void)serve(FVM_VIRT_SVC);
    virt_int_restore(VIRT_PRIMASK, masked); /* served here */
}

int hyp_irq_ena(int32_t phys_id)
{
    int virt_id = fvm_trap1(FVM_CALL_IRQ_ENA, (uint32_t)phys_id);
    if (virt_id < 0) {
        return virt_id;
    }
    disable((uint32_t)virt_id, false);
    if (fvm_state.pending[virt_id] != 0) {
        vector_pend((uint32_t)virt_id); /* VCT passed over it */
    }
    return serve((uint32_t)virt_id);
}

int hyp_irq_dis(int32_t phys_id)
{
    int virt_id = fvm_trap1(FVM_CALL_IRQ_DIS, (uint32_t)phys_id);
    if (virt_id < 0) {
        return virt_id;
    }
    disable((uint32_t)virt_id, true);
    return FVM_OK;
}

int virt_vct_clear(uint32_t virt_id)
{
    if (virt_id >= FVM_VECTORS_MAX) {
        return FVM_E_ARGUMENT;
    }
    if (virt_id == FVM_VIRT_SWITCH) {
        fvm_state.int_pend.byte.yield = 0;
        return FVM_OK;
    }
    if (vector[virt_id].split != NULL) {
        return FVM_OK; /* its records are like a source that stays asserted */
    }
    if (fvm_state.pending[virt_id] != 0) {
        fvm_state.pending[virt_id] = 0;
        if (vector_served[virt_id] > 0) {
            (void)hyp_irq_done(virt_id); /* or it stays closed, a tick owed for ever */
        }
    }
    return FVM_OK;
}

int virt_in_svc(void) { return serves_call; }

int virt_vct_pending(uint32_t virt_id)
{
    if (virt_id == FVM_VIRT_SWITCH) {
        return fvm_state.int_pend.byte.yield != 0;
    }
    return virt_id < FVM_VECTORS_MAX && fvm_state.pending[virt_id] != 0;
}
