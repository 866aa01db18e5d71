/* Hypercalls that need nothing but the trap. */
#include <fvm/guest.h>

#include "call.h"

int hyp_int_ena(void) { return guest_call(FVM_CALL_INT_ENA, 0, 0, 0); }

int hyp_int_dis(void) { return guest_call(FVM_CALL_INT_DIS, 0, 0, 0); }

int hyp_vct_evt(uint32_t evt_id, uint32_t virt_id)
{
    return guest_call(FVM_CALL_VCT_EVT, evt_id, virt_id, 0);
}

int hyp_evt_add(uint32_t evt_id) { return guest_call(FVM_CALL_EVT_ADD, evt_id, 0, 0); }

int hyp_vct_lck(void) { return guest_call(FVM_CALL_VCT_LCK, 0, 0, 0); }

int hyp_evt_snd(uint32_t evt_id) { return guest_call(FVM_CALL_EVT_SND, evt_id, 0, 0); }

int hyp_wdg_clr(void) { return guest_call(FVM_CALL_WDG_CLR, 0, 0, 0); }

int hyp_tick_set(uint32_t hz) { return guest_call(FVM_CALL_TICK_SET, hz, 0, 0); }

int hyp_irq_done(uint32_t virt_id) { return guest_call(FVM_CALL_IRQ_DONE, virt_id, 0, 0); }

int hyp_pin_set(uint32_t port, uint32_t mask, uint32_t value)
{
    return guest_call(FVM_CALL_PIN_SET, port, mask, value);
}

int hyp_pin_get(uint32_t port) { return guest_call(FVM_CALL_PIN_GET, port, FVM_PIN_INPUT, 0); }

int hyp_pin_latch(uint32_t port) { return guest_call(FVM_CALL_PIN_GET, port, FVM_PIN_OUTPUT, 0); }

uint32_t virt_cycles(void) { return (uint32_t)guest_call(FVM_CALL_CYCLES, 0, 0, 0); }
