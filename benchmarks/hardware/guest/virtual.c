/* In place of bare.c in the virtual machine: the boot table did all that; and what only a machine
 * has. */
#include <fvm/guest.h>

#include "operations.h"

const char hw_side[] = "virtual";

ROUNDS(mask);
ROUNDS(call_kernel);
ROUNDS(call_hypervisor);

void hw_init(void) { hw_calibrate(); }

static void masks(void)
{
    for (unsigned left = rounds_mask; left != 0; left--) {
        MARK(mask_start);
        virt_int_mask(VIRT_PRIMASK);
        virt_int_unmask(VIRT_PRIMASK);
        MARK(mask_stop);
    }
}

static void calls(void)
{
    for (unsigned left = rounds_call_kernel; left != 0; left--) {
        MARK(call_kernel_start);
        (void)hyp_wdg_clr();
        MARK(call_kernel_stop);
    }
    for (unsigned left = rounds_call_hypervisor; left != 0; left--) {
        MARK(call_hypervisor_start);
        (void)hyp_evt_add(0); /* refused since the lockdown */
        MARK(call_hypervisor_stop);
    }
}

void run_guest(void)
{
    masks();
    calls();
    hw_report();
}
