/* A VM that faults in each start: at once, behind a wait, or in the first start after a while. */
#include <fvm/guest.h>

#include "fvm_domain.h"
#include "report.h"

void tick_handler(void) {}

int main(void)
{
    uint32_t boot = boots(), start = virt_cycles();
    while (boot == 1 && virt_cycles() - start < STARTS_AFTER_MS * (FVM_CLOCK_HZ / 1000u)) {
    }
    if (STARTS_WAITS) {
        (void)hyp_tick_set(1000);
        (void)hyp_vct_wait();
    }
    *(volatile uint32_t *)0 = 0;
    return 0;
}
