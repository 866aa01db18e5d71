/* In place of src/guest.c in the virtual machine: masks, hypercalls, and its part in what the
 * native processes measure. */
#include "fvm_domain.h"
#include <fvm/guest.h>

#include "board_native.h"
#include "operations.h"

ROUNDS(mask);
ROUNDS(call_kernel);
ROUNDS(call_cycles);
ROUNDS(call_hypervisor);
ROUNDS(call_refused);
ROUNDS(event);
ROUNDS(native);

static volatile unsigned answered;

MARKED void on_echo(void)
{
    MARK(event_stop);
    answered++;
}

static MARKED void masks(void)
{
    for (unsigned left = rounds_mask; left != 0; left--) {
        FORGET();
        MARK(mask_start);
        virt_int_mask(VIRT_PRIMASK);
        virt_int_unmask(VIRT_PRIMASK);
        MARK(mask_stop);
    }
}

static MARKED void calls(void)
{
    for (unsigned left = rounds_call_kernel; left != 0; left--) {
        FORGET();
        MARK(call_kernel_start);
        (void)hyp_wdg_clr();
        MARK(call_kernel_stop);
    }
    for (unsigned left = rounds_call_cycles; left != 0; left--) {
        FORGET();
        MARK(call_cycles_start);
        (void)virt_cycles();
        MARK(call_cycles_stop);
    }
    for (unsigned left = rounds_call_refused; left != 0; left--) {
        FORGET();
        MARK(call_refused_start);
        (void)hyp_evt_add(FVM_EVT_BEGIN);
        MARK(call_refused_stop);
    }
}

/* The linker puts this in the place of the start-up's call, which comes before the lockdown. */
int __real_hyp_vct_phys(uint32_t phys_id, uint32_t virt_id);
int __wrap_hyp_vct_phys(uint32_t phys_id, uint32_t virt_id);

MARKED int __wrap_hyp_vct_phys(uint32_t phys_id, uint32_t virt_id)
{
    for (unsigned left = rounds_call_hypervisor; left != 0; left--) {
        FORGET();
        MARK(call_hypervisor_start);
        (void)__real_hyp_vct_phys(phys_id, virt_id);
        MARK(call_hypervisor_stop);
    }
    return __real_hyp_vct_phys(phys_id, virt_id);
}

static MARKED void events(void)
{
    for (unsigned left = rounds_event; left != 0; left--) {
        unsigned before = answered;
        (void)hyp_evt_snd(FVM_EVT_ASK);
        while (answered == before) {
        }
    }
}

static void natives(void)
{
    native_init();
    for (unsigned left = rounds_native; left != 0; left--) {
        (void)hyp_evt_snd(FVM_EVT_BEGIN);
        native_trigger();
        native_acknowledge();
    }
}

void run_guest(void)
{
    masks();
    calls();
    events();
    natives();
}
