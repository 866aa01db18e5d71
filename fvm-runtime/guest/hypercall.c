/* Hypercalls that need nothing but the trap. */
#include <fvm/guest.h>
#include <fvm/trap.h>

int hyp_int_ena(void) { return fvm_trap0(FVM_CALL_INT_ENA); }

int hyp_int_dis(void) { return fvm_trap0(FVM_CALL_INT_DIS); }

int hyp_vct_evt(uint32_t evt_id, uint32_t virt_id)
{
    return fvm_trap2(FVM_CALL_VCT_EVT, evt_id, virt_id);
}

int hyp_evt_add(uint32_t evt_id) { return fvm_trap1(FVM_CALL_EVT_ADD, evt_id); }

int hyp_vct_lck(void) { return fvm_trap0(FVM_CALL_VCT_LCK); }

int hyp_evt_snd(uint32_t evt_id) { return fvm_trap1(FVM_CALL_EVT_SND, evt_id); }

int hyp_wdg_clr(void) { return fvm_trap0(FVM_CALL_WDG_CLR); }

int hyp_tick_set(uint32_t hz) { return fvm_trap1(FVM_CALL_TICK_SET, hz); }

int hyp_irq_done(uint32_t virt_id) { return fvm_trap1(FVM_CALL_IRQ_DONE, virt_id); }

int hyp_pin_set(uint32_t port, uint32_t mask, uint32_t value)
{
    return fvm_trap3(FVM_CALL_PIN_SET, port, mask, value);
}

int hyp_pin_get(uint32_t port) { return fvm_trap2(FVM_CALL_PIN_GET, port, FVM_PIN_INPUT); }

int hyp_pin_latch(uint32_t port) { return fvm_trap2(FVM_CALL_PIN_GET, port, FVM_PIN_OUTPUT); }

int hyp_putc(int character) { return fvm_trap1(FVM_CALL_PUTC, (uint32_t)character); }

uint32_t virt_cycles(void) { return (uint32_t)fvm_trap0(FVM_CALL_CYCLES); }
